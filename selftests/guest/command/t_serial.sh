#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2086	# no name here has a blank
# Test `ktape send` and `ktape receive` over serial lines while the session
# records, with both forms of frames: rkh, of RKH's traces, and cobs, of
# Tonbandgeraet's. What arrives is what another reader of the same session got,
# each event once, unchanged and in order. Everything else is counted: as shed by
# the sender of a slow line, or as lost.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

# Events that the frames of both forms can represent.
events='sched_switch,sched_wakeup,process,signal,user,exception'
texts=100
values=8

# ---- lines ------------------------------------------------------------------------

# wait_for_file FILE: wait until FILE exists
wait_for_file()
{
	for _ in $(seq $((100 * ${KTAPE_SCALE:-1}))); do
		[ ! -e "$1" ] || return 0
		usleep 100000
	done
	return 1
}

# restart_session PROFILE-OPTIONS: restart session 0, with a second reader, the reference
restart_session()
{
	ktape stop && ktape profile $1 && ktape clear && ktape start
	cat /dev/ktape >$dir/ref &
	reader=$!
}

# connect NAME FRAME LINE-OPTIONS SEND-OPTIONS: send from the device over a line
# to NAME.t
connect()
{
	to=$dir/$1
	line $3 "$to.a" "$to.b" >"$to.line" 2>&1 &
	echo $! >"$to.line.pid"
	wait_for_file "$to.a"
	reached ktape receive --frame "$2" -o "$to.t" "$to.b" 2>"$to.rx" &
	echo $! >"$to.rx.pid"
	reached ktape send --frame "$2" $4 /dev/ktape "$to.a" 2>"$to.tx" &
	echo $! >"$to.tx.pid"
}

# wait_for_part NAME PART: wait for the process; $code is its exit status
wait_for_part()
{
	read -r pid <"$dir/$1.$2.pid"
	wait "$pid"
	code=$?
}

# tell NAME: print the messages of both ends
tell()
{
	sed "s/^/# $1: /" "$dir/$1.tx" "$dir/$1.line" "$dir/$1.rx"
}

# stop_and_check NAME...: stop the session, after which all processes must exit with 0
stop_and_check()
{
	# Live events are delivered after a pause.
	usleep 300000
	ktape stop
	wait $reader
	for name; do
		codes=
		for part in tx line rx; do
			wait_for_part $name $part
			codes=$codes$code
		done
		tell $name
		[ $codes = 000 ]
		result $? "$name: all end with the session" $dir/$name.rx
	done
	take_reference
}

# read_numbers NAME: set $sent, $shed, $came, $lost, $bad and $made (faults of the line) to
# what both ends and the line have printed
read_numbers()
{
	read -r sent shed came lost bad made <<-EOT
	$(awk '
		# Remove what precedes the text; otherwise keep the value.
		function said(text, before) {
			if (!match($0, "[0-9]+ " text))
				return before
			return substr($0, RSTART) + 0
		}
		# A word instead of a number fails the test, but does not end
		# the shell.
		BEGIN { sent = shed = came = lost = bad = made = "none" }
		/ came, .* went, / { made = $5 + $7 + $9; next }
		/ received, (nothing|an unknown number of events) lost/ { lost = 0 }
		/, no bad frame$/ { bad = 0 }
		{
			sent = said("events sent", sent)
			shed = said("shed", shed)
			came = said("events received", came)
			lost = said("events (and an unknown number more )?lost in", lost)
			bad = said("bad frame", bad)
		}
		END { print sent, shed, came, lost, bad, made }' \
		$dir/$1.tx $dir/$1.rx $dir/$1.line)
	EOT
}

# ---- what was recorded, and what arrived ---------------------------------------------

# lines_of TRACE [MORE]: print events without time and names; MORE: more
# commands for sed. Frames cannot say that the current thread is unknown, as at
# a reader's start.
lines_of()
{
	ktape dump --json "$1" 2>>$dir/dump.err |
		sed -E '/"ring":"registry"|"event":"(registry|time_extend)"/d
			/"event":"context".*"tid":-1/d
			s/"ts":"[0-9]+",//; s/"comm":("([^"\\]|\\.)*"|null),//
			s/,"[a-z_]*_name":"([^"\\]|\\.)*"//g
			'"${2:-}"
}

