#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2086	# no name here has a blank
# The device over serial lines, while it records: what arrives is what another
# reader saw of the same session, each once, unchanged and in order; and all that
# does not is counted as shed or as lost.

# shellcheck source=selftests/guest/record.sh
. "${0%/*}/record.sh"

# Ends of a thread, and switches, are what both forms of frames have in full.
events='sched_switch,sched_wakeup,process,signal,user,exception'
texts=100
values=8

# ---- lines ------------------------------------------------------------------------

# there FILE: it is, or will be soon
there()
{
	for _ in $(seq $((100 * ${KTAPE_SCALE:-1}))); do
		[ ! -e "$1" ] || return 0
		usleep 100000
	done
	return 1
}

# begin PROFILE-OPTIONS: session 0 anew, and who reads it besides
begin()
{
	ktape stop && ktape profile $1 && ktape clear && ktape start
	cat /dev/ktape >$dir/ref &
	reader=$!
}

# connect NAME FRAME LINE-OPTIONS SEND-OPTIONS: from the device to NAME.t
connect()
{
	to=$dir/$1
	line $3 "$to.a" "$to.b" >"$to.line" 2>&1 &
	echo $! >"$to.line.pid"
	there "$to.a"
	reached ktape receive --frame "$2" -o "$to.t" "$to.b" 2>"$to.rx" &
	echo $! >"$to.rx.pid"
	reached ktape send --frame "$2" $4 /dev/ktape "$to.a" 2>"$to.tx" &
	echo $! >"$to.tx.pid"
}

# code NAME PART: wait for it; $code: what it ended with
code()
{
	read -r pid <"$dir/$1.$2.pid"
	wait "$pid"
	code=$?
}

# tell NAME: what they said
tell()
{
	sed "s/^/# $1: /" "$dir/$1.tx" "$dir/$1.line" "$dir/$1.rx"
}

# ends NAME FRAME...: the session stops, which ends all of it with 0
ends()
{
	# What is live is delivered when nothing comes for a while.
	usleep 300000
	ktape stop
	wait $reader
	for name; do
		codes=
		for part in tx line rx; do
			code $name $part
			codes=$codes$code
		done
		tell $name
		[ $codes = 000 ]
		result $? "$name: all end with the session" $dir/$name.rx
	done
	take_reference
}

# numbers NAME: what both ends told, and what the line made
numbers()
{
	read -r sent shed came lost bad made <<-EOT
	$(awk '
		# What is in front of the text; else it is what it was.
		function said(text, before) {
			if (!match($0, "[0-9]+ " text))
				return before
			return substr($0, RSTART) + 0
		}
		# A word: a sum of it and a number is none that ends the shell.
		BEGIN { sent = shed = came = lost = bad = made = "none" }
		/ came, .* went, / { made = $5 + $7 + $9; next }
		{
			sent = said("events sent", sent)
			shed = said("shed", shed)
			came = said("events received", came)
			lost = said("lost in", lost)
			bad = said("bad frames", bad)
		}
		END { print sent, shed, came, lost, bad, made }' \
		$dir/$1.tx $dir/$1.rx $dir/$1.line)
	EOT
}

# ---- what was recorded, and what arrived ---------------------------------------------

# lines_of TRACE [MORE]: events without time and names; more commands for sed.  That
# nobody knows who runs has no place in a frame, as it is so where nothing tells.
lines_of()
{
	ktape dump --json "$1" 2>>$dir/dump.err |
		sed -E '/"ring":"registry"|"event":"(registry|time_extend)"/d
			/"event":"context".*"tid":-1/d
			s/"ts":[0-9]+,//; s/"comm":("([^"\\]|\\.)*"|null),//
			s/,"[a-z_]*_name":"([^"\\]|\\.)*"//g
			'"${2:-}"
}

# take_reference: all has ended, so this is what there is to compare with
take_reference()
{
	lines_of $dir/ref >$dir/ref.lines
	recorded=$(wc -l <$dir/ref.lines)
}

# What Tonbandgeraet has of these events.
of_cobs='s/,"tid":[a-z0-9]+,"event":"sched_switch".*"next_tid":([0-9]+).*/ to \1/
s/,"tid":[a-z0-9]+,"event":"context".*"tid":([0-9]+).*/ to \1/
s/"event":"sched_wakeup.*"tid":([0-9]+).*/wakes \1/
s/"event":"process_fork".*"child_tid":([0-9]+).*/makes \1/
s/"event":"process_exit".*"tid":([0-9]+).*/ends \1/'

# RKH has one ring; who runs is told by other means.
of_rkh='s/"ring":"[a-z]*",//; /"event":"context"/d'

