# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# The disk of the log gets full: the recorder says so, and keeps what it had.
#
# full:MIB
#
# $scene has the arguments. begin NAME RULE and end, of used/oracle.sh, record a log while
# what stands between them happens; used/judge, which has the rules, compares the log with
# the kernel's counts.

mib=$scene
mkdir -p /full

# work: make events until the recorder ends; what is in the log when it has two pieces must
# stay (keep)
work()
{
	until has_ended; do
		[ -n "$kept" ] || [ "$(count "$log/*")" -lt 2 ] || keep
		act getppid 20000 child 10
	done
}

# fill NAME: record to /full
fill()
{
	begin "$1" "cut No space left" /full/log
	echo "# waiting until the disk is full"
	work
	end
	cp -r /full/log "$folder"
	[ "$(du -sk /full/log | cut -f 1)" -ge $((mib * 1024 * 3 / 4)) ]
	result $? "$name: the log takes three quarters of the disk or more"
}

mount -t tmpfs -o size="${mib}m" tmpfs /full
fill full-tmpfs
umount /full

# The data goes past the page cache here.
dd if=/dev/zero of=/data/full.img bs=1M count="$mib" 2>/dev/null
modules loop
mke2fs -F -b 4096 /data/full.img >/dev/null
mount -o loop -t ext2 /data/full.img /full
result $? "full: there is a small disk"
fill full-disk
umount /full
rm /data/full.img
