#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_metadata.sh FOLDER: test each subcommand on metadata that was changed
# after it was written, or that has no checksum.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"
make_trace=$out/make_trace

"$make_trace" folder t 3
sed -i 's/"sched_waking"/"sched_wakong"/' t/metadata
run 1 dump --all t && lines 96 && says "t: the metadata was changed since it was written: line"
result $? "dump: metadata that is damaged"
run 1 verify t && grep -q "^wrong checksum: .* metadata was changed" text
result $? "verify: metadata that is damaged"
run 1 convert t --to native -o to &&
	says "t: the metadata was changed since it was written: line" &&
	run 1 verify -q to && grep -q "metadata was changed" text
result $? "convert: damaged metadata gets no valid checksum"
for command in stats send; do
	: >line
	# shellcheck disable=SC2046	# a word or none
	run 1 $command t $([ $command = send ] && echo line) &&
		says "t: the metadata was changed since it was written"
	result $? "$command: metadata that is damaged"
done
rm -rf to line
"$make_trace" folder w 3
run 1 diff w t && says "t: the metadata was changed" &&
	says "use another copy" && ! grep "w: the metadata" log
result $? "diff: metadata that is damaged, of which input"
"$make_trace" pipe 3 | sed 's/"sched_waking"/"sched_wakong"/' >q
run 1 record --split q -o to && says "q: the metadata was changed" &&
	says "copied as it is"
result $? "split: metadata that is damaged"
rm -rf to q
run 1 convert w t --to native -o to && run 1 verify -q to &&
	grep -q "^wrong checksum: " text
result $? "convert: with damaged metadata among several"
rm -rf to t
cp -r w t
sed -i '/metadata_crc32c/d; s/tracer_minor = 1/tracer_minor = 0/' t/metadata
run 0 convert w t --to native -o to && run 6 verify to &&
	grep -q "^cut checksum: .* has no checksum" text
result $? "convert: with metadata without a checksum among several"
rm -rf to
run 0 convert w w --to native -o to && run 0 verify to &&
	! grep "^[a-z]* checksum: " text >>log
result $? "convert: several inputs with a checksum"
dd if=/dev/zero of=w/metadata bs=2048 count=1 conv=notrunc status=none
run 1 verify w && grep -q "^wrong checksum: .* metadata was changed" text &&
	run 1 verify --json w && grep -q '^],"wrong":1}' text
result $? "verify: metadata without its beginning"

echo "1..$n"
exit $failed
