#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape probe`: probes are added, listed, recorded by name, and removed.

# shellcheck source=selftests/guest/support/result.sh
. "${0%/*}/result.sh"

# exits STATUS NAME COMMAND...
exits()
{
	want=$1 name=$2
	shift 2
	"$@" >out 2>&1
	[ $? = "$want" ]
	result $? "$name" out
}

insmod /tests/ktape_target.ko

ktape list >out
grep '^  probe_0 .* no .*\[a free slot' out >/dev/null
result $? "list shows a free slot as free" out

[ "$(ktape probe add --args 4 ktape_target)" = probe_0 ] &&
	[ "$(ktape probe add -r -a 1 ktape_target)" = probe_1 ]
result $? "add prints the name"

{
	ktape completion --list probes
	ktape completion --list recordable | grep '^probe_'
	ktape completion --after probe remove
} >out
sort out | uniq -c | awk '{ print $1, $2, $3 }' >said
printf '%s\n' '1 :options ' '3 probe_0 ktape_target' '3 probe_1 ktape_target' |
	cmp -s - said
result $? "completion offers the probes that there are" said

exits 1 "no such function" ktape probe add ktape_no_such_function
exits 1 "a refused function" ktape probe add exc_int3
exits 2 "too many arguments" ktape probe add -a 5 ktape_target
exits 2 "more than one value" ktape probe add -r -a 2 ktape_target
exits 2 "no function" ktape probe add
exits 2 "no action" ktape probe
exits 2 "remove what is no probe" ktape probe remove sched_switch
exits 1 "remove what is not there" ktape probe remove probe_5

ktape record -q -e probe_0,probe_1 -o t -- \
	sh -c 'echo 3 >/sys/module/ktape_target/parameters/calls' >out 2>&1
result $? "records" out

ktape dump -e probe_0,probe_1 t >out
[ "$(grep -c ' probe_0: .*0x2222222222222222.*0x3333.*0xfffffffffffffffc' out)" = 3 ]
result $? "dump shows the arguments" out
[ "$(grep -c ' probe_1: .*0x2222222222225551' out)" = 1 ] &&
	[ "$(grep -c ' probe_1: ' out)" = 3 ]
result $? "dump shows the results" out

ktape probe list >out
grep 'probe_0 .*ktape_target .*entry .*args 4, hits 3, missed 0' out >/dev/null &&
	grep 'probe_1 .*ktape_target .*return .*args 1, hits 3' out >/dev/null &&
	[ "$(wc -l <out)" = 2 ]
result $? "list" out

ktape probe list --json >out
[ "$(grep -c '"symbol":"ktape_target","offset":0,' out)" = 2 ] &&
	grep '"return":true,"args":1,"hits":3,"missed":0' out >/dev/null
result $? "list as JSON" out

ktape profile or probe_1
exits 1 "remove what a session has" ktape probe remove probe_1
ktape profile andnot probe_1
exits 0 "remove" ktape probe remove probe_0 probe_1
[ -z "$(ktape probe list)" ]
result $? "del removes the probes"

rmmod ktape_target
result $? "the probed module can be unloaded"
echo "1..$n"
