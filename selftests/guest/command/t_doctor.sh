#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test ktape doctor on a real machine: the commands that it prints, one after the other,
# lead from a module that is not loaded to a recording; then each thing is broken and
# mended.
# Lockdown, which stays until the next boot, is in t_zz_lockdown_tool.sh.
set -u
# shellcheck source=selftests/guest/command/doctor.sh
. "${0%/*}/doctor.sh"

release=$(uname -r)

# ---- from nothing to a recording ------------------------------------------

expect_doctor 1 && has_finding problem headers "headers of kernel $release are missing" &&
	has_finding problem module "no module for kernel $release" &&
	has_finding problem loaded 'not loaded'
result $? "a machine with nothing"
ktape status >log 2>&1
[ $? = 1 ] && grep -q '^ktape: /dev/ktape: No such file or directory: ' log &&
	grep -q '^ktape: next: .' log && [ "$(wc -l <log)" = 2 ]
result $? "a failed open says what is missing, and the next command"
cp "$KTAPE_MODULE" ktape.ko
expect_doctor 1 && has_finding ok module './ktape.ko is for this kernel' &&
	has_finding note headers missing && [ "$(last_command)" = 'insmod ./ktape.ko' ]
result $? "a module in the folder: insmod is left to do"
run_last_command && [ -c /dev/ktape ]
result $? "the last line loads it"
rm ktape.ko
expect_doctor 0 && has_finding ok loaded loaded && has_finding ok device 'can be opened' &&
	has_finding ok version 'same table' && [ "$(last_command)" = 'ktape record -d 1s -o trace' ]
result $? "a machine with everything"
run_last_command && ktape verify trace >>log 2>&1
result $? "the last line records"

# ---- broken and mended ------------------------------------------------------

rm /dev/ktape
expect_doctor 1 && has_finding problem device 'although the module is loaded' &&
	[ "$(last_command)" = "$next" ] && run_last_command && expect_doctor 0
result $? "a device without a file: the command makes it"
if [ -w /sys/kernel/debug/kprobes/enabled ]; then
	echo 0 >/sys/kernel/debug/kprobes/enabled
	expect_doctor 0 && has_finding warning kprobes 'switched off' &&
		sh -c "$next" >>log && expect_doctor 0 && ! has_finding warning kprobes ''
	result $? "kprobes are off: the command switches them on"
	echo 1 >/sys/kernel/debug/kprobes/enabled
else
	skip "kprobes are off" "no kprobes/enabled in debugfs"
fi
if [ -w /sys/kernel/tracing/events/sched/sched_switch/enable ]; then
	echo 1 >/sys/kernel/tracing/events/sched/sched_switch/enable
	expect_doctor 0 && has_finding note tracers 'ftrace records 1 event' &&
		sh -c "$next" >>log && expect_doctor 0 && has_finding ok tracers 'no other tracer'
	result $? "ftrace records: the command ends it"
	echo 0 >/sys/kernel/tracing/events/sched/sched_switch/enable
else
	skip "ftrace records" "no events in tracefs"
fi
if [ -w /proc/sys/kernel/io_uring_disabled ]; then
	echo 2 >/proc/sys/kernel/io_uring_disabled
	expect_doctor 0 && has_finding note io_uring 'it is disabled' && sh -c "$next" >>log &&
		expect_doctor 0 && has_finding ok io_uring works
	result $? "io_uring is disabled: the command enables it"
	echo 0 >/proc/sys/kernel/io_uring_disabled
else
	skip "io_uring is disabled" "no kernel.io_uring_disabled before 6.6"
fi
if grep -q ' /scratch ' /proc/mounts; then
	expect_doctor 0 -o /scratch && has_finding ok output '/scratch, with O_DIRECT'
	result $? "a folder with O_DIRECT"
else
	skip "a folder with O_DIRECT" "no scratch disk"
