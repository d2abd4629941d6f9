#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test that what shells emit by "ktape mark" and echo is what "ktape dump" shows, that wrong
# command lines are refused, and that the module parameters for emitting take effect.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

cat >$dir/emit <<'EOT'
set -e
echo text of echo >/dev/ktape_mark
echo appended >>/dev/ktape_mark
ktape mark text text of mark
ktape mark name marker 7 seven
ktape mark instant 7
ktape mark instant 0xffffffff 'twenty bytes at most, not more'
ktape mark -t instant 7 of-this-thread
ktape mark begin 7 outer
ktape mark --task begin 8
ktape mark -t end 8
ktape mark end 7 outer
ktape mark value 9 -5
ktape mark -t value 9 9223372036854775807 most
ktape mark value 9 -9223372036854775808
ktape mark exception _TRACE_HW_SEVERITY3 0x1234 1
ktape mark exception HW_SEVERITY0 0x1234 2 1 2 3 4 5 6
ktape mark exception SW3 0x1234 3 1
ktape mark -b buffer exception 2 0x1234 4 0xffffffff
ktape mark -b '' exception _TRACE_SW_SEVERITY1 0 0
ktape mark event 1025 1 2 u8:200 string:text
ktape mark -t event 1026
insmod /tests/ktape_emit.ko
rmmod ktape_emit
EOT

# Expected lines of dump without time, CPU and thread, one pattern per line:
# only what identifies an event; the values are tested in t_emit.
cat >$dir/want <<'EOT'
text: cut=0 text=text of echo
text: cut=0 text=appended
text: cut=0 text=text of mark
mark: task=0 id=7( .*)? message=
mark: task=0 id=4294967295 message=twenty bytes at most
mark: task=1 id=7( .*)? message=of-this-thread
mark_begin: task=0 id=7( .*)? message=outer
mark_begin: task=1 id=8 message=
mark_end: task=1 id=8 message=
mark_end: task=0 id=7( .*)? message=outer
mark_value: task=0 id=9 value=-5 message=
mark_value: task=1 id=9 value=9223372036854775807 message=most
mark_value: task=0 id=9 value=-9223372036854775808 message=
exception: severity=HW3 .*1234.*1.*
exception: severity=HW0 .*1234.*2 .*0x1 0x2 0x3 0x4 0x5 0x6].*
exception: severity=SW3 .*1234.*3 .*0x1].*
exception: severity=SW2 .*1234.*4 .*0xffffffff] data=627566666572
exception: severity=SW1 .*0x0.* data=
user_event: task=0 .*0x1 0x2] typed=.*
user_event: task=1 .*(402|1026).*
EOT

# matches PATTERNS LINES: each whole line must match its pattern
matches()
{
	awk '
		NR == FNR { want[++n] = $0; next }
		FNR <= n && $0 !~ "^" want[FNR] "$" {
			print "got:    " $0
			print "wanted: " want[FNR]
			bad = 1
		}
		END { exit bad || FNR < n }' "$1" "$2"
}

test_forms()
{
	sh $dir/emit 2>$dir/err
	result $? "mark and echo accept all forms" $dir/err
	ktape stop
	timeout $((200 * ${KTAPE_SCALE:-1})) cat /dev/ktape >$dir/stream
	ktape dump --all $dir/stream 2>$dir/err |
		sed -nE 's/^\[[0-9.]+\] cpu [0-9]+ [^ ]+ ((mark|text|exc|user_ev|isr|trace_ev)[a-z_]*: )/\1/p' \
		>$dir/all
	[ ! -s $dir/err ]
	result $? "dump prints no message" $dir/err
	# The lines of the shell come first, then those of the module.
	matches $dir/want $dir/all >$dir/diff
	result $? "dump shows what the shell emitted" $dir/diff
	awk 'NR == FNR { shell++; next }
		FNR > shell {
			print
			all++
			exceptions += /^exception:/
		}
		END { exit all != 28 || exceptions != 15 }' \
		$dir/want $dir/all >$dir/module
	result $? "dump shows what the module emitted" $dir/module
}

# state EVENT: print whether it can be recorded, or why not
state()
{
	grep "\"name\":\"$1\"" $dir/list
}

test_list()
{
	ktape list --json >$dir/list
	state mark | grep -q '"available":true' &&
		state exception | grep -q '"available":true'
	result $? "markers and exceptions are available on any kernel"
	if [ "$KTAPE_KERNEL" = notp ]; then
		state sched_switch | grep '"available":false' |
			grep -q '"the kernel was built without tracepoints"'
	else
		state sched_switch | grep -q '"available":true'
	fi
	result $? "list shows tracepoints as available or missing"
}

test_wrong()
{
	bad=0
	while read -r line; do
		eval "ktape mark $line" >/dev/null 2>&1
		[ $? = 2 ] || { bad=1; echo "# not refused: $line"; }
	done <<-EOT

	no such kind
	instant
	instant x
	instant 0x100000000
	instant 1 2 3
	value 1
	value 1 x
	value 1 9223372036854775808
	value 1 --5
	exception
	exception HW4 1 1
	exception 8 1 1
	exception _TRACE_HW_SEVERITY4 1 1
	exception SW1 0x1000000 1
	exception SW1 1 256
	exception SW1 1 1 1 2 3 4 5 6 7
	event 1 u8:256
	event 1 s8:-129
	event 1 no:1
	event 1 1 2 3 4 5 6 7
	name marker 1
	name nothing 1 x
	EOT
	result $bad "wrong command lines are refused"
	ktape mark name thread 1 x 2>/dev/null
	[ $? = 2 ]
	result $? "mark name refuses a type that users cannot name"
	ktape mark name 1 1 x 2>/dev/null
	[ $? = 1 ]
	result $? "mark name refuses such a type by number"
}

test_parameters()
{
	# On a slow machine many other events come in between.
	insmod "$KTAPE_MODULE" mark_mode=0622 max_str=20 size=4M
	result $? "module loads with mark_mode and max_str"
	[ "$(stat -c %a /dev/ktape_mark)" = 622 ]
	result $? "mark_mode is the mode of the device file"
}

test_refused()
{
	bad=0
	for p in mark_mode=01777 mark_mode=07777 max_str=1025 mark_rate=-1; do
		if insmod "$KTAPE_MODULE" $p 2>/dev/null; then
			echo "# $p"
			bad=1
			rmmod ktape
		fi
	done
	result $bad "wrong parameters are refused"
	insmod "$KTAPE_MODULE" mark_rate=0 mark_mode=0666 max_str=0
	! su nobody -c 'echo text >/dev/ktape_mark' 2>$dir/err &&
		grep -q busy $dir/err
	result $? "mark_rate=0 refuses unprivileged users" $dir/err
	ktape mark instant 1 message
	ktape stop
	timeout $((200 * ${KTAPE_SCALE:-1})) cat /dev/ktape |
		ktape dump --all - 2>/dev/null |
		grep -q 'mark: task=0 id=1 message=$'
	result $? "max_str=0 records no messages"
	rmmod ktape
}

echo "TAP version 13"
need_ktape
test_parameters
test_forms
test_list
test_wrong
rmmod ktape
test_refused
echo "1..$n"
