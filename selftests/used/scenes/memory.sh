# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# Recorder and a greedy neighbour are in one memory cgroup that is at its limit.
#
# memory:TIMES	how often the limit has to be met
#
# $scene has the arguments. begin NAME RULE and end, of used/oracle.sh, record a log while
# what stands between them happens; used/judge, which has the rules, compares the log with
# the kernel's counts.

group=/sys/fs/cgroup/tight
mkdir -p $group
begin memory whole
put $(($(cat $group/memory.current) + (24 << 20))) $group/memory.max
result $? "memory: the limit is 24 MiB more than the recorder takes" $group/memory.max

# met: succeed if the limit was met often enough
met()
{
	[ "$(awk '$1 == "max" { print $2 }' "$group/memory.events")" -ge "$scene" ]
}

(
	echo 0 >$group/cgroup.procs
	exec stress-ng --vm 2 --vm-bytes 32M --hdd 1 --hdd-bytes 32M --temp-path /data -t 0
) >"$folder/work" 2>&1 &
neighbour=$!
until_true "the limit was met $scene times" met
until_true "memory has several pieces" has_pieces 3
kill -0 "$recorder"
result $? "memory: the recorder lives" "$folder/recorder"
kill -INT $neighbour
wait $neighbour
end
tr '\n' ' ' <$group/memory.events | sed 's/^/# /'
echo
echo max >$group/memory.max
group=
