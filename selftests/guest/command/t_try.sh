#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape try` and `ktape record -o FILE.html`: the module is loaded, three findings
# with their times are printed, and the pages are whole.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"
mkdir -p $dir && cd $dir || exit
# The small tool of boards has no viewer in it.
if ktape try -d 100ms -o none.html 2>&1 | grep -q 'format html is not built in'; then
	echo "1..0 # SKIP the tool has no format html"
	exit
fi

# is_page FILE: it begins and ends as a page, and has statistics and a ledger
is_page()
{
	[ "$(head -n 1 "$1")" = '<!DOCTYPE html>' ] &&
		[ "$(tail -n 1 "$1")" = '</html>' ] &&
		grep -q 'data-kind="attach" data-name="stats"' "$1" &&
		grep -q 'data-kind="attach" data-name="ledger"' "$1" &&
		grep -q 'data-kind="about"' "$1"
}

ktape try -d 100ms -o none.html >out 2>log
[ $? = 1 ] && grep -q 'next: ' log && [ ! -e none.html ] && [ ! -e none.html.trace ]
result $? "without a module that can be loaded, the doctor's next command is printed" log

cp "$KTAPE_MODULE" ktape.ko
# Threads that wait for each other for a CPU, system calls, soft interrupts of timers.
(while :; do echo | cat | cat >/dev/null; done) &
load=$!
(while :; do :; done) &
spin=$!
ktape try -d 1s -o try.html >out 2>log
result $? "try loads ./ktape.ko and records" log
grep -q 'loaded the module' log && [ -e /dev/ktape ]
result $? "it says that it loaded the module" log
cat out
[ "$(grep -c '^  longest ' out)" = 3 ] &&
	[ "$(grep -cE '^     at [0-9]+\.[0-9]{9} on CPU [0-9]+$' out)" = 3 ] &&
	grep -qE '^  longest wait for a CPU: .* waited [0-9.]+ .*; (.* ran there|the CPU was idle) for ' out &&
	grep -qE '^  longest interrupt: (device interrupt( [^ ]+)? \(irq [0-9]+\)|soft interrupt [A-Z_]+|inter-processor interrupt [^ ]+|timer interrupt \(vector [0-9]+\)) took [0-9.]+ ' out &&
	grep -qE '^  longest system call or disk request: (system call|disk request on) [^ ]+ took ' out
result $? "without options there are three findings, each with its time and CPU" out
is_page try.html && [ ! -e try.html.trace ] && grep -q '^page: try.html ' out
result $? "the page is whole, and the trace was removed" out

ktape try -d 1s -e syscall -o calls.html >out 2>log
[ "$(grep -c '^  longest ' out)" = 1 ] &&
	grep -qE '^  longest system call or disk request: system call [^ ]+ took .* in ' out
result $? "with system calls alone there is one finding" out

ktape try -d 10000s -o early.html >out 2>log &
try=$!
i=0
until [ -s early.html.trace/cpu0 ] || [ $i -ge 600 ]; do
	i=$((i + 1))
	sleep 0.1
done
kill -TERM $try
wait $try && is_page early.html && [ ! -e early.html.trace ] && grep -q '^page: early.html ' out
result $? "a signal ends the recording, and the page is of what was recorded" log

ktape record -o cmd.html -- true 2>log && is_page cmd.html && [ ! -e cmd.html.trace ] &&
	grep -q 'page: cmd.html' log
result $? "record -o FILE.html -- COMMAND" log

mkdir -p full.html.trace && echo 1 >full.html.trace/mine
ktape record -q -d 100ms -o full.html 2>log
[ $? = 1 ] && [ -e full.html.trace/mine ] && [ ! -e full.html ]
result $? "a folder that is in the way is not touched" log
kill $load $spin
wait
rmmod ktape
echo "1..$n"
