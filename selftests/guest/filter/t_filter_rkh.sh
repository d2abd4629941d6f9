#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2317	# functions are called by their names
# Test `ktape profile --suppress` and `--pass`, the filters as the tracer RKH has them: by
# group (class), event, object (thread) and signal. Also test sessions that are configured
# by a file.

# shellcheck source=selftests/guest/filter/filters.sh
. "${0%/*}/filters.sh"

# ---- --suppress and --pass -------------------------------------------------------

# The workload: calls and signals, then the next step of the process that hold() has started.
do_mix()
{
	act getppid 30 signal 10 20 signal 12 7 && go
}

# check_mix CALLS SIGNALS-10 SIGNALS-12 HELD: record do_mix and compare the numbers of
# recorded events; HELD is the number of calls by the workload that hold() has started
check_mix()
{
	recording do_mix || { echo "failed"; cat $dir/log; return 1; }
	tally "tid=$pid sys_enter .*=getpgid" \
		"comm=act sys_enter fields.nr_name=getppid$end" \
		"comm=act signal_generate fields.sig=SIGUSR1" \
		"comm=act signal_generate fields.sig=SIGUSR2"
	read -r object calls usr1 usr2 <$dir/tally
	is "$4" "$object" "calls of the object" && is "$1" "$calls" "calls" &&
		is "$2" "$usr1" "SIGUSR1" && is "$3" "$usr2" "SIGUSR2"
}

# Changes of the filters, one after the other; only those with + run on a sanitizer
# kernel. Each row: the expected numbers for check_mix, and the options.
test_steps()
{
	# One test for each row, and one more.
	steps=14
	[ "${KTAPE_SCALE:-1}" = 1 ] || steps=7
	# shellcheck disable=SC2046	# words
	hold $(for _ in $(seq $steps); do echo getpgid 40 wait $dir/gate; done)
	ktape profile --load $dir/base
	while read -r mark calls usr1 usr2 held options; do
		[ "${KTAPE_SCALE:-1}" = 1 ] || [ "$mark" = + ] || continue
		words=$options
		[ "$words" = "${options%PID}" ] || words=${options%PID}$pid
		# shellcheck disable=SC2086	# words
		{ ktape profile $words &&
			check_mix "$calls" "$usr1" "$usr2" "$held"; } >$dir/out 2>&1
		result $? "$options" $dir/out
	done <<-EOT
	-	30 20 7 40	--pass event:sys_enter
	+	0 20 7 0	--suppress event:sys_enter
	+	30 20 7 40	--pass event:sys_enter
	-	30 0 0 40	--suppress group:signal
	-	30 20 7 40	--pass group:signal
	+	30 0 7 40	--suppress signal:USR1
	-	30 0 0 40	--suppress signal:USR2
	+	30 20 7 40	--pass signal:all
	-	30 20 7 0	--suppress object:PID
	-	30 20 7 40	--pass object:PID
	+	0 0 0 40	--suppress object:all --pass object:PID
	-	0 0 0 0	--suppress object:PID
	+	30 20 7 40	--pass object:all
	EOT
	ktape profile --suppress "object:$pid" &&
		shown "pid = $pid:except" >$dir/out 2>&1 && kept >$dir/out 2>&1
	result $? "a filter that suppresses one object is saved and loaded" $dir/out
	check_mix 30 20 7 0 >$dir/out 2>&1
	result $? "the loaded filter suppresses the object" $dir/out
	let_go
	ktape profile --load $dir/base
}

test_wrong()
{
	bad=0
	for what in group:no event:no object:x object:0 object:-1 signal:no \
		thing:1 event group:; do
		ktape profile --suppress $what >$dir/out 2>&1
		[ $? = 2 ] || { bad=1; echo "# not refused: $what"; }
	done
	result $bad "unknown filters are refused"
	ktape profile --pid 4194304:except >$dir/out 2>&1
	[ $? = 1 ] && grep -q 'no such thread' $dir/out
	result $? "a thread that does not exist is refused" $dir/out
}

# ---- a session from a file ----------------------------------------------------------

