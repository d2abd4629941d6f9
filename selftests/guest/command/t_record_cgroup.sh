#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test that a recording has the cgroup of each thread: from /proc if the thread was in it
# before the module was loaded, from the module if it is moved or made into it later, and
# otherwise that of the thread that has made it. Also test that it has the boot's id.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

groups=/sys/fs/cgroup/kt

# A process of each kind writes its number to a file, and waits until that is removed.
cat >$dir/job <<EOT
for kind in moved into; do
	if [ \$kind = moved ]; then
		act cgroup $groups/moved wait $dir/moved &
	else
		act into $groups/into wait $dir/into &
	fi
	until [ -e $dir/\$kind ]; do
		sleep 0.1
	done
	cat $dir/\$kind >$dir/\$kind.tid
	rm $dir/\$kind
	wait
done
# A child of a process that was moved.
echo \$\$ >$groups/heir/cgroup.procs
act getppid 1
echo \$\$ >$dir/heir.tid
EOT

# tids_in KIND: print the numbers of the threads that the trace has in that cgroup
tids_in()
{
	sed -n 's/.*"type":"task_cgroup","dead":false,"id":\([0-9]*\),.*"name":"\/kt\/'"$1"'"}}/\1/p' \
		$dir/text | sort -u
}

# in_table TABLE TEXT: an uncompressed table has this text
in_table()
{
	cat "$dir/tables/$1"/*/*/*/*.parquet | tr -c ' -~' '\n' | grep -qF "$2"
}

echo "TAP version 13"
need_ktape
mkdir -p $groups/before $groups/moved $groups/into $groups/heir
act cgroup $groups/before wait $dir/before &
until [ -e $dir/before ]; do
	sleep 0.1
done
insmod "$KTAPE_MODULE"
ktape record -p none -e process -o $dir/t -- sh $dir/job 2>$dir/log
result $? "a recording works" $dir/log
ktape dump --json --all $dir/t >$dir/text 2>>$dir/log

[ "$(tids_in before)" = "$(cat $dir/before)" ]
result $? "a thread that was moved before the module was loaded" $dir/log
[ "$(tids_in moved)" = "$(cat $dir/moved.tid)" ]
result $? "a thread that is moved" $dir/log
[ "$(tids_in into)" = "$(cat $dir/into.tid)" ]
result $? "a thread that clone3() makes in another cgroup" $dir/log
[ "$(tids_in heir)" = "$(cat $dir/heir.tid)" ]
result $? "a child in the cgroup of its maker has no entry" $dir/log
for kind in moved into; do
	grep -q '"type":"task_cgroup","dead":true,"id":'"$(cat $dir/$kind.tid)"',' $dir/text
	result $? "the entry dies with its thread: $kind" $dir/log
done
# The threads that were alive when the recording began are mostly the kernel's.
alive=$(grep -c '"event":"registry","fields":{"type":"thread","dead":false,"id":[1-9].*"died":"0",' $dir/text)
known=$(grep -c '"event":"registry","fields":{"type":"task_cgroup","dead":false' $dir/text)
echo "# $alive entries of living threads, $known of their cgroups"
[ "$known" -ge 10 ]
result $? "threads of the kernel have theirs as well" $dir/log

ktape convert -q --to parquet:dir=$dir/tables,compress=none $dir/t 2>>$dir/log &&
	in_table thread /kt/before && in_table thread /kt/moved &&
	in_table thread /kt/into && in_table thread /kt/heir &&
	in_table process /kt/moved
result $? "the tables have the cgroups" $dir/log
in_table capture "$(cat /proc/sys/kernel/random/boot_id)"
result $? "the tables have the number of the boot" $dir/log
ktape verify $dir/t >$dir/text 2>&1
result $? "ktape verify finds nothing" $dir/text

rm $dir/before
wait
rmmod ktape
rmdir $groups/before $groups/moved $groups/into $groups/heir $groups
echo "1..$n"
