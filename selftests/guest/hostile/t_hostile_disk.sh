#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test recordings whose output fails: a disk that is full or has errors, at any place, a
# limit of the file's size, a device that takes nothing, a pipe that is closed.  The exit
# status and the message report that, and what was written can be read and checked.  What is
# recorded is "emit", a program that causes events of all kinds until it is killed.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

most=$((600 * ${KTAPE_SCALE:-1}))
tries=${KTAPE_HOSTILE:-1}
[ "$tries" -le 30 ] || tries=30
disk=$dir/disk
tried=0
bytes=0

# checked TRACE: fail unless it can be read and verify finds nothing but where it is cut
# off
checked()
{
	: >$dir/dump.err
	found=$(records "$1")
	kib=$(du -sk "$1" | cut -f 1)
	bytes=$((bytes + kib))
	tried=$((tried + 1))
	ktape verify "$1" >$dir/verify 2>&1
	status=$?
	echo "# $1: $kib KiB, $found events, verify $status: $(tail -n 1 $dir/verify)"
	grep wrong $dir/verify | head -n 15 | cut -c 1-250 | sed 's/^/# /'
	[ "$found" -gt 0 ] && { [ $status -le 1 ] || [ $status = 6 ]; } &&
		! grep '^wrong' $dir/verify | grep -qvE 'ends in the (middle|header) of a packet'
}

# fails NAME TEXT TRACE OPTION...: record until the output fails with TEXT; the summary
# must count what TRACE has
fails()
{
	name=$1
	text=$2
	trace=$3
	shift 3
	timeout $most ktape record -p all "$@" -o "$trace" -- emit 2>$dir/log
	rc=$?
	[ $rc = 1 ] && grep -q "$text" $dir/log
	result $? "$name: the exit status and the message tell" $dir/log
	checked "$trace" && ! pidof emit >/dev/null
	result $? "$name: what was written can be read" $dir/verify
	rm -rf "$trace"
}

test_full()
{
	for size in $(seq 300 331 $((300 + 331 * (tries - 1)))); do
		mount -t tmpfs -o size="$size"K tmpfs $disk
		fails "a tmpfs of $size KiB" 'No space left' $disk/trace
		umount $disk
	done
}

test_limit()
{
	for blocks in $(seq 224 97 $((224 + 97 * (tries - 1)))); do
		(
			ulimit -f "$blocks"
			fails "$blocks blocks of a file" 'File too large' $dir/trace
			echo "$n $tried $bytes" >$dir/counts
		)
		read -r n tried bytes <$dir/counts
	done
}

# A file that takes no byte: there is no trace.
test_device()
{
	timeout $most ktape record -q -p all -o - -- emit >/dev/full 2>$dir/log
	[ $? = 1 ] && grep -q 'No space left' $dir/log
	result $? "/dev/full: the exit status and the message tell" $dir/log
}

# The reader closes the pipe after some bytes, which is no failure.
test_pipe()
{
	# The names of the processes that ./busy forks come before the first events.
	first=80001
	[ -z "${KTAPE_BUSY:-}" ] || first=160001
	for size in $(seq $first 70001 $((first + 70001 * (tries - 1)))); do
		{
			timeout $most ktape record -q -p all -o - -- emit 2>$dir/log
			echo $? >$dir/status
		} | head -c "$size" >$dir/part
		[ "$(cat $dir/status)" = 0 ]
		result $? "a pipe that is closed after $size bytes ends the recording" \
			$dir/log
		checked $dir/part && [ "$(stat -c %s $dir/part)" = "$size" ]
		result $? "the $size bytes can be read" $dir/verify
		rm $dir/part
	done
}

# Errors of a disk begin at a sector that the trace reaches.
test_error()
{
	for m in /lib/test-modules/*; do
		case $m in
		*dax.ko | *dm-mod.ko | *brd.ko) insmod "$m" 2>/dev/null ;;
		esac
	done
	mkdir -p /dev/mapper
	[ -e /dev/mapper/control ] ||
		mknod /dev/mapper/control c 10 "$(awk '$2 == "device-mapper" {
			print $1 }' /proc/misc)" 2>/dev/null
	if [ ! -b /dev/ram0 ] || ! dm kt /dev/ram0 8192 8192 2>$dir/log; then
		skip "a disk with errors" "no device mapper or RAM disk"
		return
	fi
	node=/dev/$(basename /sys/block/dm-*)
	for good in $(seq 6000 301 $((6000 + 301 * (tries < 7 ? tries - 1 : 6)))); do
		dm kt /dev/ram0 8192 8192
		mke2fs -F -b 4096 "$node" >/dev/null 2>&1
		mount -t ext2 "$node" $disk
		dm kt /dev/ram0 8192 "$good"
		fails "errors from sector $good on" 'Input/output error' $disk/trace
		umount $disk
	done
	dm kt
}

echo "TAP version 13"
need_ktape
mkdir -p $disk
test_full
test_limit
test_device
test_pipe
test_error
# t_hostile_leak fails if a RAM disk is loaded already.
for m in brd dm-mod dax; do
	rmmod $m 2>/dev/null
done
echo "# $tried tries, $bytes KiB read and checked"
[ "$tried" -ge $((tries * 3)) ]
result $? "everything was tried"
echo "1..$n"
