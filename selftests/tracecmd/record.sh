# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2016	# probes and triggers have $ of their own
# In the guest: record with trace-cmd, in each way in which its files differ. Each recording is
# a row: name, arguments of trace-cmd record. The files are in /out/dat; what could not be
# recorded is in /out/dat/failed.
set -u
tracing=/sys/kernel/tracing
# Events of many shapes: strings, arrays, symbols, bit masks, signed numbers of all sizes.
some='-e sched -e irq -e timer -e signal -e task'
many=$some
for system in syscalls raw_syscalls kmem block workqueue writeback ext4 net sock tcp rcu module \
	power printk filemap irq_vectors cgroup oom vmscan x86_fpu percpu skb napi migrate \
	compaction exceptions; do
	[ ! -d $tracing/events/$system ] || many="$many -e $system"
done

# Events of our own, of each type that dynamic events have. Kernels refuse those that they do
# not know: each is an event of its own.
dynamic()
{
	for argument in 'dfd=%di:s32' 'name=+0(%si):ustring' 'how=+0(%dx):x64[2]' \
		'bytes=+0(%si):u8[4]' 'flag=%cx:b4@2/32' 'letter=+0(%si):char' \
		'where=%ip:symbol' 'at=%ip:symstr' 'stack=$stack0' 'many=$stack0:x32[3]' \
		'texts=+0(+0(%dx)):string' 'comm=$comm' 'signed=%dx:s8[1]'; do
		echo "p:kinds/open_${argument%%=*} do_sys_openat2 $argument" \
			>>$tracing/kprobe_events || echo "# kprobe: $argument is refused"
	done
	echo 'r:kinds/opened do_sys_openat2 fd=$retval:s64 hex=$retval:x32 small=$retval:u16 tiny=$retval:s8' \
		>>$tracing/kprobe_events || return
	echo 'kinds_wake pid_t who; u64 late; char name[16]' >>$tracing/synthetic_events &&
		echo 'kinds_text int who; char name[]' >>$tracing/synthetic_events || return
	echo 'hist:keys=pid:t0=common_timestamp.usecs' \
		>$tracing/events/sched/sched_waking/trigger || return
	echo 'hist:keys=next_pid:late=common_timestamp.usecs-$t0:onmatch(sched.sched_waking).kinds_wake(next_pid,$late,next_comm)' \
		>$tracing/events/sched/sched_switch/trigger
	echo 'hist:keys=pid:onmax($pid).trace(kinds_text,pid,filename)' \
		>$tracing/events/sched/sched_process_exec/trigger ||
		echo '# synthetic: a text of any length is refused'
}

# What is recorded: files, processes, signals, sockets, timers, markers.
cat >/work.sh <<'EOT'
marker=${1:-/sys/kernel/tracing}
echo "a marker of $$" >"$marker/trace_marker"
printf 'no end of line' >"$marker/trace_marker"
printf 'two\nlines\n' >"$marker/trace_marker"
printf 'quotes " and \\ and tab\t.\n' >"$marker/trace_marker"
printf '\001\000\000\000raw bytes' >"$marker/trace_marker_raw"
printf '\377\377\377\177%s' 0123456 >"$marker/trace_marker_raw"
for i in 1 2 3; do
	echo "line $i" >/scratch/file.$i
	cat /scratch/file.$i /etc/passwd /nothing 2>/dev/null | wc -c
	mv /scratch/file.$i "/scratch/a long name of a file, with spaces $i"
done
sync
rm -f /scratch/a*
sleep 0.02 & kill -USR1 $!
wait
ping -c 1 127.0.0.1 >/dev/null
(echo inner; exit 3)
dd if=/dev/zero of=/scratch/zeroes bs=4k count=16 2>/dev/null
rm /scratch/zeroes
usleep 3000
EOT

# record NAME ARGUMENT...
record()
{
	name=$1
	shift
	if trace-cmd record -q -o "/out/dat/$name.dat" "$@" >"/tmp/log" 2>&1 &&
	   [ -s "/out/dat/$name.dat" ]; then
		echo "recorded $name"	# a guest that prints nothing is ended
		return
	fi
	{ echo "$name: $*"; tail -n 5 /tmp/log; } >>/out/dat/failed
	echo "# $name: not recorded: $(tail -n 1 /tmp/log)"
}

mkdir -p /out/dat
: >/out/dat/failed
dynamic || echo '# dynamic events: refused'
uname -r >/out/dat/kernel
for clock in local global counter uptime perf mono mono_raw boot tai x86-tsc; do
	# shellcheck disable=SC2086	# words
	record "clock-$clock" -C $clock $some sh /work.sh
done
# shellcheck disable=SC2086
{
	record many $many sh /work.sh
	record kinds -e kinds -e synthetic -e sched sh /work.sh
	record stacks -T -e sched -e kmem:kmalloc sh /work.sh
	record date --date $some sh /work.sh
	record date-tsc --date -C x86-tsc $some sh /work.sh
	record ts-offset --ts-offset -12345678901 $some sh /work.sh
	record buffers -e sched -B one -e irq -e timer -B two -e syscalls sh /work.sh /sys/kernel/tracing/instances/two
	record markers -p nop sh /work.sh
	record plain -p nop $some sh /work.sh
	record six --file-version 6 $many sh /work.sh
	record six-buffers --file-version 6 -e sched -B one -e irq -B two -e syscalls sh /work.sh /sys/kernel/tracing/instances/two
	record six-tsc --file-version 6 -C x86-tsc --date $some sh /work.sh
	record seven --file-version 7 --compression none $many sh /work.sh
	record zstd --compression zstd $many sh /work.sh
	record any --compression any $some sh /work.sh
	record zlib --compression zlib $some sh /work.sh
	record function -p function -l 'vfs_*' -l 'ksys_*' -l 'schedule' $some sh /work.sh
	record stack-function -p function -l vfs_open --func-stack sh /work.sh
	record graph -p function_graph -g vfs_read -g vfs_open sh /work.sh
	record graph-depth -p function_graph --max-graph-depth 2 -g do_sys_openat2 sh -c 'cat /etc/passwd'
	record filter -e sched_switch -f 'prev_pid != 0' -e sched_waking sh /work.sh
	record follow -F -c -e sched -e syscalls sh /work.sh
	record userstack -O userstacktrace -e sched:sched_switch sh /work.sh
	record lost -b 8 -s 2000000 $many sh -c 'sh /work.sh; sh /work.sh; sh /work.sh'
	record lost-none -b 40 -s 2000000 -C counter $some -e syscalls sh -c 'sh /work.sh; sh /work.sh'
	record relative -O event-fork -O irq-info -e sched -e task sh /work.sh
	record everything -e all sh -c 'echo all >/sys/kernel/tracing/trace_marker; cat /etc/passwd; sleep 0.01'
}
# What was recorded without a process that reads, and taken out later.
trace-cmd start -q -e sched -e irq -e syscalls -b 64 >/dev/null 2>&1 && sh /work.sh &&
	trace-cmd stop >/dev/null 2>&1 && trace-cmd extract -o /out/dat/extract.dat >/dev/null 2>&1
trace-cmd reset >/dev/null 2>&1
[ -s /out/dat/extract.dat ] || echo extract >>/out/dat/failed
ls -l /out/dat
cat /out/dat/failed
