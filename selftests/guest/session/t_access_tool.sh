#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The command as a user without any capability, whom the group of the device lets in:
# readers save what session 0 records, writers record sessions of their own.
set -u

# shellcheck source=selftests/guest/support/result.sh
. "${0%/*}/result.sh"

details=log

# In a guest of run-tests these files do not exist; elsewhere they stay as they are.
grep -qs '^root:' /etc/passwd || echo 'root:x:0:0::/:/bin/sh' >/etc/passwd
grep -qs '^ktmember:' /etc/passwd ||
	echo 'ktmember:x:4001:4001::/:/bin/sh' >>/etc/passwd
grep -qs '^kttracing:' /etc/group ||
	echo 'kttracing:x:4242:ktmember' >>/etc/group

mkdir mine
chown 4001 mine
: >log

# as_member COMMAND: run it in the folder of the user
as_member()
{
	(cd mine && su ktmember -c "PATH=$PATH; $1") >text 2>log
}

# load_for_group PARAMETERS: load the module, and give its device to the group
load_for_group()
{
	insmod "$KTAPE_MODULE" "$@" >log 2>&1 &&
		chgrp 4242 /dev/ktape 2>>log
}

load_for_group size=256K dev_mode=0640
result $? "module loads with dev_mode=0640"
as_member 'grep ^CapEff /proc/self/status' && grep -q ':.0*$' text
result $? "the user has no capability"
as_member 'ktape dump --now /dev/ktape' && grep -q sched_switch text
result $? "0640: dump shows what the device has"
as_member 'cat /dev/ktape >f & sleep 1; kill $!; ktape dump f' &&
	grep -q sched_switch text
result $? "0640: cat is enough to copy the trace"
as_member 'ktape snapshot -o s && ktape verify s'
result $? "0640: snapshot saves session 0"
as_member 'ktape record -q -S 0 -d 500ms -o r && ktape verify r && ktape dump r' &&
	grep -q sched_switch text
result $? "0640: record -S 0 records session 0"
! as_member 'ktape record -q -d 100ms -o own' && grep -q 'Permission denied' log
result $? "0640: no session of its own"
! as_member 'ktape clear' && grep -q 'Permission denied' log
result $? "0640: no control of session 0"
# Each way of reading keeps the module loaded as long as it lasts (uapi/SECURITY.md).
held=0
for how in 'sleep 1000 </dev/ktape' 'ktape record -q -S 0 -o held'; do
	# shellcheck disable=SC2024
	(cd mine && exec su ktmember -c "PATH=$PATH; echo \$\$ >pid; exec $how") >>log 2>&1 &
	tries=0
	until [ "$(cat /sys/module/ktape/refcnt)" -gt 0 ] || [ $tries -ge 600 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	rmmod ktape 2>>log || held=$((held + 1))
	kill "$(cat mine/pid)"
	wait $! 2>>log
	[ "$(cat /sys/module/ktape/refcnt)" = 0 ] || held=none
done
[ "$held" = 2 ]
result $? "0640: a reader keeps the module loaded"
rmmod ktape

load_for_group size=256K dev_mode=0660
result $? "module loads with dev_mode=0660"
as_member 'ktape record -q -e sched -o own -- sleep 1 && ktape verify own &&
	ktape dump own' && grep -q sched_switch text
result $? "0660: a session of its own"
as_member 'ktape start night -e sched && ktape stop night &&
	ktape snapshot night -o night && ktape destroy night && ktape verify night'
result $? "0660: a named session, to its end"
! as_member 'ktape probe add do_exit' && grep -qi 'not allowed' log
result $? "0660: no run-time probes"
rmmod ktape
echo "1..$n"
