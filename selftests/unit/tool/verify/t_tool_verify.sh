#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_verify.sh FOLDER: verify finds what is wrong, says where, and exits with
# the status for it.
# shellcheck source=selftests/unit/support/small_traces.sh
. "${0%/*}/../../support/small_traces.sh" "$1"

test_verify()
{
	rm -rf t p
	"$make_trace" session t p
	run 0 verify t && grep -Eq \
		'^nothing is wrong: 2 of 2 CPUs, 100 % of [0-9,]+ events accounted for$' text
	result $? "verify: a whole folder"
	run 0 verify p
	result $? "verify: a whole pipe form"
	run 0 verify - <p
	result $? "verify: a pipe"
	run 0 verify --json t && [ "$(head -c 13 text)" = '{"findings":[' ] &&
		grep -q '"wrong":0' text
	result $? "verify: JSON"
	cp -r t cut && rm cut/control*
	run 6 verify cut && grep -q '^cut form: cpu1: .*no control records' text &&
		grep -q '^cut off: 0 of 2 CPUs, ' text && run 6 verify -q cut &&
		run 1 verify --strict cut && run 6 verify --json cut &&
		grep -q '"cut":true' text && grep -q '"judged":{"cpus":0,"of_cpus":2,' text
	result $? "verify: a missing part is a result of its own"
	rm cut/c*
	run 6 verify cut && grep -q '^cut off: 0 of [02] CPUs, ' text
	result $? "verify: without any stream"
	rm -r cut
	run 0 verify --strict t
	result $? "verify --strict: nothing is missing"
	flip t/cpu1 9000
	run 1 verify t && grep -q '^wrong checksum: cpu1: packet [2-4] ' text
	result $? "verify: a bad byte, named with stream and packet"
	truncate -s -100 t/cpu0
	run 1 verify t && grep -q '^wrong form: cpu0: .*ends in the middle of a packet' text
	result $? "verify: a truncated file"
	run 2 verify /no-such-trace && run 2 verify && run 2 verify t p &&
		run 2 verify --from 1.0 t && run 2 verify .
	result $? "verify: no input, or several traces"
	rm -rf t p
	"$make_trace" session t p
	run 3 verify --absent sched_switch --from 0.000001 --to 0.000002 t &&
		grep -q '^NOT-ENABLED: ' text
	result $? "verify: without markers nothing is proved"
	run 2 verify --absent sched_switch t &&
		run 2 verify --absent no_such --from 1.0 --to 2.0 t &&
		run 2 verify --absent sched_switch:no=1 --from 1.0 --to 2.0 t &&
		run 2 verify --absent sched_switch --from 2.0 --to 1.0 t &&
		run 2 verify --absent ledger --from 1.0 --to 2.0 t
	result $? "verify: invalid questions"
	run 2 verify -c 4294967296 --absent sched_switch --from 1.0 --to 2.0 t &&
		says "--cpu 4294967296" &&
		run 2 verify --absent sys_enter:nr=65536 --from 1.0 --to 2.0 t &&
		says "nr of sys_enter is too small to hold 65536" &&
		run 2 verify --absent sys_enter:nr=nothing --from 1.0 --to 2.0 t &&
		run 3 verify --absent sys_enter:nr=openat --from 1.0 --to 2.0 t
	result $? "verify: values that a field can have, and their names"
	rm -rf n
	run 0 convert --to native -o n t && run 0 verify n &&
		grep -q '^note ledger: the trace was made by a conversion' text &&
		run 5 verify --absent sched_switch --from 0.000001 \
			--to 0.000002 n && grep -q '^LOST: ' text
	result $? "verify: a converted trace proves nothing"
	run 0 verify t/cpu0 && run 0 convert --to rkh -o n.rkh t &&
		run 2 verify n.rkh && says "not in the native format"
	result $? "verify: a single stream, and a foreign format"
	rm -rf n n.rkh
}

echo "TAP version 13"
test_verify
echo "1..$n"
exit $failed