fi
# Since 6.6 tmpfs accepts it, and copies.
expect_doctor 0 -o /tmp && has_finding note output 'no O_DIRECT'
result $? "a folder without O_DIRECT"
expect_doctor 1 -b 1G && has_finding problem memory 'half of the memory' &&
	[ "$(last_command)" = "$next" ] &&
	sh -c "$(last_command | sed 's/ -o trace/ -d 100ms -f -o trace/')" >>log 2>&1
result $? "rings larger than the memory: the command has a size that fits"

# ---- users --------------------------------------------------------------------

grep -qs '^root:' /etc/passwd || echo 'root:x:0:0::/:/bin/sh' >/etc/passwd
grep -qs '^ktstranger:' /etc/passwd ||
	echo 'ktstranger:x:4002:4002::/:/bin/sh' >>/etc/passwd
mkdir mine
chown 4002 mine

# expect_doctor_of USER STATUS: expect_doctor as another user
expect_doctor_of()
{
	(cd mine && su "$1" -c "PATH=$PATH; ktape doctor") >$text 2>&1
	got=$?
	cat $text >>log
	[ $got = "$2" ]
}

expect_doctor_of ktstranger 1 && has_finding problem rights 'its mode is 0600' &&
	[ "$next" = 'sudo ktape doctor' ]
result $? "a user whom the mode of the device keeps out"
chmod 666 /dev/ktape
expect_doctor_of ktstranger 1 && has_finding problem rights 'neither CAP_PERFMON' &&
	[ "$next" = 'sudo ktape doctor' ]
result $? "a user without the capability"
# The device that mknod has made stays.
rmmod ktape
expect_doctor 1 && has_finding problem device 'belongs to no module' &&
	[ "$next" = 'rm /dev/ktape' ] && sh -c "$next" && [ ! -e /dev/ktape ]
result $? "a device that was left behind: the command removes it"
insmod "$KTAPE_MODULE" dev_mode=0644
expect_doctor_of ktstranger 1 && has_finding problem device 'may read /dev/ktape, but not control'
result $? "a user who may only read"
rmmod ktape
insmod "$KTAPE_MODULE" dev_mode=0666
expect_doctor_of ktstranger 0 && has_finding ok device 'can be opened'
result $? "a user whom dev_mode= lets in"
rmmod ktape

# ---- other versions -----------------------------------------------------------

version=$(ktape version | head -n 1 | sed 's/^ktape \([^,]*\),.*/\1/')
other=$(echo "$version" | tr 0-9 9876543210)
change_module "version=$version" "version=$other" /tmp/other.ko &&
	insmod /tmp/other.ko && expect_doctor 0 &&
	has_finding warning version "version $other, this command is $version"
result $? "a module of another version"
rmmod ktape
change_module "vermagic=$release" "vermagic=9${release#?}" /tmp/other.ko &&
	expect_doctor 1 -m /tmp/other.ko &&
	{ has_finding warning module "built for kernel 9${release#?}, but $release" ||
		has_finding problem module "built for kernel 9${release#?}, but $release"; }
result $? "a module of another kernel"
magic=$(strings -n 8 "$KTAPE_MODULE" | grep '^vermagic=' | head -n 1)
change_module "$magic" "vermagic=$(echo "${magic#*=}" | sed 's/mod_unload/mod_unloae/')" \
	/tmp/other.ko && ! insmod /tmp/other.ko 2>>log &&
	expect_doctor 1 -m /tmp/other.ko && has_finding problem log 'ktape: version magic'
result $? "a module that the kernel has refused: its log says why"
rm -f /tmp/*.ko
cp "$KTAPE_MODULE" /tmp/ktape.ko
touch -d "@$(($(date +%s) + 3600))" /tmp/ktape.ko
expect_doctor 1 -m /tmp/ktape.ko && ! has_finding problem log '' &&
	[ "$(last_command)" = 'insmod /tmp/ktape.ko' ]
result $? "a module that was built since: the log does not matter"
rm /tmp/ktape.ko
echo "1..$n"
