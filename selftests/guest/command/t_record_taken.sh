#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test a recorder without control rights whose session ends: the session is root's, and its
# rings are taken away because a new session needs the memory. The recorder says so and ends,
# and what it has read is a trace.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

# In a guest of run-tests these files do not exist; elsewhere they stay as they are.
grep -qs '^root:' /etc/passwd || echo 'root:x:0:0::/:/bin/sh' >/etc/passwd
grep -qs '^ktmember:' /etc/passwd ||
	echo 'ktmember:x:4001:4001::/:/bin/sh' >>/etc/passwd
grep -qs '^kttracing:' /etc/group ||
	echo 'kttracing:x:4242:ktmember' >>/etc/group

# half_of_all: KiB of rings of which two sessions exceed what all may have, half of the
# memory, but one does not
half_of_all()
{
	total=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
	cpus=$(grep -c '^processor' /proc/cpuinfo)
	ring=64
	while [ $(((ring * 2 + 128) * cpus)) -le $((total / 2)) ]; do
		ring=$((ring * 2))
	done
	echo $ring
}

# start_large NAME: start a session of root with rings of half_of_all
start_large()
{
	ktape start "$1" -m overwrite -e syscall -b "$(half_of_all)K" \
		--control 64K 2>$dir/err
}

# as_member ARGUMENT...: record the large session as a member of the device's group
as_member()
{
	cd $dir/mine || exit 1
	exec su ktmember -c "PATH=$PATH; exec ktape record -S big $*"
}

# take_memory: end the session, and let another one take its memory
take_memory()
{
	ktape destroy big && start_large next
	result $? "a new session takes the memory" $dir/err
}

# check_end NAME STATUS: the recorder has ended with the documented status and message
check_end()
{
	sed 's/^/# /' $dir/log
	[ "$2" = 1 ] && grep -q 'session has ended, and its rings were given back; the trace up to this point is kept' $dir/log
	result $? "$1: status 1 and a message" $dir/log
}

# check_trace NAME TRACE: the trace has events, and nothing in it is wrong
check_trace()
{
	: >$dir/dump.err
	found=$(records "$2")
	echo "# $1: $found read, $(summary $dir/log) reported"
	[ "$found" -ge 1000 ] && [ "$found" = "$(summary $dir/log)" ]
	result $? "$1: the trace has what the recorder counts" $dir/dump.err
	status=0
	ktape verify "$2" >$dir/text 2>&1 || status=$?
	# The end of what the session recorded is missing.
	[ $status = 0 ] || [ $status = 6 ]
	result $? "$1: verify finds nothing wrong with what is there" $dir/text
}

# The reader of the pipe is slow; behind the pipe are more blocks.
test_pipe()
{
	mkfifo $dir/fifo
	cat <$dir/fifo >$dir/trace &
	reader=$!
	start_large big
	result $? "a session of root" $dir/err
	(as_member -o - >$dir/fifo 2>$dir/log) &
	recorder=$!
	emit &
	emitter=$!
	for _ in $(seq $((200 * ${KTAPE_SCALE:-1}))); do
		[ "$(stat -c %s $dir/trace)" -le 300000 ] || break
		sleep 0.1
	done
	kill -STOP $reader
	sleep 2
	kill $emitter
	take_memory
	kill -CONT $reader
	wait $recorder
	check_end pipe $?
	wait $reader
	check_trace pipe $dir/trace
	ktape destroy next
	rm -f $dir/fifo $dir/trace
}

# The recorder is stopped meanwhile; $1: options
test_stopped()
{
	start_large big
	result $? "another session of root" $dir/err
	(as_member -o trace "$@" 2>$dir/log) &
	recorder=$!
	emit &
	emitter=$!
	for _ in $(seq $((200 * ${KTAPE_SCALE:-1}))); do
		[ "$(du -s $dir/mine | cut -f 1)" -le 1000 ] || break
		sleep 0.1
	done
	kill -STOP $recorder
	sleep 1
	kill $emitter
	take_memory
	kill -CONT $recorder
	wait $recorder
	check_end "stopped $*" $?
	check_trace "stopped $*" $dir/mine/trace
	ktape destroy next
	rm -rf $dir/mine/trace
}

# A bus error of another cause ends the command.
test_other()
{
	mkfifo $dir/never
	ktape dump - <>$dir/never >/dev/null 2>&1 &
	dump=$!
	sleep 1
	kill -BUS $dump
	wait $dump
	[ $? = $((128 + 7)) ]
	result $? "SIGBUS of another process ends the command"
	rm $dir/never
}

echo "TAP version 13"
need_ktape
mkdir -p $dir/mine
chown 4001 $dir/mine
insmod "$KTAPE_MODULE" size=64K dev_mode=0640 && chgrp 4242 /dev/ktape
result $? "module loads with dev_mode=0640"
test_pipe
test_stopped
test_stopped --no-uring
test_stopped --zstd
test_other
wait
rmmod ktape
result $? "nothing holds the module"
echo "1..$n"
