#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# In the guest, at each of its boots: take what the last one left in memory, tell
# the host of it, record under load, crash.  See selftests/guest/persist, which
# looks at what is printed here.
set -u

# /dev/vda: first the files that the guest leaves at its end, then how many
# crashes there were, then the traces, in pieces of so many MiB.
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

# taken TRACE: by CPU the first, last and number of the mirror's values, how many
# are missing in between; and how many panics were recorded.
taken()
{
	ktape dump "$1" 2>/tmp/dump.err | awk '
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

recover()
{
	ktape recover --json -o /tmp/trace >/tmp/summary 2>/tmp/recover.err
	echo "status $crash $?"
	sed "s/^/summary $crash /" /tmp/summary
	sed "s/^/told $crash /" /tmp/recover.err
	taken /tmp/trace | sed "s/^/taken $crash /"
	tar -cf - -C /tmp trace | dd of=$disk bs=1M conv=fsync,notrunc \
		seek=$((piece * crash)) 2>/dev/null || die "no room on the disk"
	echo "saved $crash"
	rm -rf /tmp/trace
}

insmod /ktape.ko persist="$PERSIST" profile="$PROFILE" block=16K ||
	die "insmod"
if [ "$crash" -gt 0 ]; then
	recover
else
	ktape recover -o /tmp/trace 2>/dev/null &&
		die "there was a trace before the first crash"
fi
if [ "$crash" = "$CRASHES" ]; then
	rmmod ktape || die "rmmod"
	# What a load has recorded is there after it, too.
	insmod /ktape.ko persist="$PERSIST" || die "insmod after rmmod"
	ktape recover -o /tmp/after | grep 'ended by: stopped' ||
		die "nothing of a session that was stopped"
	ktape recover -o /tmp/after -f --drop >/dev/null || die "drop"
	ktape recover -o /tmp/after -f 2>/dev/null && die "it was dropped"
	rmmod ktape || die "rmmod"
	echo "done"
	exit 0
fi
crash=$((crash + 1))
echo "$crash" | dd of=$disk bs=1M seek=$state conv=sync,fsync,notrunc \
	2>/dev/null || die "no state"

/bin/workload 600 /scratch >/dev/null 2>&1 &
/tests/mirror /dev/ttyS1 &
sleep "$SECONDS_EACH"
# However slow the machine: until each event ring has gone round.
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
reset) sleep 600 ;;	# the host does it
esac
sleep 60
die "still alive after $1"
