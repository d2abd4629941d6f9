#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Runs in the guest at each boot: recover the trace that the previous boot has left in
# memory, report it to the host, record under load, crash; after the last crash check what
# a load leaves. selftests/guest/persist on the host sets PERSIST, PROFILE, KINDS, CRASHES
# and SECONDS_EACH, and checks what is printed here.
set -u

# Layout of /dev/vda: the files that the guest leaves at its end, the number of
# crashes, then the traces in slots of this many MiB.
state=8
piece=16
disk=/dev/vda

die()
{
	echo "failed $crash: $*"
	exit 1
}

crash=$(dd if=$disk bs=1M skip=$state count=1 2>/dev/null | head -c 8 |
	tr -dc 0-9)
crash=${crash:-0}

# print_values TRACE: print for each CPU the first and last of the values that the program
# mirror recorded, their number and how many are missing in between; and the number of
# recorded panics
print_values()
{
	ktape dump --all "$1" 2>/tmp/dump.err | awk '
		/ mark_value: / {
			if (!match($0, /id=[0-9]+/))
				next
			cpu = substr($0, RSTART + 3, RLENGTH - 3) - 1000
			if (cpu < 0 || !match($0, /value=[0-9]+/))
				next
			n = substr($0, RSTART + 6, RLENGTH - 6) + 0
			if (!(cpu in count))
				first[cpu] = n
			else if (n != last[cpu] + 1)
				holes[cpu] += n - last[cpu] - 1
			last[cpu] = n
			count[cpu]++
		}
		/ exception: / && /code=0xffff00\.1 / { panics++ }
		END {
			for (cpu in count)
				print cpu, first[cpu], last[cpu], count[cpu],
					holes[cpu] + 0
			print "panics", panics + 0
		}'
	[ ! -s /tmp/dump.err ] || sed 's/^/dump: /' /tmp/dump.err
}

# recover_and_report: recover the trace, print what the host checks, and save it to the disk
recover_and_report()
{
	ktape recover --json -o /tmp/trace >/tmp/summary 2>/tmp/recover.err
	echo "status $crash $?"
	sed "s/^/summary $crash /" /tmp/summary
	sed "s/^/told $crash /" /tmp/recover.err
	print_values /tmp/trace | sed "s/^/taken $crash /"
	tar -cf - -C /tmp trace | dd of=$disk bs=1M conv=fsync,notrunc \
		seek=$((piece * crash)) 2>/dev/null || die "the disk has no room for trace $crash"
	echo "saved $crash"
	rm -rf /tmp/trace
}

insmod /ktape.ko persist="$PERSIST" profile="$PROFILE" block=16K ||
	die "insmod"
if [ "$crash" -gt 0 ]; then
	recover_and_report
else
	ktape recover -o /tmp/trace 2>/dev/null &&
		die "the region held a trace before the first crash"
fi
if [ "$crash" = "$CRASHES" ]; then
	rmmod ktape || die "rmmod"
	# The trace of a load is there after rmmod and insmod, too.
	insmod /ktape.ko persist="$PERSIST" || die "insmod after rmmod"
	ktape recover -o /tmp/after | grep 'ended by: stopped' ||
		die "no trace of the stopped session"
	ktape recover -o /tmp/after -f --drop >/dev/null || die "recover --drop"
	ktape recover -o /tmp/after -f 2>/dev/null && die "the dropped trace was recovered again"
	rmmod ktape || die "rmmod"
	echo "done"
	exit 0
fi
crash=$((crash + 1))
echo "$crash" | dd of=$disk bs=1M seek=$state conv=sync,fsync,notrunc \
	2>/dev/null || die "cannot write the crash count"

/bin/workload 600 /scratch >/dev/null 2>&1 &
/tests/mirror /dev/ttyS1 &
sleep "$SECONDS_EACH"
# Wait until each event ring has wrapped, however slow the machine is.
for _ in $(seq 60); do
	ktape status --json | grep '"ring":"event"' | grep -q '"tail":0,' || break
	sleep 1
done
# shellcheck disable=SC2086	# words
set -- $KINDS
shift $(((crash - 1) % $#))
echo "crash $crash $1"
case $1 in
panic) echo c >/proc/sysrq-trigger ;;
reboot) reboot -f ;;
reset) sleep 600 ;;	# the host resets the machine
esac
sleep 60
die "still alive after $1"
