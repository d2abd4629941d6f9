#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape serve` with a session: the stream of its live page has the counts of `ktape
# status`, follows what happens, ends with the session, and leaves nothing behind.
#
# The stream has a line "data: {...}" for each interval. Helpers are in intervals.sh: has()
# waits until a file has so many lines that match, sum() adds up a member of all intervals.
# The program json prints each line of JSON as NAME=VALUE, with tabs between.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"
# shellcheck source=selftests/guest/support/intervals.sh
. "${0%/*}/intervals.sh"
mkdir -p $dir && cd $dir || exit
dynamic=${0%/*}/dynamic
if [ ! -e "$dynamic/ktape" ]; then
	echo "1..0 # SKIP no dynamic ktape with libmicrohttpd for this machine"
	exit
fi
# The loader finds libraries only in folders that it knows.
mkdir -p /lib64
ln -sf "$dynamic"/ld-linux* /lib64
ln -sf "$dynamic"/*.so* /lib

marks=300
user='"classes":{[^}]*"user":'	# of an interval with marks

# begin WORDS: start serve, and set its address
begin()
{
	rm -f address
	mkfifo address
	"$dynamic/ktape" serve "$@" . >address 2>serve.log &
	serve=$!
	read -r url <address
}

# stop_serve: end serve, and return its exit status
stop_serve()
{
	kill -TERM $serve
	wait $serve
}

# follow PATH: read a stream, into the file stream
follow()
{
	: >stream
	wget -q -O stream "$url$1" 2>wget.log &
	reader=$!
	has 1 '^data: ' stream
}

# number PATTERN: print the number of the last interval whose line matches
number()
{
	sed -n "/^data: .*$1/s/^data: {\"number\":\([0-9]*\),.*/\1/p" stream | tail -n 1
}

# get PATH: print an answer
get()
{
	wget -q -O - "$url$1"
}

# counted: print what the event rings got by ktape status
counted()
{
	ktape status --json | json | tr '\t' '\n' | awk -F '[].=[]+' '
		$1 != "rings" { next }
		$3 == "ring" { event = $4 == "event" }
		event && $3 == "emitted" { sum += $4 }
		event && ($3 == "filtered" || $3 == "lost") { sum -= $NF }
		END { print sum + 0 }'
}

test_index()
{
	ktape record -q -d 200ms -o "a trace" -- true 2>log
	begin --live
	expr "$url" : 'http://127\.0\.0\.1:[0-9]*/[0-9a-f]\{32\}/$' >log
	result $? "serve prints its address" serve.log
	get '' >page 2>log && grep -q "<td class=name>a trace<td" page && grep -q "<td>guest<td>$(uname -r)<td>" page &&
		grep -q 'href=live' page
	result $? "the index has the trace with its host and kernel, and the session" page
	get stats/a%20trace >got 2>log && ktape stats "a trace" >want 2>>log && cmp got want >>log 2>&1
	result $? "statistics of the trace are those of the command" log
	root=${url%/*/}/
	! wget -q -O - "$root" >page 2>log && ! grep -q trace page && grep -q 403 log
	result $? "without the token nothing is answered" log
}

test_live()
{
	follow session
	result $? "intervals come while the session records" stream
	before=$(number '')
	i=0
	while [ $i -lt $marks ]; do
		echo "mark $i" >/dev/ktape_mark
		i=$((i + 1))
	done
	has 1 "$user" stream && [ "$(number "$user")" -gt "$before" ]
	result $? "the stream follows: an interval after number $before has marks"
	ktape stop 2>log
	wait $reader
	result $? "the stream ends when the session stops" wget.log
	sed -n 's/^data: //p' stream | json >intervals 2>log && [ "$(grep -c '^data: ' stream)" -ge 2 ]
	result $? "each event is a line of JSON" log
	! grep -vE '^(data: .*|:|)$' stream >log
	result $? "the stream has nothing else" log
	# The rings of events have other records, too: ktape status counts all names, of
	# those about the session only some, and no extensions of times.
	ktape snapshot -o snap 2>log
	ktape dump --json --all snap 2>>log | grep '"ring":"event"' >records
	names=$(grep -c '"event":"registry"' records)
	times=$(grep -c '"event":"time_extend"' records)
	about=$(grep -cE '"event":"(context|tracer)"' records)
	all=$(counted) shown=$(($(sum events) - $(sum classes.control)))
	echo "$shown events; by status $all, with $names names, without $times times, up to $about about the session" >said
	sed 's/^/# /' said
	[ $((shown + names)) -le "$all" ] && [ "$all" -le $((shown + names + about)) ] &&
		[ $((shown + names + times + about)) = "$(wc -l <records)" ] &&
		[ "$(sum lost)" = 0 ] && [ $shown -gt $marks ]
	result $? "the intervals have the events that ktape status counts" said
	[ "$(sum classes.user)" = $marks ]
	result $? "and all $marks marks"
}

# The stream of a stopped session says so, and has the same intervals.
test_stopped()
{
	get session >again 2>log
	result $? "a stopped session can be read again" log
	grep -A 1 '^event: note' again | grep -q '^data: ktape: .* is stopped, .*(ktape start)'
	result $? "the stream says that it is stopped" again
	sed -n 's/,"tracer_ns":[^,]*//; s/^data: {/{/p' stream >a
	sed -n 's/,"tracer_ns":[^,]*//; s/^data: {/{/p' again | cmp - a >log 2>&1
	result $? "it has the same intervals" log
}

# A trace that grows is followed from its begin.
test_grows()
{
	ktape start 2>log
	ktape record -q -o grows 2>log &
	recorder=$!
	until [ -s grows/metadata ]; do sleep 0.1; done
	follow follow/grows
	result $? "a trace is followed while it is recorded" stream
	before=$(number '')
	echo "last" >/dev/ktape_mark
	has 1 "$user" stream && [ "$(number "$user")" -gt "$before" ]
	result $? "what is recorded after interval $before comes"
	kill -INT $recorder
	wait $recorder
	kill $reader
	wait $reader 2>/dev/null
}

test_leaves()
{
	follow session
	stop_serve
	result $? "SIGTERM ends serve while a stream is read" serve.log
	! [ -s serve.log ]
	result $? "serve printed no message" serve.log
	wait $reader
	begin --live -S none
	! get session >stream 2>log && grep -A 1 '^event: note' stream | grep -q '^data: ktape: .*none'
	result $? "a session that does not exist is named in the stream" stream
	stop_serve
	ktape stop 2>log
	rmmod ktape 2>log
	result $? "no reader is left: the module can be unloaded" log
	begin --live
	! get session >stream 2>log && grep -A 1 '^event: note' stream | grep -q '^data: ktape: /dev/ktape: '
	result $? "without the module, the stream says what is missing" stream
	stop_serve
}

echo "TAP version 13"
need_ktape
insmod "$KTAPE_MODULE" profile=none size=4M
ktape profile user sched_switch >log 2>&1
test_index
test_live
test_stopped
test_grows
test_leaves
echo "1..$n"
