#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test how recordings end, and how they fail to start: recorded data stay, the
# recorded command ends too, nothing can keep the recorder from ending, and the
# reason is reported.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

# Seconds, longer than anything here takes.
most=$((600 * ${KTAPE_SCALE:-1}))

# wait_until_begun: wait until there is a session besides session 0
wait_until_begun()
{
	for _ in $(seq $((100 * ${KTAPE_SCALE:-1}))); do
		[ "$(ktape status | grep -c ' running ')" -le 1 ] || break
		sleep 0.1
	done
}

# wait_until_written FOLDER: wait until a recording has written some blocks to FOLDER;
# the block being written at a SIGKILL may be lost
wait_until_written()
{
	for _ in $(seq $((100 * ${KTAPE_SCALE:-1}))); do
		for stream in "$1"/cpu*; do
			[ "$(stat -c %s "$stream" 2>/dev/null || echo 0)" -lt \
				65536 ] || return 0
		done
		sleep 0.1
	done
}

test_signals()
{
	# Not a background job of this shell, because busybox ignores SIGINT for
	# these.
	setsid sh -c 'trap - INT; exec ktape record -o '$dir'/int -- sleep 1000' \
		2>$dir/log &
	recorder=$!
	wait_until_begun
	emit 0
	kill -INT $recorder
	ended $recorder 10
	result $? "SIGINT ends the recording" $dir/log
	kill -KILL $recorder 2>/dev/null
	wait $recorder
	result $? "SIGINT is no failure" $dir/log
	agrees "after SIGINT" $dir/int $dir/log
	! pidof sleep >/dev/null
	result $? "the recorded command ended, too"

	emit &
	emitter=$!
	ktape record -p all -B 4K -o $dir/kill 2>$dir/log &
	recorder=$!
	wait_until_written $dir/kill
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	kill $emitter
	wait
	found=$(records $dir/kill 1)
	[ "$found" -ge 1 ]
	result $? "what was written before SIGKILL can be read" $dir/dump.err
	# A delayed detach holds the module for a moment.
	for _ in $(seq $((20 * ${KTAPE_SCALE:-1}))); do
		rmmod ktape 2>$dir/err && break
		sleep 0.2
	done
	[ ! -s $dir/err ] && [ ! -e /sys/module/ktape ]
	result $? "SIGKILL leaves no session and no user" $dir/err
	insmod "$KTAPE_MODULE"
	rm -rf $dir/int $dir/kill
}

test_disk_full()
{
	mkdir $dir/full
	mount -t tmpfs -o size=512K tmpfs $dir/full
	timeout $most ktape record -p all -o $dir/full/trace -- emit 2>$dir/log
	rc=$?
	tail -n 1 $dir/log | sed 's/^/# /'
	[ $rc = 1 ] && grep -q 'No space left' $dir/log
	result $? "a full disk is reported" $dir/log
	found=$(records $dir/full/trace 1000)
	[ "$found" -ge 1000 ]
	result $? "what was written before the disk was full can be read" $dir/dump.err
	umount $dir/full
	rmdir $dir/full
	ktape record -q -d 100ms -o $dir/after 2>$dir/log
	result $? "another recording works after the disk was full" $dir/log
	rm -rf $dir/after
}

# The output of the recorded command must not get into the trace.
test_output()
{
	ktape record -o - -- sh -c 'echo hello; emit 0' >$dir/pipe 2>$dir/log
	result $? "a command that prints is recorded to a pipe" $dir/log
	grep -qx hello $dir/log
	result $? "the command's output goes to standard error" $dir/log
	agrees "beside what it prints" $dir/pipe $dir/log
	rm -f $dir/pipe
}

# wait_until_full: wait until no further byte fits in the pipe
wait_until_full()
{
	for _ in $(seq 60); do
		timeout 1 sh -c "echo >$dir/fifo" || return 0
		sleep 0.2
	done
	echo "# the pipe does not get full"
}

# stopped_by_time: wait until session 0 alone records
stopped_by_time()
{
	for _ in $(seq $((50 * ${KTAPE_SCALE:-1}))); do
		[ "$(ktape status | grep -c ' running ')" != 1 ] || return 0
		sleep 0.2
	done
	return 1
}

