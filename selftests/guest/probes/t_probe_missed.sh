#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test hits of run-time probes that the kernel misses: how many there are, that they are
# recorded, and that the absence of the event is not proved while there may be some.

# shellcheck source=selftests/guest/support/result.sh
. "${0%/*}/result.sh"

param=/sys/module/ktape_miss/parameters

# says NAME TEXT: test that "missed_hits" of out, which is JSON, is TEXT, times left out
says()
{
	sed -n 's/.*"missed_hits":\(\[[^]]*\]\).*/\1/p' out |
		sed 's/,"first":"[0-9]*","last":"[0-9]*"//g' >said
	[ "$(cat said)" = "$2" ]
	result $? "$1" said
}

# absent CODE VERDICT EVENT FROM TO TRACE: does verify --absent answer with this exit status
# and verdict?
absent()
{
	ktape verify -q --absent "$3" --from "$4" --to "$5" "$6" >out 2>&1
	[ $? = "$1" ] && grep "^$2: " out >/dev/null
}

# More calls than a return probe can follow, which are 256 at a time.
test_returns()
{
	ktape record -q -e probe_0,probe_1,user -o t sh -c "
		ktape mark text before
		echo 300 >$param/sleepers
		ktape mark text between
		echo 1 >$param/wake
		ktape mark text after" >out 2>&1
	result $? "records" out
	[ "$(ktape dump -e probe_1 t | wc -l)" = 300 ] &&
		[ "$(ktape dump -e probe_0 t | wc -l)" = 256 ]
	result $? "256 of 300 returns are recorded, and all entries"
	ktape verify --json t >out
	says "verify counts the returns that were missed" \
		'[{"event":"probe_0","reason":"returns","count":44}]'
	ktape verify t >out 2>&1
	result $? "they are not wrong" out
	grep '^note loss: probe_0: 44 hits from .* did not reach the tracer: too many calls' out >/dev/null &&
		grep '^hits that did not reach the tracer: probe_0 returns=44$' out >/dev/null
	result $? "verify says when and why" out
	ktape dump -e missed t >out
	[ "$(grep -c ' missed: event=240 reason=1 .* count=44 ' out)" = "$(ktape status | grep -c '^control ')" ]
	result $? "each CPU records them once" out

	from=$(ktape dump -e text t | sed -n '2s/^[^0-9]*\([0-9.]*\).*/\1/p')
	to=$(ktape dump -e text t | sed -n '3s/^[^0-9]*\([0-9.]*\).*/\1/p')
	early=$(ktape dump -e text t | sed -n '1s/^[^0-9]*\([0-9.]*\).*/\1/p')
	absent 1 FOUND probe_0 "$from" "$to" t
	result $? "verify --absent finds one of those that were recorded" out
	absent 5 LOST probe_0 "$early" "$from" t &&
		grep 'hits of its probe did not reach the tracer' out >/dev/null
	result $? "verify --absent does not prove that there was no other one" out
	absent 0 PROVED probe_1 "$from" "$to" t
	result $? "verify --absent proves it of a probe that missed nothing" out
	ktape status >out
	grep '^probe ' out >/dev/null
	[ $? = 1 ]
	result $? "status says nothing of probes that the session does not record" out
	ktape profile or probe_0,probe_1
	ktape status >out
	grep '^probe .*probe_0: 256 hits since it was added, 44 more did not reach' out >/dev/null
	result $? "status says what was missed" out
	ktape status --json | tr '\n' ' ' >out
	says "status --json says it, too" \
		'[ {"event":"probe_0","hits":256,"missed":44}, {"event":"probe_1","hits":300,"missed":0} ]'
	ktape profile andnot probe_0,probe_1
}