# take_reference: after the end, prepare the second reader's trace for
# comparison
take_reference()
{
	lines_of $dir/ref >$dir/ref.lines
	recorded=$(wc -l <$dir/ref.lines)
}

# The fields that Tonbandgeraet has of these events.
of_cobs='s/,"tid":[a-z0-9]+,"event":"sched_switch".*"next_tid":([0-9]+).*/ to \1/
s/,"tid":[a-z0-9]+,"event":"context".*"tid":([0-9]+).*/ to \1/
s/"event":"sched_wakeup.*"tid":([0-9]+).*/wakes \1/
s/"event":"process_fork".*"child_tid":([0-9]+).*/makes \1/
s/"event":"process_exit".*"tid":([0-9]+).*/ends \1/'

# RKH has one ring, and records the current thread differently.
of_rkh='s/"ring":"[a-z]*",//; /"event":"context"/d'

# in_order SENT CAME: what arrived must be a subsequence of what was sent, in
# each ring. The thread of an event may be unknown.
in_order()
{
	awk '
		# Sets ring, tid and rest.
		function take(line) {
			tid = ""
			if (match(line, /,"tid":[a-z0-9]+/)) {
				tid = substr(line, RSTART, RLENGTH)
				ring = substr(line, 1, RSTART - 1)
				rest = substr(line, RSTART + RLENGTH)
			} else {
				match(line, / to /)
				ring = substr(line, 1, RSTART - 1)
				rest = substr(line, RSTART)
			}
		}
		function is_it(i) {
			return i >= nr[ring] ||
				(rests[ring, i] == rest &&
				 (tids[ring, i] == tid ||
				  tid == ",\"tid\":null"))
		}
		NR == FNR {
			take($0)
			tids[ring, nr[ring] + 0] = tid
			rests[ring, nr[ring]++] = rest
			next
		}
		{
			take($0)
			unknown += tid ~ /null/
			for (i = at[ring] + 0; !is_it(i); i++)
				;
			at[ring] = i + 1
			if (i >= nr[ring] && !wrong++)
				print "not sent, or not then: " $0
		}
		END { print FNR " came, " unknown + 0 " of no known thread, " wrong + 0 " wrong"
			exit wrong > 0 }' $1 $2
}

# check_order NAME FRAME: no event may be wrong, duplicated or out of order
check_order()
{
	case $2 in
	rkh) of=$of_rkh ;;
	cobs) of=$of_cobs ;;
	esac
	sed -E "$of" $dir/ref.lines >$dir/sent
	# RKH has no event for the current thread; it comes with other events.
	lines_of $dir/$1.t "/\"event\":\"context\"/d; $of" >$dir/$1.came
	in_order $dir/sent $dir/$1.came >$dir/$1.order
	result $? "$1: all events that arrived are correct and in order" $dir/$1.order
	sed "s/^/# $1: $recorded recorded, /" $dir/$1.order
}

# work STEP...: run the known workload
work()
{
	act "$@" signal 10 5 child 3 thread 3 code $values value $values text $texts
}

# all_of_work NAME: all its events arrived: texts and values, or their numbers
all_of_work()
{
	awk -v texts=$texts -v values=$values '
		/"event":"text".*"text [0-9]+"/ { text++ }
		/"event":"exception".*"major":4660/ { code++ }
		/"event":"mark_value".*"id":77/ { value++ }
		END {
			exit !(text == texts && code == values &&
			       value == values)
		}' $dir/$1.came
}

# ---- tests ----------------------------------------------------------------------------

# both RKH COBS: send the known workload over two lines with these fault options
both()
{
	restart_session "set $events"
	connect rkh rkh "$1" ''
	connect cobs cobs "$2" ''
	usleep 500000
	# Enough events that some are damaged.
	work nap 100 1
	stop_and_check rkh cobs
}

# Without faults each event must arrive.
test_clean()
{
	both '' ''
	for name in rkh cobs; do
		check_order $name $name
		read_numbers $name
		[ "$recorded,0" = "$sent,$shed" ] && [ "$made" = 0 ] &&
			[ "$recorded,0,0" = "$came,$lost,$bad" ]
		result $? "$name: all recorded events arrived" $dir/$name.rx
		all_of_work $name
		result $? "$name: all events of the workload arrived" $dir/$name.order
	done
}

