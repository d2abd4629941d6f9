#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_decoder.sh FOLDER: decode native traces with selftests/decoder.py, which was
# written from the texts that define the format, and compare it with ktape dump --json:
# lines, exit status, number of lost events.
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../../support/tool.sh" "$1"
make_trace=$out/make_trace
golden=$here/../../../../../../shared/golden

# Print how many events dump reports as lost: its last line, or its only one.
lost()
{
	sed -nE 's/.*: ((([0-9]+|an unknown number of) events|[0-9]+ events and an unknown number more) lost) (in|between) /\1 \4 /p' "$1" |
		tail -n 1 | sed -E 's/between.*/in 1 gap/'
}

# known FILE: keep of what lost() printed only the number of events
known()
{
	sed -i -nE '1s/^an .*/0/; 1s/ .*//; 1p' "$1"
	[ -s "$1" ] || echo 0 >"$1"
}

# alike TRACE [damaged]: both decoders must say the same about it; of a damaged one,
# decoder.py does not tell what damage may hide, so only the known numbers are compared
alike()
{
	local status theirs
	timeout 600 "$out/command/ktape" dump --json "$1" >lines 2>says
	status=$?
	timeout 600 python3 "$here/../../../../decoder.py" "$1" >decoded 2>log
	theirs=$?
	lost says >lost.dump
	sed -nE 's/.*: (.* lost in [0-9]+ gaps?)$/\1/p' log >lost.decoder
	if [ "${2:-}" = damaged ]; then
		known lost.dump
		known lost.decoder
	fi
	"$here/../../../support/same_lines.py" lines decoded >>log 2>&1 &&
		{ [ $status = $theirs ] ||
			{ echo "exit status $status, decoder: $theirs" >>log; false; }; } &&
		diff lost.dump lost.decoder >>log
}

# has N: the last trace must have at least N lines
has()
{
	[ "$(wc -l <decoded)" -ge "$1" ] ||
		{ echo "fewer than $1 lines" >>log; return 1; }
}

"$make_trace" folder folder 3
"$make_trace" pipe 3 >pipe.file
"$make_trace" session session session.pipe
for kind in kinds emitted named; do
	"$make_trace" $kind $kind
done
alike folder && has 96 && [ -s lost.decoder ]
result $? "several CPUs, with losses"
alike pipe.file && has 96
result $? "a pipe form"
alike session && has 2000
result $? "a session"
alike session.pipe && has 2000
result $? "the pipe form of a session"
for kind in kinds emitted named; do
	alike $kind && has 3
	result $? "records: $kind"
done

# Every event, names that come and go, clocks that step back, missing packets.
for seed in 1 2 3 4; do
	"$here/../../../support/make_events.py" kinds/metadata events$seed $seed 2>log &&
		alike events$seed && has 4000 && [ -s lost.decoder ]
	result $? "every event with any fields, $seed"
	cat lines >>all-lines
done
awk -F'"' '/^event/ && $2 !~ /^opcode_/ { print $2 }' kinds/metadata | sort >described
grep -ohE '"event":"\w+"' all-lines | cut -d'"' -f4 | sort -u >occur
comm -23 described occur | grep -vx "opcode_0" >log
[ ! -s log ]
result $? "every event of the metadata occurs"

# ---- cut off and damaged ----------------------------------------------------

cut_off()
{
	local at
	for at in 0 100 191 192 1000 4279 4290 9999 16000; do
		cp -r session cut
		truncate -s $at cut/cpu0
		alike cut damaged || return
		rm -rf cut
	done
	for at in 57868 60000 70001 80003; do
		head -c $at session.pipe >cut.pipe
		alike cut.pipe damaged || return
	done
}
cut_off
result $? "traces that are cut off"

# poke FILE OFFSET BYTES: overwrite bytes
poke()
{
	# shellcheck disable=SC2059	# BYTES has escapes
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

damaged()
{
	local at
	# Magic, uuid, stream class, content size, packet size, content, padding.
	for at in 0 5 20 144 152 200 4000; do
		cp -r folder bad
		poke bad/cpu1 $((8192 + at)) 'w'
		alike bad damaged || { echo "at $at" >>log; return 1; }
		rm -rf bad
	done
	# Without a checksum, a record is seen to be damaged when it is decoded.
	for at in 196 199 212; do
		cp -r folder bad
		poke bad/cpu1 $((8192 + 116)) '\0'
		poke bad/cpu1 $((8192 + at)) '\0'
		alike bad damaged || { echo "at $at, unchecked" >>log; return 1; }
		rm -rf bad
	done
	cp -r folder bad
	{ head -c 4096 folder/cpu1; echo between; tail -c +4097 folder/cpu1; } >bad/cpu1
	alike bad damaged && rm -rf bad
}
damaged
result $? "traces that are damaged"

missing()
{
	cp -r folder less
	{ head -c 4096 folder/cpu1; tail -c +12289 folder/cpu1; } >less/cpu1
	alike less && grep -q "an unknown number" lost.decoder && rm -rf less
}
missing
result $? "packets that are missing"

changed()
{
	local edit
	for edit in 's/"sched_switch"/"sched_swap"/' 's/_prev_prio/_prio/' \
		'/id = 60;/,+2d' 's/"x86_64"/"aarch64"/' 's/freq = 1000000000/freq = 2400000/' \
		's/offset_s = 0; offset = 0/offset_s = 17; offset = 1234567/'; do
		cp -r session changed
		sed -i "$edit" changed/metadata
		alike changed || { echo "$edit" >>log; return 1; }
		rm -rf changed
	done
}
changed
result $? "metadata that was changed"

# ---- other writers ----------------------------------------------------------

converted()
{
	run 0 convert session --to native -o "$1" || return
	alike "$1" && has 2000
}
converted converted
result $? "a converted trace"

"$make_trace" image image && run 3 recover --image image -o recovered &&
	alike recovered && has 1
result $? "a recovered trace"

if command -v zstd >/dev/null; then
	cp -r session packed && zstd -q --rm packed/cpu* packed/control* packed/registry &&
		alike packed && has 2000
	result $? "compressed streams"
	zstd -q session.pipe -o packed.pipe && alike packed.pipe && has 2000
	result $? "a compressed pipe form"
else
	n=$((n + 1))
	echo "ok $n - compressed streams # SKIP there is no zstd"
fi

if [ -d "$golden" ]; then
	for stream in tband_stream_bare tband_snapshot_bare rkh_ahsm rkh_allevents \
		threadx_32 demo_threadx; do
		file=$(ls "$golden/$stream".bin "$golden/$stream".trx 2>/dev/null)
		case $stream in
		tband_*) from='tband:mode=bare-metal' ;;
		rkh_*) from=rkh ;;
		*) from=tracex ;;
		esac
		run 0 convert --from $from "$file" --to native -o $stream &&
			alike $stream && has 10
		result $? "a stream of another system: $stream"
	done
else
	n=$((n + 1))
	echo "ok $n - streams of other systems # SKIP ../shared/golden is absent"
fi

echo "1..$n"
exit $failed
