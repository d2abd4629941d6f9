#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_memory.sh FOLDER: an allocation that fails changes nothing but whether there is a
# result.  In each run one allocation of the command fails: either the output and the exit
# status are those of a run with all memory, or it is exit status 1 with a message.  For
# ktape verify it may also be 2, as 1 is what it says of a trace that is wrong.
#
# KTAPE_FAILURES=N: so many allocations of each command, evenly spread (default: 20), or all.
here=$(cd "${0%/*}" && pwd)
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../support/tool.sh" "$1"
ktape=$out/command/ktape
tries=${KTAPE_FAILURES:-20}
[ "$tries" != all ] || tries=0

echo "TAP version 13"
if [ ! -e "$out/fail_alloc.so" ] || nm "$ktape" 2>/dev/null | grep -q __asan_init; then
	echo "1..0 # SKIP the sanitizer has the allocator"
	exit 0
fi
export KTAPE_CONFIG=/dev/null

# lossy loses events, damaged has a wrong checksum, scene has all kinds of events, foreign has
# events of many fields, and late/cut begins with what was overwritten in each event ring.
mkdir in && cd in || exit
"$out/make_trace" session session session.ktape &&
	"$out/make_trace" lossy lossy && "$out/make_trace" emitted emitted &&
	"$out/make_foreign" foreign && "$out/t_lib_linux" --scene scene &&
	"$out/make_rings" late late >/dev/null && cp -r session damaged || exit
size=$(stat -c %s damaged/cpu0)
printf '\x5a\xa5' | dd of=damaged/cpu0 bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
python3 "$here/../support/make_linux_traces.py" . >/dev/null 2>&1 || exit
for format in tband rkh tracex lttng perfetto; do
	"$ktape" convert -q --to $format -o "of.$format" emitted 2>/dev/null
done
cd ..

# once ARGUMENT...: run it in work/, with what the environment says.  The library fails the
# first program that loads it, so timeout must not.
once()
{
	rm -rf work && mkdir work
	(
		cd work || exit
		ln -s ../in in
		timeout 600 env LD_PRELOAD="$out/fail_alloc.so" "$ktape" "$@" >../text 2>../errors </dev/null
	)
}

# what is left in the folder and on standard output
state()
{
	sha256sum <text
	(cd work && find . ! -name in ! -type d -exec sha256sum {} +) | sort -k 2
}

# fails_once COMMAND...: let one allocation after the other fail
fails_once()
{
	local step at bad=0 count

	KTAPE_FAIL_COUNT=$PWD/count once "$@"
	local want=$?
	count=$(cat count)
	state >want
	step=$((tries ? count / tries + 1 : 1))
	for ((at = (step + 1) / 2; at <= count; at += step)); do
		KTAPE_FAIL_AT=$at once "$@"
		got=$?
		state >have
		left=$(find work -name '.ktape-*')
		if [ -n "$left" ]; then
			echo "allocation $at of $count: left: $left"
		elif [ $got = "$want" ] && cmp -s want have; then
			continue
		elif { [ $got = 1 ] || [ "$1-$got" = verify-2 ]; } && [ -s errors ]; then
			continue
		else
			echo "allocation $at of $count: exit status $got: $(head -n 1 errors)"
		fi >>log
		bad=$((bad + 1))
	done
	[ "$want" -le 1 ] && [ "$count" -gt 0 ] && [ $bad = 0 ]
}

# fails_at_all: allocations do fail: commands have counts of their own, and one of the first
# allocations ends a command
fails_at_all()
{
	local few at

	KTAPE_FAIL_COUNT=$PWD/count once stats in/lossy
	few=$(cat count)
	KTAPE_FAIL_COUNT=$PWD/count once convert -q -J 1 --to html -o out in/lossy
	echo "counts: $few $(cat count)" >log
	[ "$few" -gt 0 ] && [ "$few" != "$(cat count)" ] || return
	for at in {1..10}; do
		KTAPE_FAIL_AT=$at once stats in/lossy
		[ $? = 1 ] && grep -q 'Cannot allocate memory' errors && return
	done
	return 1
}
fails_at_all
result $? "allocations fail"

# The commands, a line each.
while read -r line; do
	: >log
	# shellcheck disable=SC2086	# words
	fails_once $line
	result $? "$line"
done <<-EOT
	dump in/session
	dump --json in/lossy
	dump -J 1 in/damaged
	dump in/session.ktape
	dump in/foreign
	dump --json in/foreign
	convert -q -J 1 --to chrome -o out in/foreign
	stats in/lossy
	stats --json in/scene
	stats --rtos in/emitted
	verify in/lossy
	verify --json in/session
	verify in/damaged
	diff in/session in/lossy
	dump --from tband in/of.rkh in/of.rkh
	list -j
	record --split in/session.ktape -o out
	$("$ktape" convert --list --json |
		sed -n 's/^{"name":"\([a-z0-9-]*\)","in":[a-z]*,"out":true,.*/convert -q -J 1 --to \1 -o out in\/lossy/p')
	convert -q --to parquet:dir=out in/scene
	convert -q --to csv -o out --from-time 10ms in/scene
	$(cd in && for file in of.* ./*.dat ./*.data ctf1; do
		[ -e "$file" ] && echo "dump in/${file#./}"
	done)
EOT

# Only one allocation of each stream comes with the notice of what was overwritten: try all.
tries=0
: >log
fails_once convert -q -J 1 --to native -o out in/late/cut
result $? "all of convert -q -J 1 --to native -o out in/late/cut"
echo "1..$n"
exit $failed
