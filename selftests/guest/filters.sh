# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Shared by the tests of what the command does with filters: session 0 records
# what a known workload does, and dump's JSON is counted.

# shellcheck source=selftests/guest/record.sh
. "${0%/*}/record.sh"

# shellcheck disable=SC2034	# of those that include this
tab=$(printf '\t')

# What every test begins with: no filter, these events.
cat >$dir/base <<EOT
events = sys_enter,sys_exit,signal_generate,exception,softirq_entry,irq_handler_entry
context = yes
EOT

# lines_of DUMP: a line a record, "ts=...<TAB>cpu=...<TAB>...fields.nr=39..."
lines_of()
{
	ktape dump --json "$1" 2>$dir/dump.err | json >$dir/lines
}

# recording COMMAND...: what session 0 records meanwhile, as lines
recording()
{
	ktape stop && ktape clear && ktape start && "$@" >$dir/log 2>&1
	status=$?
	ktape stop
	timeout 60 cat /dev/ktape >$dir/stream
	lines_of $dir/stream
	rm -f $dir/stream
	return $status
}

# nr EVENT [PATTERN]: how many of it there are, with the pattern behind its name
nr()
{
	grep -cE "${tab}event=$1${tab}.*${2:-}" $dir/lines
}

# ours EVENT [PATTERN]: how many by the workload
ours()
{
	grep -cE "${tab}comm=act${tab}event=$1${tab}.*${2:-}" $dir/lines
}

# calls NAME, calls_ours NAME: system calls that were entered
calls()
{
	nr sys_enter "fields.nr_name=$1(${tab}|\$)"
}

calls_ours()
{
	ours sys_enter "fields.nr_name=$1(${tab}|\$)"
}

# is EXPECTED GOT WHAT, at_least, at_most: the log has what is not so
is()
{
	[ "$1" = "$2" ] || { echo "$3: $2, not $1"; return 1; }
}

at_least()
{
	[ "$2" -ge "$1" ] || { echo "$3: $2, not $1 or more"; return 1; }
}

at_most()
{
	[ "$2" -le "$1" ] || { echo "$3: $2, not $1 or less"; return 1; }
}

# in_force: the filters that the profile shows
in_force()
{
	ktape profile | grep ' = '
}

# works NAME: do_NAME is recorded, check_NAME looks at it
works()
{
	recording "do_$1" || { echo "do_$1 failed"; cat $dir/log; return 1; }
	"check_$1"
}

# shown TEXT: the lines in force, in the order of kinds; and the same in JSON
shown()
{
	in_force >$dir/now
	[ "$(cat $dir/now)" = "$1" ] ||
		{ echo "in force:"; cat $dir/now; echo "not: $1"; return 1; }
	ktape profile --json | json | tr '\t' '\n' |
		sed -n 's/^filters\.\([a-z]*\)\.value=/\1 = /p' >$dir/json
	cmp $dir/now $dir/json
}

# kept: what is in force is saved, taken away, and loaded again
kept()
{
	ktape profile --save $dir/one || return
	in_force >$dir/before
	ktape profile --load $dir/base || return
	in_force >$dir/now
	[ ! -s $dir/now ] || { echo "not taken away:"; cat $dir/now; return 1; }
	ktape profile --load $dir/one && ktape profile --save $dir/two &&
		cmp $dir/one $dir/two || return
	in_force | cmp - $dir/before
}

# prove NAME SHOWN OPTION...: with these options of profile
prove()
{
	name=$1 want=$2
	shift 2
	ktape profile --load $dir/base && ktape profile "$@" 2>$dir/out &&
		shown "$want" >$dir/out 2>&1
	result $? "$name: it is set and shown" $dir/out
	works "$name" >$dir/out 2>&1
	result $? "$name: it does what it says" $dir/out
	# The debug kernel takes its time: there each is saved and loaded once, those
	# that test_together has, in t_filter_tool.sh, with all others.
	again=works
	if [ "${KTAPE_KERNEL:-}" = debug ]; then
		again=true
		case $name in
		pid | cgroup) ;;
		*) return ;;
		esac
	fi
	{ kept && $again "$name"; } >$dir/out 2>&1
	result $? "$name: saved and loaded it does the same" $dir/out
}

# gone KIND...: --no-KIND takes each away, and nothing else
gone()
{
	for kind; do
		in_force | grep -v "^$kind = " >$dir/before
		ktape profile "--no-$kind" || return
		in_force | cmp - $dir/before || return
	done
}

# hold STEP...: a workload in the background that waits at its first step for
# "go"; its number is in $pid
hold()
{
	rm -f $dir/gate
	act wait $dir/gate "$@" &
	job=$!
	until [ -e $dir/gate ]; do sleep 0.05; done
	# shellcheck disable=SC2034	# of those that include this
	pid=$(cat $dir/gate)
}

# go: it goes on, until it waits again
go()
{
	rm -f $dir/gate
	until [ -e $dir/gate ]; do
		kill -0 "$job" || return
		sleep 0.05
	done
}

# let_go: it ends
let_go()
{
	rm -f $dir/gate
	wait "$job"
}
