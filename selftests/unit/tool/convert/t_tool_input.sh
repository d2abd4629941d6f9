#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_input.sh FOLDER: test messages and exit status for inputs in foreign
# formats that are truncated, damaged or of another format.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"

# event SEQ: print an FWK_EN of RKH with a checksum
event()
{
	printf '%b' "\\xa0\\x$(printf %02x "$1")\\x01\\x00\\x00\\x00" \
		"\\x$(printf %02x $((256 - 0xa0 - 1 - $1)))~"
}

# resumed TICKS TASK: print a task_resumed of Tonbandgeraet
resumed()
{
	printf '%b' "\\x04\\x56\\x$(printf %02x "$1")\\x$(printf %02x "$2")\\x00"
}

{ printf '~'; for i in {1..20}; do event "$i"; done; } >whole.rkh
tail -c +4 whole.rkh >middle.rkh
{ printf '\3\2\12\0'; for i in {1..20}; do resumed "$i" 1; done; } >whole.tband
tail -c +6 whole.tband >middle.tband
head -c 100000 /dev/zero >zeros
yes 'a line of text' | head -n 1000 >prose
printf '~~~~' >flags
: >empty

for format in rkh tband; do
	run 0 dump --all --from $format whole.$format && [ "$(wc -l <text)" -ge 20 ]
	result $? "$format: an intact stream"
	run 0 dump --all --from $format middle.$format &&
		says "the input begins in the middle of a frame" &&
		says "an unknown number of events lost"
	result $? "$format: a stream joined in the middle is reported as a loss"
	run 1 dump --all --strict --from $format middle.$format
	result $? "$format: a stream joined in the middle is an error with --strict"
	for command in "convert --to text -o -" "stats"; do
		# shellcheck disable=SC2086	# words
		run 0 $command --from $format middle.$format &&
			says "an unknown number of events were lost in 1 gap"
		result $? "$format: ${command%% *} reports the loss, too"
	done
	rm -rf native
	run 0 convert --to native -o native --from $format middle.$format &&
		run 1 verify native &&
		grep -q "1 packets are missing" text
	result $? "$format: the native trace has the loss"
	for what in zeros prose flags empty; do
		run 1 dump --all --from $format $what &&
			says "no frame of $format is valid" && lines 0
		result $? "$format: no valid frame in: $what"
		run 1 convert --to text -o - --from $format $what &&
			says "no frame of $format is valid"
		result $? "$format: convert finds no valid frame in: $what"
	done
done
# Beyond the limits: 1024 names of one marker, 65536 threads.
for i in {1000..2100}; do
	printf '\7\6\1%d\0' "$i"
done >names.tband
run 0 dump --all --from tband names.tband &&
	says "77 names of objects are left out, because memory is bounded"
result $? "too many names: the omitted ones are reported"
for ((i = 20000; i < 85600; i++)); do
	printf -v frame '\\x06\\x54\\x01\\x%02x\\x%02x\\x%02x\\0' \
		$((i & 127 | 128)) $((i >> 7 & 127 | 128)) $((i >> 14))
	printf '%b' "$frame"
done >threads.tband
run 1 stats --rtos --from tband threads.tband &&
	says "events whose thread is beyond the first 65536 are left out, because memory is bounded" &&
	grep -q '^threads  *65536$' text
result $? "too many threads: the omitted ones are reported"

"$out/make_trace" folder ours 1
run 2 dump -I cors=1 ours && says 'no format has an option "cors": did you mean "core"?' &&
	lines 0
result $? "an option that no format has"
run 0 dump --all -I core=1 ours && lines 32 &&
	says "ours: option core is ignored: the native format has no options"
result $? "an option that the native format does not have"

for what in zeros prose flags empty; do
	run 1 dump --all --from tracex $what && says "begins neither with TXTB"
	result $? "tracex: nothing valid in: $what"
done

echo "1..$n"
exit "$failed"