# With faults no wrong event may arrive; cobs counts each missing event.
test_faults()
{
	both '-e 400 -k 400 -r 3' '-e 400 -k 400 -r 4'
	for name in rkh cobs; do
		check_order $name $name
		read_numbers $name
		[ "$made" -gt 20 ] && [ "$bad" -gt 10 ] &&
			[ "$came" -lt "$sent" ] && [ "$came" -gt $((sent / 3)) ]
		result $? "$name: the line damaged frames" $dir/$name.rx
	done
	[ $((came + lost)) = "$sent" ] && [ "$sent,$shed" = "$recorded,0" ]
	result $? "cobs: arrived and lost events add up to those sent"
	# Names count as frames too. A loss at the end is unknown, and 256 lost
	# frames in a row are not noticed.
	read_numbers rkh
	[ $((came + lost)) -ge $((sent - 20)) ]
	result $? "rkh: losses of the line are reported"
}

# On a line that is too slow system calls are shed, everything else arrives.
test_slow()
{
	texts=20 values=2
	restart_session '--no-context set user,exception,syscall'
	connect slow cobs '-s 11520' '--baud 115200'
	for _ in 1 2 3; do
		usleep 300000
		work getppid 700
	done
	values=$((values * 3)) texts=$((texts * 3))
	stop_and_check slow
	check_order slow cobs
	read_numbers slow
	[ $((sent + shed)) = "$recorded" ] && [ "$shed" -gt 1000 ]
	result $? "slow: each event was sent or shed" $dir/slow.tx
	[ "$came,$lost,$bad" = "$sent,$shed,0" ]
	result $? "slow: the receiver counts the shed events as lost"
	all_of_work slow
	result $? "slow: markers and exceptions are not shed"
	calls=$(grep -c sys_enter $dir/slow.came)
	echo "# slow: $calls system calls came"
	[ "$calls" -lt $((recorded / 2)) ]
	result $? "slow: system calls are shed"
	ktape stats --json $dir/slow.t | grep -q "\"lost\":$lost,\"gaps\""
	result $? "slow: the received trace reports the missing events"
}

# stops NAME PART: send SIGINT like Ctrl-C
stops()
{
	read -r pid <"$dir/$1.$2.pid"
	kill -INT "$pid"
	ended "$pid" 20
	result $? "$1: SIGINT ends $2" $dir/$1.$2
	wait_for_part $1 $2
	[ $code = 0 ]
	result $? "$1: $2 exits with 0 after SIGINT" $dir/$1.$2
}

test_signals()
{
	restart_session '--no-context set user,exception'
	connect here cobs "-t last" ''
	connect away cobs "-t last" ''
	work
	# The message of a mark is sent unchanged.
	ktape mark instant 1 last
	wait_for_file $dir/here.a.there
	wait_for_file $dir/away.a.there
	stops here tx
	grep -q 'the stream is complete' $dir/here.tx
	result $? "here: everything was sent before SIGINT" $dir/here.tx
	wait_for_part here line
	wait_for_part here rx
	stops away rx
	read -r pid <$dir/away.line.pid
	kill "$pid"
	wait "$pid"
	read -r pid <$dir/away.tx.pid
	ended "$pid" 20
	result $? "a hangup of the line ends send" $dir/away.tx
	wait_for_part away tx
	[ $code = 1 ]
	result $? "send fails after a hangup" $dir/away.tx
	ktape stop
	wait $reader
	take_reference
	for name in here away; do
		tell $name
		check_order $name cobs
		all_of_work $name
		result $? "$name: what was sent before arrived" $dir/$name.order
	done
	read_numbers here
	[ "$sent,0,0,0" = "$came,$shed,$lost,$bad" ]
	result $? "here: everything sent arrived" $dir/here.rx
	ktape start
}

echo "TAP version 13"
need_ktape
test_clean
rm -rf "${dir:?}"/*
test_faults
rm -rf "${dir:?}"/*
test_signals
rm -rf "${dir:?}"/*
test_slow
echo "1..$n"
