#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Record real activity with all events on, and find at least one event of each
# class in a trace that `ktape verify` finds nothing wrong with. It is the one test
# that runs on every kernel of the matrix.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

tests=${0%/*}
mkdir -p $dir

insmod "$tests/kt_cause.ko"
result $? "the module that causes events loads"
# Where the kernel has no kprobes, the list says so below.
ktape probe add kt_cause_timer_fn >$dir/probe 2>&1
# Now, because the probe goes with the module.
ktape list --json >$dir/list

cat >$dir/load <<EOT
$tests/workload 2 /scratch
for what in timer work tasklet irq_work call call_single mutex sleep; do
	echo "\$what 3" >/sys/module/kt_cause/parameters/run
done
$tests/act disk 3 signal 10 3 cpu 1 cpu 0
echo '<1>ktape smoke' >/dev/kmsg	# with quiet, higher levels reach no console
ktape mark instant 7
ktape mark exception _TRACE_HW_SEVERITY3 0x1234 1
rmmod kt_cause
EOT

# Some kernels have no tracepoints of page faults. mm_page_alloc, which is not part of
# "*", then stands for the class. Nor is the kernel's log part of it.
events='*,console,probe_0'
grep -q '"name":"page_fault_user".*"available":true' $dir/list ||
	events=$events,mm_page_alloc
ktape record -q -e "$events" --stack sched_switch -b 4M -o /scratch/smoke -- \
	sh $dir/load >$dir/log 2>&1
result $? "the activity is recorded" $dir/log

ktape verify /scratch/smoke >$dir/verify 2>&1
result $? "verify finds nothing wrong" $dir/verify
sed 's/^/# /' $dir/verify

ktape dump --json /scratch/smoke >$dir/dump 2>$dir/err
result $? "dump reads it" $dir/err
# How often each event was recorded. No awk here, which takes minutes for it.
grep -o '"event":"[^"]*"' $dir/dump | cut -d '"' -f 4 | sort | uniq -c >$dir/counts

# One line a class: its name, how many of its events the kernel has, how many were
# recorded, and why it has none.
sed -n 's/.*"name":"\([^"]*\)","class":"\([^"]*\)".*"available":\([a-z]*\),.*"reason":\(null\|"[^"]*"\),.*/\1 \2 \3 \4/p' \
	$dir/list | awk -v counts=$dir/counts '
	BEGIN {
		while ((getline line <counts) > 0) {
			split(line, f)
			found[f[2]] = f[1]
		}
	}
	{
		if (!($2 in available))
			order[++n] = $2
		available[$2] += $3 == "true"
		recorded[$2] += found[$1]
		if ($3 != "true") {
			why[$2] = $0
			sub(/^[^"]*"/, "", why[$2])
			sub(/"$/, "", why[$2])
		}
	}
	END {
		for (i = 1; i <= n; i++)
			print order[i], available[order[i]], \
				recorded[order[i]], why[order[i]]
	}' >$dir/classes
while read -r class available found why; do
	if [ "$available" = 0 ]; then
		skip "class $class" "$why"
		continue
	fi
	[ "$found" -gt 0 ]
	result $? "class $class is recorded"
	echo "# $class: $found"
done <$dir/classes

[ "$(wc -l <$dir/classes)" -ge 20 ]
result $? "the list names the classes" $dir/classes
rm -rf /scratch/smoke
echo "1..$n"