# in_order SENT CAME: what came is among what was sent, of each ring in its order.
# Whose an event is need not be known.
in_order()
{
	awk '
		# Set: ring, tid, rest
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

# right NAME FRAME: nothing is wrong, double or out of order
right()
{
	case $2 in
	rkh) of=$of_rkh ;;
	cobs) of=$of_cobs ;;
	esac
	sed -E "$of" $dir/ref.lines >$dir/sent
	# Who runs is no event of its own there, but comes along with others.
	lines_of $dir/$1.t "/\"event\":\"context\"/d; $of" >$dir/$1.came
	in_order $dir/sent $dir/$1.came >$dir/$1.order
	result $? "$1: what came is what was sent" $dir/$1.order
	sed "s/^/# $1: $recorded recorded, /" $dir/$1.order
}

# work STEP...: what is known of all that is recorded
work()
{
	act "$@" signal 10 5 child 3 thread 3 code $values value $values text $texts
}

# all_of_work NAME: it came; texts and values, or how many of each
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

# both RKH COBS: the known work over two lines, with these faults
both()
{
	begin "set $events"
	connect rkh rkh "$1" ''
	connect cobs cobs "$2" ''
	usleep 500000
	# So many that there are faults among them.
	work nap 100 1
	ends rkh cobs
}

# Without faults each event arrives.
test_clean()
{
	both '' ''
	for name in rkh cobs; do
		right $name $name
		numbers $name
		[ "$recorded,0" = "$sent,$shed" ] && [ "$made" = 0 ] &&
			[ "$recorded,0,0" = "$came,$lost,$bad" ]
		result $? "$name: all that was recorded came" $dir/$name.rx
		all_of_work $name
		result $? "$name: the known work, too" $dir/$name.order
	done
}

# With faults nothing is wrong; cobs counts each event that is missing.
test_faults()
{
	both '-e 400 -k 400 -r 3' '-e 400 -k 400 -r 4'
	for name in rkh cobs; do
		right $name $name
		numbers $name
		[ "$made" -gt 20 ] && [ "$bad" -gt 10 ] &&
			[ "$came" -lt "$sent" ] && [ "$came" -gt $((sent / 3)) ]
		result $? "$name: the line did harm" $dir/$name.rx
	done
	[ $((came + lost)) = "$sent" ] && [ "$sent,$shed" = "$recorded,0" ]
	result $? "cobs: what came and what the line lost is what was sent"
	# Names count, too; nobody knows of the end; 256 at once are none.
	numbers rkh
	[ $((came + lost)) -ge $((sent - 20)) ]
	result $? "rkh: what the line lost is told"
}

# A line that is too slow: system calls go, the rest comes.
test_slow()
{
	texts=20 values=2
	begin '--no-context set user,exception,syscall'
	connect slow cobs '-s 11520' '--baud 115200'
	for _ in 1 2 3; do
		usleep 300000
		work getppid 700
	done
	values=$((values * 3)) texts=$((texts * 3))
	ends slow
	right slow cobs
	numbers slow
	[ $((sent + shed)) = "$recorded" ] && [ "$shed" -gt 1000 ]
	result $? "slow: each event was sent or shed" $dir/slow.tx
	[ "$came,$lost,$bad" = "$sent,$shed,0" ]
	result $? "slow: what was shed is what the other end counts as lost"
	all_of_work slow
	result $? "slow: markers and exceptions are not shed"
	calls=$(grep -c sys_enter $dir/slow.came)
	echo "# slow: $calls system calls came"
	[ "$calls" -lt $((recorded / 2)) ]
	result $? "slow: system calls are"
	ktape stats --json $dir/slow.t | grep -q "\"lost\":$lost,\"gaps\""
	result $? "slow: the trace itself tells what is missing"
}

# stops NAME PART: Ctrl-C
stops()
{
	read -r pid <"$dir/$1.$2.pid"
	kill -INT "$pid"
	ended "$pid" 20
	result $? "Ctrl-C ends $1's $2" $dir/$1.$2
	code $1 $2
	[ $code = 0 ]
	result $? "which is no failure" $dir/$1.$2
}

test_signals()
{
	begin '--no-context set user,exception'
	connect here cobs "-t last" ''
	connect away cobs "-t last" ''
	work
	# A mark's message is sent as it is.
	ktape mark instant 1 last
	there $dir/here.a.there
	there $dir/away.a.there
	stops here tx
	grep -q 'the stream is complete' $dir/here.tx
	result $? "and the stream is complete" $dir/here.tx
	code here line
	code here rx
	stops away rx
	read -r pid <$dir/away.line.pid
	kill "$pid"
	wait "$pid"
	read -r pid <$dir/away.tx.pid
	ended "$pid" 20
	result $? "a line that is hung up ends who sends" $dir/away.tx
	code away tx
	[ $code = 1 ]
	result $? "which is a failure" $dir/away.tx
	ktape stop
	wait $reader
	take_reference
	for name in here away; do
		tell $name
		right $name cobs
		all_of_work $name
		result $? "$name: what was sent before came" $dir/$name.order
	done
	numbers here
	[ "$sent,0,0,0" = "$came,$shed,$lost,$bad" ]
	result $? "here: it is all that was sent" $dir/here.rx
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
