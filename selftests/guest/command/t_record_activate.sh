#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape record --activate`: recorders that were started at different times begin at
# the same moment of the clock, and not before. The test sets the clock, so that nothing
# depends on how long anything takes.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

hour=3600

# until_true COMMAND...: wait until COMMAND succeeds
until_true()
{
	patience=$((300 * ${KTAPE_SCALE:-1}))
	until "$@"; do
		patience=$((patience - 1))
		[ $patience -gt 0 ] || return
		sleep 0.1
	done
}

# announced LOG TIMES: it was said that often when the recording begins
announced()
{
	[ -e "$1" ] && [ "$(grep -c 'recording begins at' "$1")" -ge "$2" ]
}

# announced_at LOG: seconds since the epoch of the last announcement
announced_at()
{
	text=$(sed -n 's/.*recording begins at \([-0-9]*\)T\([0-9:]*\)\.000Z/\1 \2/p' "$1" |
		tail -n 1)
	date -u -d "$text" +%s
}

set_clock()
{
	date -s "@$1" >/dev/null
}

# The command of a recording notes when it runs, and is recorded.
cat >$dir/job <<'EOT'
date +%s >"$1.began"
ktape mark instant 7 "$2"
EOT

# start_waiting NAME ACTIVATE: start a recording that waits
start_waiting()
{
	ktape record -p none -e user -o "$dir/$1" --activate "$2" -- \
		sh $dir/job "$dir/$1" "mark-of-$1" 2>"$dir/$1.log" &
}

# running: print the number of sessions that record
running()
{
	ktape status | grep -c ' running '
}

test_boundary()
{
	# In the middle of an hour both see the same next one.
	next=$(($(date +%s) / hour * hour + hour))
	set_clock $((next - hour / 2))
	before=$(running)
	start_waiting a /1h
	a=$!
	until_true announced $dir/a.log 1
	set_clock $((next - hour / 4))
	start_waiting b /1h
	b=$!
	until_true announced $dir/b.log 1 && until_true announced $dir/a.log 2
	result $? "both wait; one of them saw that the clock was set" $dir/a.log
	[ "$(announced_at $dir/a.log)" = $next ] && [ "$(announced_at $dir/b.log)" = $next ]
	result $? "both wait for the same moment, a multiple of the time" $dir/b.log
	ktape mark instant 7 too-early
	[ ! -e $dir/a ] && [ ! -e $dir/b ] && [ "$(running)" = "$before" ]
	result $? "nothing is recorded before" $dir/a.log
	set_clock $((next - 1))
	wait $a
	first=$?
	wait $b
	second=$?
	[ $first = 0 ] && [ $second = 0 ] && [ "$(cat $dir/a.began)" -ge $next ] &&
		[ "$(cat $dir/b.began)" -ge $next ]
	result $? "both begin when the clock gets there, not before" $dir/a.log
	# Whether one still ran when the other's mark came depends on the machine.
	for name in a b; do
		ktape dump $dir/$name >$dir/text 2>>$dir/$name.log
		grep -q "mark-of-$name" $dir/text && ! grep -q too-early $dir/text
		result $? "$name has what happened from then on" $dir/$name.log
	done
}

test_date()
{
	at=$(($(date +%s) + hour))
	start_waiting c "@$at"
	c=$!
	until_true announced $dir/c.log 1 && [ "$(announced_at $dir/c.log)" = $at ] && [ ! -e $dir/c ]
	result $? "a date is waited for" $dir/c.log
	set_clock $((at + 5))
	wait $c && [ "$(cat $dir/c.began)" -ge $at ] && ktape dump $dir/c | grep -q mark-of-c
	result $? "a clock that is set past the date begins the recording" $dir/c.log
	ktape record -e user -o $dir/late --activate "@$at" 2>$dir/log
	[ $? = 1 ] && grep -q 'has passed' $dir/log && [ ! -e $dir/late ]
	result $? "a date that has passed is refused" $dir/log
	ktape record -e user -o $dir/c --activate /1h 2>$dir/log
	[ $? = 1 ] && grep -q 'is not empty' $dir/log
	result $? "an output that is in use is refused at once" $dir/log
}

test_signal()
{
	ktape record -e user -l $dir/log-d/ --activate /1h --daemon --pidfile $dir/pid \
		--logfile $dir/d.log 2>$dir/log
	result $? "a daemon that waits is ready" $dir/log
	until_true announced $dir/d.log 1
	kill -TERM "$(cat $dir/pid)"
	until_true [ ! -e $dir/pid ] && grep -q 'nothing was recorded' $dir/d.log &&
		[ ! -e $dir/log-d ]
	result $? "a signal ends it, and nothing is left" $dir/d.log
}

echo "TAP version 13"
need_ktape
read -r up _ </proc/uptime
clock=$(date +%s)
test_boundary
test_date
test_signal
read -r now _ </proc/uptime
set_clock $((clock + ${now%.*} - ${up%.*}))
echo "1..$n"