# As many calls as a return probe can follow: nothing is missed.
test_none()
{
	ktape record -q -e probe_0,probe_1,user -o u sh -c "
		ktape mark text before
		echo 256 >$param/sleepers
		ktape mark text between
		echo 1 >$param/wake" >out 2>&1
	ktape verify --json u >out
	says "what was missed before a session is not in its trace" '[]'
	from=$(ktape dump -e text u | sed -n '1s/^[^0-9]*\([0-9.]*\).*/\1/p')
	to=$(ktape dump -e text u | sed -n '2s/^[^0-9]*\([0-9.]*\).*/\1/p')
	absent 0 PROVED probe_0 "$from" "$to" u &&
		grep 'calls that were open when the probe was armed return without an event' out >/dev/null
	result $? "the proof of a return probe says which calls it is about" out
	[ "$(ktape dump -e missed u | grep -c ' count=0 ')" = \
		$((2 * $(ktape status | grep -c '^control '))) ]
	result $? "each CPU records that nothing was missed"
}

# Hits inside the handler of another probe.
test_nested()
{
	ktape record -q -e probe_2,user -o v sh -c "
		echo 3 >$param/alone
		ktape mark text before
		echo 5 >$param/nested
		ktape mark text after" >out 2>&1
	[ "$(ktape dump -e probe_2 v | wc -l)" = 3 ]
	result $? "hits inside the handler of another probe are not recorded"
	ktape verify --json v >out
	says "they are counted" '[{"event":"probe_2","reason":"busy","count":5}]'
	from=$(ktape dump -e text v | sed -n '1s/^[^0-9]*\([0-9.]*\).*/\1/p')
	to=$(ktape dump -e text v | sed -n '2s/^[^0-9]*\([0-9.]*\).*/\1/p')
	absent 5 LOST probe_2 "$from" "$to" v
	result $? "their absence is not proved" out
}

# Two sessions that start at different times; the profile of one changes meanwhile.
test_sessions()
{
	ktape start one -e probe_2,user >out 2>&1
	echo 2 >$param/nested
	ktape start two -e user >out 2>&1
	echo 4 >$param/nested
	ktape profile -S two or probe_2
	echo 8 >$param/nested
	ktape stop two
	echo 16 >$param/nested
	ktape stop one
	for s in one two; do
		ktape record -q -S $s -o s$s >out 2>&1
		ktape verify --json s$s >out
		[ $s = one ] && says "session $s" '[{"event":"probe_2","reason":"busy","count":30}]'
		[ $s = two ] && says "session $s" '[{"event":"probe_2","reason":"busy","count":8}]'
	done
	ktape destroy one
	ktape destroy two
}

# The module of the function is unloaded and loaded while a session records.
test_gone()
{
	ktape record -q -e probe_2,user -o w sh -c "
		ktape mark text before
		rmmod ktape_miss
		insmod /tests/ktape_miss.ko
		echo 7 >$param/alone
		ktape mark text after" >out 2>&1
	result $? "records while the module is loaded anew" out
	[ "$(ktape dump -e probe_2 w | wc -l)" = 0 ]
	result $? "the probe does not come back"
	ktape verify --json w >out
	says "nobody knows how often it would have been hit" \
		'[{"event":"probe_2","reason":"detached","count":null}]'
	from=$(ktape dump -e text w | sed -n '1s/^[^0-9]*\([0-9.]*\).*/\1/p')
	to=$(ktape dump -e text w | sed -n '2s/^[^0-9]*\([0-9.]*\).*/\1/p')
	absent 5 LOST probe_2 "$from" "$to" w
	result $? "so its absence is not proved" out
}

insmod /tests/ktape_miss.ko
[ "$(ktape probe add -r -a 1 ktape_sleeper)" = probe_0 ] &&
	[ "$(ktape probe add ktape_sleeper)" = probe_1 ] &&
	[ "$(ktape probe add ktape_inner)" = probe_2 ]
result $? "adds probes"

test_returns
test_none
test_nested
test_sessions
test_gone

exit_code=0
ktape probe remove probe_0 probe_1 probe_2 || exit_code=1
rmmod ktape_miss || exit_code=1
result $exit_code "removes probes and module"
echo "1..$n"
