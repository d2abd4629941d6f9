#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_record.sh FOLDER: record without a module: splitting, limits, misuse, logs,
# filters by object; and recover.
# shellcheck source=selftests/unit/support/small_traces.sh
. "${0%/*}/../../support/small_traces.sh" "$1"

test_split()
{
	fresh
	run 0 record --split p -o to && run 0 dump --all to && lines 96
	result $? "split: an intact pipe form"
	run 1 record --split p -o to && says "to is not empty"
	result $? "split: does not replace a trace without --force"
	run 0 record --split p -f -o to && run 0 dump --all to && lines 96
	result $? "split: replaces a trace with --force"
	: >to/zoo
	run 1 record --split p -f -o to && says "nothing was removed" &&
		rm to/zoo && run 0 dump --all to && lines 96
	result $? "split: does not replace other files with --force"
	rm -rf to
	flip p $(($(stat -c %s p) - 4000))
	run 1 record --split p -o to && says "checksum is wrong" &&
		says "left out" && run 0 dump --all to && lines 92
	result $? "split: damage is skipped and reported"
	rm -rf to
	run 1 record --split - -o to <p && run 0 dump --all to && lines 92
	result $? "split: damage in a pipe is skipped and reported"
	for option in "-e sched" "-p all" "-m discard" "-b 1M" "-B 4K" "-d 1s" \
		--no-uring "--device x"; do
		# shellcheck disable=SC2086	# words
		run 2 record --split p -o elsewhere $option && [ ! -e elsewhere ]
		result $? "split: $option is refused"
	done
}

test_limits()
{
	fresh
	(
		ulimit -f 8	# 4 KiB
		run 1 record --split p -o to
	)
	result $? "a file size limit is an error, not an end"
	says "File too large"
	result $? "a file size limit is reported"
	rm -rf many
	"$make_trace" folder many 100
	(
		ulimit -Sn 40
		run 0 dump --all many && lines 3200
	)
	result $? "more files than the soft limit allows"
}

test_record()
{
	fresh
	for size in "-b 0" "-B 0" "-b 0K" "-B 65M"; do
		# shellcheck disable=SC2086	# words
		run 2 record $size --device x -o to && [ ! -e to ]
		result $? "record: $size is not a valid size"
	done
	run 1 record --device x -o to -- ./no-such && [ ! -e to ] &&
		says "cannot run ./no-such: No such file"
	result $? "record: a command that does not exist"
	run 1 record --device x -o to -- no-such-command && [ ! -e to ] &&
		says "cannot run no-such-command: No such file"
	result $? "record: a command that is not in the path"
	: >data
	run 1 record --device x -f -o t -- ./data &&
		says "cannot run ./data: Permission denied" &&
		run 0 dump --all t && lines 96
	result $? "record: a file that is not executable; the old trace stays"
	run 1 record --device x -o to -- sleep 1 && [ ! -e to ] &&
		says "x: No such file or directory"
	result $? "record: no device"
}

# RKH's filters by object: the options, then the resulting filter by thread.
test_objects()
{
	fresh
	bad=0
	while IFS='|' read -r pid options; do
		# shellcheck disable=SC2086	# words
		run 0 record $options --save - &&
			grep -qxF "pid = $pid" text && continue
		bad=1
		echo "$options: no \"pid = $pid\"" >>missing
	done <<-EOT
	7:except|--suppress object:7
	7:except,8:except|--suppress object:7 --suppress object:8
	7:except|--suppress object:7 --pass object:8
	off|--suppress object:7 --pass object:7
	none|--suppress object:all
	5|--suppress object:all --pass object:5
	none|--suppress object:all --pass object:5 --suppress object:5
	off|--suppress object:all --pass object:all
	7:threads,9:except|--pid 7 --threads --suppress object:9
	7:threads,9|--pid 7 --threads --suppress object:9 --pass object:9
	8,7:except|--pid 7,8 --suppress object:7
	none|--pid 9:except --suppress object:all --suppress object:4
	EOT
	cat missing >log 2>/dev/null
	result $bad "record: RKH object filters become filters by thread"
}