cat >$dir/session <<'EOT'
events = sys_enter,sys_exit,signal_generate
context = yes
mode = overwrite
buffer = 512K
block = 32K
syscall = getppid
signal = SIGUSR2
uid = 65534
rate = sys_exit=10
EOT

# Print the bytes of the largest packet of a stream, which is a block. Its size in bits is
# at byte 152 of its header (packet_bits of struct ktape_block).
print_largest_packet()
{
	at=0 most=0 size=$(stat -c %s "$1")
	while [ $at -lt "$size" ]; do
		bits=$(($(od -An -tu8 -j $((at + 152)) -N 8 "$1")))
		[ "$bits" -gt 0 ] || return 1
		[ $((bits / 8)) -le $most ] || most=$((bits / 8))
		at=$((at + bits / 8))
	done
	echo $most
}

test_config()
{
	ktape record -q --config $dir/session -o $dir/t -- act cpu 0 \
		getpgid 40 uid 65534 getppid 5000 getuid 30 signal 10 5 \
		signal 12 6 >$dir/out 2>&1
	result $? "a session is configured by a file" $dir/out
	lines_of $dir/t
	tally "comm=act sys_enter fields.nr_name=getppid$end" \
		"any sys_enter fields.nr_name=(getpgid|getuid|setuid)$end" \
		"comm=act sys_exit" \
		"any signal_generate fields.sig=SIGUSR1" \
		"comm=act signal_generate fields.sig=SIGUSR2" \
		"any session fields.mode=0"
	read -r getppid others exits usr1 usr2 overwrite <$dir/tally
	{
		is 5000 "$getppid" "getppid" &&
			is 0 "$others" "others" &&
			at_least 10 "$exits" "exits" &&
			at_most 4000 "$exits" "exits" &&
			is 0 "$usr1" USR1 && is 6 "$usr2" USR2
	} >$dir/out
	result $? "the file's events and filters are in force" $dir/out
	{
		at_least 1 "$overwrite" "overwrite" &&
			is 32768 "$(print_largest_packet $dir/t/cpu0)" "bytes of a block"
	} >$dir/out
	result $? "the file's mode and block size are in force" $dir/out
	ktape record --config $dir/session --save $dir/saved >$dir/out 2>&1 &&
		cmp $dir/session $dir/saved >$dir/out 2>&1
	result $? "the saved session equals the file" $dir/out
	rm -rf $dir/t
}

# Options on the command line override the file.
test_options()
{
	ktape record -q --config $dir/session -m discard --no-uid \
		--syscall getpgid --no-rate -o $dir/t -- act cpu 0 getpgid 40 \
		getppid 30 >$dir/out 2>&1
	lines_of $dir/t
	tally "comm=act sys_enter fields.nr_name=getpgid$end" \
		"any sys_enter fields.nr_name=getppid$end" \
		"any session fields.mode=1"
	read -r getpgid getppid discard <$dir/tally
	{
		is 40 "$getpgid" "getpgid" && is 0 "$getppid" "getppid" &&
			at_least 1 "$discard" "discard"
	} >>$dir/out
	result $? "options override the file" $dir/out
	rm -rf $dir/t
}

test_duration()
{
	{ cat $dir/session; echo "duration = 1s"; } >$dir/short
	read -r before _ </proc/uptime
	timeout 600 ktape record -q --config $dir/short -o $dir/t >$dir/out 2>&1
	result $? "the file's duration ends the recording" $dir/out
	read -r after _ </proc/uptime
	[ $((${after%.*} - ${before%.*})) -ge 1 ]
	result $? "the recording does not end before its duration"
	rm -rf $dir/t
	{ cat $dir/session; echo "buffers = 4M"; } >$dir/wrong
	ktape record -q --config $dir/wrong -o $dir/t >$dir/out 2>&1
	[ $? = 1 ] && grep -q 'wrong:10: .*buffers' $dir/out && [ ! -e $dir/t ]
	result $? "an error in the file is reported with its line" $dir/out
}

echo "TAP version 13"
need_ktape
test_steps
test_wrong
test_config
test_options
test_duration
echo "1..$n"
