#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# ktape doctor on a real machine: its commands, one after the other, lead from a
# module that is not loaded to a recording; then each thing is broken and mended.
# Lockdown, which stays until the next boot, is in t_zz_lockdown_tool.sh.
set -u
# shellcheck source=selftests/guest/command/doctor.sh
. "${0%/*}/doctor.sh"

release=$(uname -r)

# ---- from nothing to a recording ------------------------------------------

doctor 1 && has problem headers "headers of kernel $release are missing" &&
	has problem module "no module for kernel $release" &&
	has problem loaded 'not loaded'
result $? "a machine with nothing"
ktape status >log 2>&1
[ $? = 1 ] && grep -q '^ktape: /dev/ktape: No such file or directory: ' log &&
	grep -q '^ktape: next: .' log && [ "$(wc -l <log)" = 2 ]
result $? "a failed open says what is missing, and the next command"
cp "$KTAPE_MODULE" ktape.ko
doctor 1 && has ok module './ktape.ko is for this kernel' &&
	has note headers missing && [ "$(last)" = 'insmod ./ktape.ko' ]
result $? "a module in the folder: insmod is left to do"
follow && [ -c /dev/ktape ]
result $? "the last line loads it"
rm ktape.ko
doctor 0 && has ok loaded loaded && has ok device 'can be opened' &&
	has ok version 'same table' && [ "$(last)" = 'ktape record -d 1s -o trace' ]
result $? "a machine with everything"
follow && ktape verify trace >>log 2>&1
result $? "the last line records"

# ---- broken and mended ------------------------------------------------------

rm /dev/ktape
doctor 1 && has problem device 'although the module is loaded' &&
	[ "$(last)" = "$next" ] && follow && doctor 0
result $? "a device without a file: the command makes it"
if [ -w /sys/kernel/debug/kprobes/enabled ]; then
	echo 0 >/sys/kernel/debug/kprobes/enabled
	doctor 0 && has warning kprobes 'switched off' &&
		sh -c "$next" >>log && doctor 0 && ! has warning kprobes ''
	result $? "kprobes are off: the command switches them on"
	echo 1 >/sys/kernel/debug/kprobes/enabled
else
	skip "kprobes are off" "no kprobes/enabled in debugfs"
fi
if [ -w /sys/kernel/tracing/events/sched/sched_switch/enable ]; then
	echo 1 >/sys/kernel/tracing/events/sched/sched_switch/enable
	doctor 0 && has note tracers 'ftrace records 1 event' &&
		sh -c "$next" >>log && doctor 0 && has ok tracers 'no other tracer'
	result $? "ftrace records: the command ends it"
	echo 0 >/sys/kernel/tracing/events/sched/sched_switch/enable
else
	skip "ftrace records" "no events in tracefs"
fi
if [ -w /proc/sys/kernel/io_uring_disabled ]; then
	echo 2 >/proc/sys/kernel/io_uring_disabled
	doctor 0 && has note io_uring 'it is disabled' && sh -c "$next" >>log &&
		doctor 0 && has ok io_uring works
	result $? "io_uring is disabled: the command enables it"
	echo 0 >/proc/sys/kernel/io_uring_disabled
else
	skip "io_uring is disabled" "no kernel.io_uring_disabled before 6.6"
fi
if grep -q ' /scratch ' /proc/mounts; then
	doctor 0 -o /scratch && has ok output '/scratch, with O_DIRECT'
	result $? "a folder with O_DIRECT"
else
	skip "a folder with O_DIRECT" "no scratch disk"
fi
# Since 6.6 tmpfs accepts it, and copies.
doctor 0 -o /tmp && has note output 'no O_DIRECT'
result $? "a folder without O_DIRECT"
doctor 1 -b 1G && has problem memory 'half of the memory' &&
	[ "$(last)" = "$next" ] &&
	sh -c "$(last | sed 's/ -o trace/ -d 100ms -f -o trace/')" >>log 2>&1
result $? "rings larger than the memory: the command has a size that fits"

# ---- users --------------------------------------------------------------------

grep -qs '^root:' /etc/passwd || echo 'root:x:0:0::/:/bin/sh' >/etc/passwd
grep -qs '^ktstranger:' /etc/passwd ||
	echo 'ktstranger:x:4002:4002::/:/bin/sh' >>/etc/passwd
mkdir mine
chown 4002 mine

# doctor_of USER STATUS
doctor_of()
{
	(cd mine && su "$1" -c "PATH=$PATH; ktape doctor") >$text 2>&1
	got=$?
	cat $text >>log
	[ $got = "$2" ]
}

doctor_of ktstranger 1 && has problem rights 'its mode is 0600' &&
	[ "$next" = 'sudo ktape doctor' ]
result $? "a user whom the mode of the device keeps out"
chmod 666 /dev/ktape
doctor_of ktstranger 1 && has problem rights 'neither CAP_PERFMON' &&
	[ "$next" = 'sudo ktape doctor' ]
result $? "a user without the capability"
# The device that mknod has made stays.
rmmod ktape
doctor 1 && has problem device 'belongs to no module' &&
	[ "$next" = 'rm /dev/ktape' ] && sh -c "$next" && [ ! -e /dev/ktape ]
result $? "a device that was left behind: the command removes it"
insmod "$KTAPE_MODULE" dev_mode=0644
doctor_of ktstranger 1 && has problem device 'may read /dev/ktape, but not control'
result $? "a user who may only read"
rmmod ktape
insmod "$KTAPE_MODULE" dev_mode=0666
doctor_of ktstranger 0 && has ok device 'can be opened'
result $? "a user whom dev_mode= lets in"
rmmod ktape

# ---- other versions -----------------------------------------------------------

version=$(ktape version | head -n 1 | sed 's/^ktape \([^,]*\),.*/\1/')
other=$(echo "$version" | tr 0-9 9876543210)
change "version=$version" "version=$other" /tmp/other.ko &&
	insmod /tmp/other.ko && doctor 0 &&
	has warning version "version $other, this command is $version"
result $? "a module of another version"
rmmod ktape
change "vermagic=$release" "vermagic=9${release#?}" /tmp/other.ko &&
	doctor 1 -m /tmp/other.ko &&
	{ has warning module "built for kernel 9${release#?}, but $release" ||
		has problem module "built for kernel 9${release#?}, but $release"; }
result $? "a module of another kernel"
magic=$(strings -n 8 "$KTAPE_MODULE" | grep '^vermagic=' | head -n 1)
change "$magic" "vermagic=$(echo "${magic#*=}" | sed 's/mod_unload/mod_unloae/')" \
	/tmp/other.ko && ! insmod /tmp/other.ko 2>>log &&
	doctor 1 -m /tmp/other.ko && has problem log 'ktape: version magic'
result $? "a module that the kernel has refused: its log says why"
rm -f /tmp/*.ko
cp "$KTAPE_MODULE" /tmp/ktape.ko
touch -d "@$(($(date +%s) + 3600))" /tmp/ktape.ko
doctor 1 -m /tmp/ktape.ko && ! has problem log '' &&
	[ "$(last)" = 'insmod /tmp/ktape.ko' ]
result $? "a module that was built since: the log does not matter"
rm /tmp/ktape.ko
echo "1..$n"