test_log()
{
	while IFS='|' read -r options text; do
		# shellcheck disable=SC2086	# words
		run 2 record --device x $options && says "$text" && [ ! -e pieces ]
		result $? "record $options: misuse"
	done <<-EOT
	-l pieces -o to|cannot be combined with -o
	-l pieces -f|cannot be combined with -o
	-l pieces --split p|cannot be combined with -o
	-l pieces --keep 0|at least 1
	-l pieces --rotate 5|size
	-l pieces --rotate x|size
	-l pieces --rotate 0M|size
	-l pieces --rotate 3x|size
	-l pieces --daemon -- true|cannot run a command
	-o to --rotate 1s|need -l
	-o to --keep 3|need -l
	-o to --daemon|need -l
	-o to --pidfile p|need -l
	-o - --zstd|needs a directory
	EOT
	run 1 record --device x -l pieces --daemon && says "x: No such file or directory" &&
		[ ! -e pieces ]
	result $? "record --daemon: errors at the start are reported to the caller"
	run 1 record --device x -l pieces --daemon --pidfile no/such &&
		says "no/such: No such file"
	result $? "record --pidfile: no folder"
	exec 7>pid
	echo 4711 >&7
	flock -x 7
	run 1 record --device x -l pieces --daemon --pidfile pid &&
		says "process 4711 is already running" && grep -qx 4711 pid
	result $? "record --pidfile: the pidfile of a running process"
	exec 7>&-
	run 1 record --device x -l pieces --daemon --pidfile pid &&
		says "x: No such file or directory" && [ ! -e pid ]
	result $? "record --pidfile: the pidfile of a dead process"
	run 1 record --device x -l 'a*/b' && says "a name cannot contain"
	result $? "record -l: a name that contains the end of a comment"
	run 1 record --device x -l '' &&
		says '-l "": the name of a folder or file is missing'
	result $? "record -l: an empty name"
}

test_recover()
{
	rm -rf r to
	"$make_trace" image r
	run 3 recover --image r -o to --json && [ ! -s log ] &&
		grep -q '"ended":"panic"' text &&
		grep -q '"names":2,"names_discarded":1' text &&
		grep -q '"cpu":1,"ring":"control","capacity":4,"checked":2,"unchecked":1,"open":1,"cut":0,"discarded":0,"events":67' text
	result $? "recover: an image with a partially written block"
	run 0 dump --all to && lines 270
	result $? "recover: the trace can be read"
	run 1 recover --image r -o to && says "to: Directory not empty"
	result $? "recover: does not replace a trace"
	run 3 recover --image r -o to -f --at 12288
	result $? "recover: replaces a trace with -f"
	run 1 recover --image r -o to -f --at 0x1000 && says "no trace found at"
	result $? "recover: no region at that place"
	truncate -s 80000 r
	run 3 recover --image r -o to -f && says "not in the input"
	result $? "recover: a truncated image"
	flip r 12300
	run 1 recover --image r -o to -f && says "0x3000: a superblock has" &&
		says "r: no trace found"
	result $? "recover: a damaged superblock is reported"
	run 1 recover --image /dev/zero -o to2 && says "not a regular file" &&
		[ ! -e to2 ]
	result $? "recover: a pipe that never ends is refused"
	for wrong in "--image r" "-o to2 --image r x" "-o to2 --at x" \
		"-o to2 --image r --drop" "-o to2 --image r --at x"; do
		# shellcheck disable=SC2086	# words
		run 2 recover $wrong
		result $? "recover $wrong: usage"
	done
	run 1 recover --device x -o to2 && says "x: No such file or directory" && [ ! -e to2 ]
	result $? "recover: no device"
}

echo "TAP version 13"
test_split
test_limits
test_record
test_objects
test_log
test_recover
echo "1..$n"
exit $failed
