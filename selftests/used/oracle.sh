# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Helpers for the scenes, in the guest: record a span of time with ktape while ftrace's
# hist triggers and the kernel's own counters count the same events.
#
# The counters are read four times: before the recorder starts, when it records, before
# it is stopped, and after it has ended. The number of recorded events lies between the
# two differences, however slow the machine is. selftests/used/judge compares them on the
# host. Each span leaves a folder in /out/spans:
#   looks	lines of "MOMENT WITNESS EVENT NUMBER"
#   log/	the pieces of the log
#   recorder	standard error of the recorder
#   recorded	its exit status
#   work	output of what ran meanwhile
#   rule	what the recording has to be, see judge

tracing=/sys/kernel/tracing
spans=/out/spans
# The pieces are on a disk, so that the recorder uses io_uring and no memory.
disk=/scratch/spans
# Of each CPU.
buffer=${USED_BUFFER:-16M}

# event of ktape	the same for ftrace
counted='
sched_switch	sched/sched_switch
process_fork	sched/sched_process_fork
sched_wakeup_new	sched/sched_wakeup_new
softirq_entry	irq/softirq_entry
sys_enter	raw_syscalls/sys_enter
'
events=sched,process,softirq,sys_enter

# result STATUS NAME [FILE]: print a test line, and why it failed
KTAPE_TESTS=/used	# where record.sh finds result.sh
# shellcheck source=selftests/guest/support/record.sh
. /used/record.sh

# until_true WHAT COMMAND...: wait until the command succeeds. There is no limit: a guest
# that waits for ever is ended by scripts/bounded, and this line then says for what.
until_true()
{
	echo "# waiting until $1"
	shift
	until "$@"; do
		sleep 0.2
	done
}

# put TEXT FILE: write a line to a file of the kernel's, which may refuse it
put()
{
	printf '%s\n' "$1" >"$2"
}

# each_event COMMAND...: run COMMAND KTAPE_EVENT FTRACE_EVENT for each counted event
each_event()
{
	echo "$counted" | while read -r name event; do
		[ -z "$event" ] || "$@" "$name" "$event"
	done
}

set_trigger()
{
	put "$1hist:keys=common_cpu" "$tracing/events/$3/trigger"
}

# read_hist FOLDER MOMENT EVENT FTRACE_EVENT
read_hist()
{
	awk -v name="$3" -v moment="$2" '
		$1 == "Hits:" || $1 == "Dropped:" { hits += $2 }
		END { printf "%s hist %s %.0f\n", moment, name, hits }
	' "$tracing/events/$4/hist" >>"$1/looks"
}

# look FOLDER MOMENT: append all counters to FOLDER/looks. "processes" also counts threads
# that the kernel makes for io_uring, which do not pass sched_process_fork. All that it
# counts are woken as new.
look()
{
	each_event read_hist "$1" "$2"
	awk -v moment="$2" '
		$1 == "ctxt" { print moment, "stat", "sched_switch", $2 }
		$1 == "processes" { print moment, "stat", "sched_wakeup_new", $2 }
		$1 == "softirq" { print moment, "stat", "softirq_entry", $2 }
	' /proc/stat >>"$1/looks"
}

# session: print the number of the recorder's session, if it runs: the only one of mode
# discard
session()
{
	ktape status --json 2>/dev/null |
		sed -n 's/^{"id":\([0-9]*\),.*"mode":"discard","state":"running".*/\1/p'
}

# is_recording: succeed if the recorder's session runs, or the recorder has ended
is_recording()
{
	has_ended || [ -n "$(session)" ]
}

# rings: print the lines of status about the rings of the recorder's session
rings()
{
	ktape status --json "$(session)" | grep '"ring":"event"'
}

# has_ended: succeed if the recorder has ended by itself
has_ended()
{
	! kill -0 "$recorder" 2>/dev/null
}

# count PATTERN: print how many files match
count()
{
	# shellcheck disable=SC2086	# a pattern
	set -- $1
	[ -e "$1" ] || set --
	echo $#
}

# has_pieces N: succeed if the log has N pieces, or will not get more
has_pieces()
{
	has_ended || [ "$(count "$log/*")" -ge "$1" ]
}

# recorder_of FOLDER: become the recorder, in the cgroup $group if it is set, with $options.
# An administrator keeps it from the OOM killer, too.
recorder_of()
{
	[ -z "${group:-}" ] || echo 0 >"$group/cgroup.procs"
	echo -1000 >/proc/self/oom_score_adj
	# shellcheck disable=SC2086	# words
	exec ktape record -q -e "$events" -l "$1/%s.d" -b "$buffer" --rotate 3s ${options:-}
}

# begin NAME RULE [FOLDER]: start the witnesses and the recorder, whose log is in FOLDER
begin()
{
	name=$1
	folder=$spans/$1
	log=${3:-$folder/log}
	mkdir -p "$folder" "$log"
	echo "$2" >"$folder/rule"
	kept=
	each_event set_trigger ''
	look "$folder" outer_begin
	recorder_of "$log" 2>"$folder/recorder" &
	recorder=$!
	until_true "$name is recorded" is_recording
	look "$folder" inner_begin
}

# keep: what has happened until now has to be kept, whatever happens when the log has a
# piece more
keep()
{
	look "$folder" kept
	kept=$(count "$log/*")
}

# end: stop the recorder and the witnesses
end()
{
	look "$folder" inner_end
	kill -INT "$recorder" 2>/dev/null
	wait "$recorder"
	echo $? >"$folder/recorded"
	look "$folder" outer_end
	# Without a piece more that was in rings.
	[ "$(count "$log/*")" -gt "${kept:-0}" ] || sed -i '/^kept /d' "$folder/looks"
	each_event set_trigger '!'
}

# span NAME COMMAND...: record while the command runs, and until there are three pieces
span()
{
	begin "$1" whole
	shift
	"$@" >"$folder/work" 2>&1
	result $? "$name: the work is done" "$folder/work"
	until_true "$name has several pieces" has_pieces 3
	end
}

is_loaded()
{
	grep -q "^$(echo "$1" | tr - _) " /proc/modules
}

# modules NAME...: load modules and what they need. Some of that is faster code for other
# processors, which do not load here and are not missed.
modules()
{
	for module; do
		while read -r file; do
			is_loaded "${file%.ko}" || insmod "/used/modules/$file"
		done <"/used/modules/$module.needs"
		is_loaded "$module" || return
	done
}

mkdir -p $disk $spans
mount -o bind $disk $spans
