# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# The disk of the log goes away: from one moment on each access to it is an error. The
# recorder says so. When the disk is back, all that was there before can be read.
#
# gone:MIB
#
# $scene has the arguments. begin NAME RULE and end, of used/oracle.sh, record a log while
# what stands between them happens; used/judge, which has the rules, compares the log with
# the kernel's counts.

sectors=$((scene * 2048))
modules dm-mod
[ -e /dev/mapper/control ] || {
	mkdir -p /dev/mapper
	mknod /dev/mapper/control c 10 "$(awk '$2 == "device-mapper" { print $1 }' /proc/misc)"
}
insmod /used/modules/brd.ko rd_nr=1 rd_size=$((scene * 1024))
dm kt /dev/ram0 $sectors $sectors
node=/dev/$(basename /sys/block/dm-*)
/usr/sbin/mke2fs -q -F -t ext4 "$node"
mkdir -p /gone
mount -t ext4 "$node" /gone
result $? "gone: there is a disk"

begin gone "cut Input/output error|Read-only file system" /gone/log
until_true "there are pieces" has_pieces 2
act getppid 20000 child 10
keep
until_true "there is a piece more" has_pieces $((kept + 1))
sync
act getppid 20000 child 10
dm kt /dev/ram0 $sectors 0
echo "# waiting until the recorder knows that the disk is gone"
until has_ended; do
	act getppid 20000 child 10
done
end
umount -l /gone
dm kt /dev/ram0 $sectors $sectors
until_true "the disk is free" mount -t ext4 "$node" /gone
cp -r /gone/log "$folder"
[ "$(count "$folder/log/*")" -ge "$kept" ]
result $? "gone: pieces from before are there, $kept or more"
umount /gone
dm kt
rmmod brd