# check_stuck_reader OPTION...: record to a pipe whose reader stops to read, then send a
# signal: the recording must end and report the loss
check_stuck_reader()
{
	mkfifo $dir/fifo
	sh -c 'head -c 80000 >/dev/null; : >'$dir'/read; exec sleep 1000' \
		<$dir/fifo &
	reader=$!
	emit &
	emitter=$!
	ktape record -p all "$@" -o - 2>$dir/log >$dir/fifo &
	recorder=$!
	for _ in $(seq $((60 * ${KTAPE_SCALE:-1}))); do
		[ ! -e $dir/read ] || break
		sleep 0.5
	done
	wait_until_full
	if [ "$1" = -d ]; then
		stopped_by_time
		result $? "a stuck reader does not prolong the recording"
	else
		# More than a block, more than the recorder can buffer.
		act nap 300 1
	fi
	kill -TERM $recorder
	ended $recorder 10
	result $? "a signal ends a recording with a stuck reader, $*" \
		$dir/log
	kill -KILL $recorder 2>/dev/null
	wait $recorder
	[ $? = 1 ] && grep -q 'reader of the pipe stopped reading' $dir/log
	result $? "the loss by a stuck reader is reported, $*" $dir/log
	kill $reader $emitter
	wait
	rm $dir/fifo $dir/read
}

test_stuck()
{
	check_stuck_reader -q
	check_stuck_reader -d 2s
	seconds=$(sed -n 's/.* filtered, \([0-9]*\)\..* s: .*/\1/p' $dir/log)
	echo "# recorded for $seconds s"
}

test_inherited()
{
	timeout $most sh -c "trap '' CHLD; exec ktape record -o $dir/chld -- emit 0" \
		2>$dir/log
	result $? "the recorder sees the command's end with SIGCHLD ignored" $dir/log
	(
		# Blocks of 512 bytes.
		ulimit -f 200
		timeout $most ktape record -p all -o $dir/limit -- emit 2>$dir/log
	)
	[ $? = 1 ] && grep -q 'File too large' $dir/log
	result $? "a file size limit is reported" $dir/log
	found=$(records $dir/limit)
	echo "# $found records within the limit, $(summary $dir/log) reported"
	[ "$found" = "$(summary $dir/log)" ] && ! pidof emit >/dev/null
	result $? "what was written can be read, and the command has ended" \
		$dir/dump.err
	rm -rf $dir/chld $dir/limit
}

# Another process clears the session: what was cleared is lost and said to be, and all
# counts agree.
test_cleared()
{
	# In a large block, which is not read before it is full.
	ktape record -p all -b 8M -B 2M -o $dir/clear -- \
		sh -c 'emit 0; ktape clear 1 && : >'$dir'/cleared; emit 0' 2>$dir/log
	result $? "the counts of a session that was cleared agree" $dir/log
	lost=$(sed -n 's/.*ktape: .* events, .* \([0-9]*\) lost, .*/\1/p' $dir/log)
	echo "# $lost events were cleared"
	[ -e $dir/cleared ] && [ "$lost" -gt 0 ]
	result $? "what was cleared is said to be lost" $dir/log
	found=$(records $dir/clear)
	[ "$found" = "$(summary $dir/log)" ]
	result $? "the rest can be read" $dir/dump.err
	ktape verify -q $dir/clear >$dir/text 2>&1
	result $? "and is right" $dir/text
	rm -rf $dir/clear $dir/cleared
}

# refused STATUS TEXT ARGUMENT...: record must fail with TEXT and leave nothing
# behind
refused()
{
	want=$1
	text=$2
	shift 2
	timeout $most ktape record -o $dir/none "$@" 2>$dir/log
	[ $? = "$want" ] && grep -qF -- "$text" $dir/log && [ ! -e $dir/none ]
	result $? "record $*: $text" $dir/log
}

test_refused()
{
	printf '#!/no/such\n' >$dir/script
	chmod +x $dir/script
	refused 1 "script: No such file" -- $dir/script
	refused 1 "does not know the event time_extend" -e sched,time_extend
	refused 1 "does not know opcode 238" -p "0x4$(printf '%059d' 0)"
	refused 1 "or these sizes" -B 64M
	refused 1 "or these sizes" -b 64G
	timeout $most ktape record -q -d 0 -o $dir/zero 2>$dir/log
	result $? "record -d 0 is accepted" $dir/log
	ktape profile set sched '!sched_switch' 2>$dir/log &&
		ktape profile --json >$dir/text &&
		grep -q '"sched_' $dir/text && ! grep -q '"sched_switch"' $dir/text
	result $? "profile: an operand removes events of another operand" $dir/text
	ktape profile default
	rm -rf $dir/zero $dir/script $dir/text
}

echo "TAP version 13"
need_ktape
test_signals
test_disk_full
test_output
test_stuck
test_inherited
test_cleared
test_refused
echo "1..$n"
