#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape verify` on real recordings: it finds no error in rings that are
# large enough or too small, pipes, filters, a stop and a start; and it reports
# damage.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

# check_clean NAME TRACE: verify finds no error in it
check_clean()
{
	ktape verify "$2" >$dir/verify 2>&1
	result $? "$1: verify finds no error" $dir/verify
	! grep -q '^note checksum' $dir/verify
	result $? "$1: its metadata has a checksum" $dir/verify
	grep -E '^ *[0-9]' $dir/verify | sed 's/^/# /'
}

# The reader is the parent of the emitting processes and stands still, so the
# rings overflow.
# shellcheck disable=SC2016	# for the inner shell
unread='kill -STOP $PPID; emit 0; kill -CONT $PPID'

# check_losses NAME LOG: check that the recording did lose events
check_losses()
{
	grep -q ' [1-9][0-9]* lost' "$2"
	result $? "$1: events are lost" "$2"
}

test_record()
{
	ktape record -o $dir/a -- emit 0 2>$dir/log
	check_clean "discard" $dir/a
	ktape record -m overwrite -o $dir/over -- emit 1 2>$dir/log
	check_clean "overwrite" $dir/over
	ktape record -m overwrite -p all -b 16K -B 4K -o $dir/lapped -- \
		sh -c "$unread" 2>$dir/log
	check_losses "a reader that is too slow" $dir/log
	check_clean "a reader that is too slow" $dir/lapped
	ktape record -e '*' -o /scratch/a -- emit 0 2>$dir/log
	check_clean "all events" /scratch/a
	ktape record -p all -b 16K -B 4K -o $dir/small -- \
		sh -c "$unread" 2>$dir/log
	check_losses "rings that are too small" $dir/log
	check_clean "rings that are too small" $dir/small
	emit 1 &
	ktape record -d 1s -o - 2>$dir/log >$dir/pipe
	wait $!
	check_clean "a pipe form" $dir/pipe
	ktape record -e sched,syscall,irq,softirq --syscall getppid \
		--softirq TIMER -o $dir/filtered -- emit 1 2>$dir/log
	result $? "profile sets filters" $dir/log
	check_clean "filters by number" $dir/filtered
	ktape record -e sched,syscall,irq,softirq --pid 1 --children \
		--gate irq=1us --rate softirq_entry=50 -o $dir/rated -- \
		emit 1 2>$dir/log
	result $? "profile sets filters by thread, gates and rates" $dir/log
	check_clean "filters by thread, gates, rates" $dir/rated
}

test_session_0()
{
	emit &
	emitter=$!
	# Ends with the session: if it were killed, half a packet might be left.
	timeout $((600 * ${KTAPE_SCALE:-1})) cat /dev/ktape >$dir/f 2>/dev/null &
	act nap 200 2
	ktape stop
	ktape start
	act nap 200 2
	ktape stop
	kill $emitter
	wait
	ktape verify $dir/f >$dir/verify 2>&1
	result $? "session 0, a stop and a start: verify finds no error" $dir/verify
	# That reader may have ended at the first stop; the rings hold both.
	cat /dev/ktape >$dir/f
	ktape dump -e session $dir/f | grep ' cpu 0 ' | sed 's/^.*phase=//' |
		cut -c 1-3 | tail -n 4 | tr -d '\n' >$dir/phases
	grep -qx 'on offon off' $dir/phases
	result $? "the rings of session 0 hold a stop and a start" $dir/phases
	check_clean "session 0, read later" $dir/f
	ktape start
}

# between: print the times of the first switch after the on-markers of all CPUs
# and of the last switch before any off-marker. Two times that differ in ns also
# differ in ticks.
between()
{
	awk '
		/ profile: .*phase=on/ { edge = $1; first = "" }
		/ profile: .*phase=off/ { exit }
		/ sched_switch: / && $1 != edge {
			if (first == "")
				first = $1
			last = $1
		}
		END {
			gsub(/[][]/, "", first)
			gsub(/[][]/, "", last)
			print first, last
		}'
}

test_absent()
{
	ktape record -e sched,signal -o $dir/b -- emit 0 2>$dir/log
	read -r from to <<-EOT
	$(ktape dump --all $dir/b | between)
	EOT
	ktape verify --absent signal_generate:sig=63 --from 0.0 --to 0.1 \
		$dir/b >$dir/verify 2>&1
	[ $? = 3 ]
	result $? "verify --absent proves nothing before the recording" $dir/verify
	echo "# from $from to $to"
	ktape verify --absent signal_generate:sig=63 --from "$from" \
		--to "$to" $dir/b >$dir/verify 2>&1
	result $? "verify --absent proves the absence of a signal during the recording" $dir/verify
	ktape verify --absent sched_switch --from "$from" --to "$to" $dir/b \
		>$dir/verify 2>&1
	[ $? = 1 ]
	result $? "verify --absent finds a switch" $dir/verify
}

test_damage()
{
	size=$(stat -c %s $dir/a/cpu0)
	dd if=/dev/zero of=$dir/a/cpu0 bs=1 seek=$((size / 2)) count=1 \
		conv=notrunc 2>/dev/null
	# Change more than one byte: a single one might already have that value.
	printf 'xxxxxxxx' |
		dd of=$dir/a/cpu0 bs=1 seek=5000 conv=notrunc 2>/dev/null
	ktape verify $dir/a >$dir/verify 2>&1
	[ $? = 1 ] && grep -q checksum $dir/verify
	result $? "a changed byte is reported as a bad checksum" $dir/verify
}

echo "TAP version 13"
need_ktape
mkdir -p $dir
test_record
test_session_0
test_absent
test_damage
rm -rf /scratch/a
echo "1..$n"
