#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs in the guest of install-guest, as root, with the packages installed.
set -u

n=0
log=/root/log
mkdir -p /root/work
cd /root/work || exit

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	echo "not ok $n - $2"
	tail -n 20 $log | sed 's/^/# /'
}

# as USER COMMAND: run it in the user's folder
as()
{
	su - "$1" -c "$2" >$log 2>&1
}

# until_true COMMAND...: wait for a condition, for two minutes
until_true()
{
	local i
	for ((i = 0; i < 240; i++)); do
		"$@" >$log 2>&1 && return
		sleep 0.5
	done
	return 1
}

modprobe ktape >$log 2>&1
result $? "modprobe finds the module"
[[ $(modinfo -F filename ktape) == */$(uname -r)/updates/dkms/ktape.ko* ]]
result $? "it is the one that DKMS has built for this kernel"
udevadm settle
stat -c '%a %U %G' /dev/ktape >$log
[ "$(cat $log)" = "640 root tracing" ]
result $? "/dev/ktape has the group and the mode of the rules"
stat -c '%a %U %G' /dev/ktape_mark >$log
[ "$(cat $log)" = "600 root tracing" ]
result $? "/dev/ktape_mark is the administrator's"

useradd -m -s /bin/bash -G tracing member && useradd -m -s /bin/bash stranger
result $? "two users are made"
as member 'grep ^CapEff /proc/self/status' && grep -q ':.0*$' $log
result $? "the member has no capability"
as member 'ktape record -q -S 0 -d 1s -o t && ktape verify t &&
	ktape dump t | grep -c sched_switch'
result $? "the member records and verifies a trace"
as member 'ktape dump --now /dev/ktape | grep -c sched_switch'
result $? "the member reads the device"
! as member 'ktape clear' && grep -q 'Permission denied' $log
result $? "the member does not control session 0"
! as stranger 'ktape record -q -S 0 -d 1s -o t' &&
	grep -q 'Permission denied' $log
result $? "the other user is refused"

systemctl start ktape-flight >$log 2>&1 ||
	{ journalctl -u ktape-flight >$log; false; }
result $? "the flight recorder starts"
ktape status flight --json >$log 2>&1 &&
	grep -q '"mode":"overwrite","running":true' $log
result $? "its session records"
cat >/run/systemd/system/fails.service <<'EOT'
[Unit]
OnFailure=ktape-snapshot@%N.service
[Service]
ExecStart=/bin/false
EOT
systemctl daemon-reload
systemctl start fails >$log 2>&1
until_true systemctl is-failed fails
result $? "a unit fails"
until_true sh -c 'systemctl show -P InactiveEnterTimestamp \
	ktape-snapshot@fails | grep .'
systemctl show -p Result -p ExecMainStatus ktape-snapshot@fails >$log
grep -qx Result=success $log
result $? "the unit for failures runs to its end"
as member 'ktape verify /var/lib/ktape/fails-*'
result $? "it left a trace that a member reads and that is whole"
journalctl -u ktape-snapshot@fails >$log && grep -qi thread $log
result $? "the statistics are in the journal"
systemctl stop ktape-flight >$log 2>&1 && ! ktape status flight >$log 2>&1
result $? "the flight recorder stops, and its session is gone"

rmmod ktape >$log 2>&1
result $? "the module is unloaded"
modprobe ktape dev_mode=0660 >$log 2>&1 && udevadm settle &&
	[ "$(stat -c '%a %G' /dev/ktape)" = "660 tracing" ]
result $? "dev_mode=0660: udev keeps the mode"
as member 'ktape record -q -e sched -o own -- sleep 1 && ktape verify own'
result $? "dev_mode=0660: the member records a session of its own"

# With the module loaded and the flight recorder running.
systemctl start ktape-flight >$log 2>&1
DEBIAN_FRONTEND=noninteractive dpkg --purge ktape ktape-dkms python3-ktape \
	libktape-dev libktape1 >$log 2>&1
result $? "the packages are purged while they are used"
! pidof ktape >$log && ! systemctl is-active ktape-flight >$log
result $? "the flight recorder was stopped"
find / -xdev -name '*ktape*' ! -path '/var/log/*' ! -path '/etc/systemd/*ktape-test*' \
	! -path '/proc/*' ! -path '/run/*' ! -path '/root/debs/*' >$log 2>&1
[ ! -s $log ]
result $? "no file is left"
rmmod ktape >$log 2>&1
result $? "the module is unloaded after its package"
dmesg | grep -E 'BUG:|WARNING:|Oops' >$log
[ ! -s $log ]
result $? "the kernel's log is clean"
echo "# all tests have run"
