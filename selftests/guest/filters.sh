# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Shared by the tests of what the command does with filters: session 0 records
# what a known workload does, and dump's JSON is counted.

# shellcheck source=selftests/guest/record.sh
. "${0%/*}/record.sh"

tab=$(printf '\t')
# Behind a value that is not to go on.
# shellcheck disable=SC2034	# of those that include this
end="(${tab}|\$)"

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

# It runs when the module was loaded, and is stopped between two recordings.
stopped=

# recording COMMAND...: what session 0 records meanwhile, as lines
recording()
{
	[ -n "$stopped" ] || ktape stop || return
	ktape clear && ktape start && "$@" >$dir/log 2>&1
	status=$?
	stopped=
	! ktape stop || stopped=yes
	timeout 60 cat /dev/ktape >$dir/stream
	lines_of $dir/stream
	: >$dir/stream
	return $status
}

# tally TERM...: how many lines there are of each, for "read" in $dir/tally, as
# numbers in one line.  On a sanitizer kernel a process is dear: one counts all.
# A term is an event's name and maybe a pattern behind it; before them "any", or
# the member that says whose event it is: "comm=act sys_enter fields.nr=39".
tally()
{
	counts='' numbers='' i=0
	for term; do
		i=$((i + 1))
		who=${term%% *}
		pattern=${term#"$who" }
		event=${pattern%% *}
		pattern=${pattern#"$event"}
		who="$tab$who$tab(.*$tab)?"
		[ "$who" != "${tab}any$tab(.*$tab)?" ] || who=$tab
		counts="$counts
			/${who}event=$event$tab.*${pattern# }/ { n[$i]++ }"
		numbers="$numbers, n[$i] + 0"
	done
	awk "$counts
		END { print ${numbers#, } }" $dir/lines >$dir/tally
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
	ktape profile >$dir/profile && grep ' = ' $dir/profile
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
	printf '%s\n' "$1" >$dir/want
	ktape profile >$dir/profile || return
	ktape profile --json | json >$dir/json
	awk -F "$tab" '
		FILENAME ~ /want$/ { want = want $0 "\n" }
		FILENAME ~ /profile$/ && / = / { text = text $0 "\n" }
		FILENAME ~ /json$/ {
			for (i = 1; i <= NF; i++)
				if (sub(/^filters\./, "", $i) &&
				    sub(/\.value=/, " = ", $i))
					json = json $i "\n"
		}
		END {
			if (text == want && json == want)
				exit
			printf "in force:\n%sin JSON:\n%s", text, json
			printf "not:\n%s", want
			exit 1
		}' $dir/want $dir/profile $dir/json
}

# kept: what shown() has seen in force is saved, taken away, and loaded again
kept()
{
	ktape profile --save $dir/one &&
		ktape profile --load $dir/base || return
	now=$(ktape profile) || return
	case $now in
	*" = "*)
		echo "not taken away:"
		echo "$now" | grep ' = '
		return 1
		;;
	esac
	ktape profile --load $dir/one && ktape profile --save $dir/two &&
		cmp $dir/one $dir/two || return
	in_force >$dir/now && cmp $dir/now $dir/want
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

# gone KIND...: --no-KIND takes each away, and nothing else; none is left
gone()
{
	before=$dir/before after=$dir/after
	in_force >$before
	for kind; do
		ktape profile "--no-$kind" &&
			ktape profile >$dir/profile || return
		awk -v kind="$kind" '
			FILENAME ~ /profile$/ {
				got = got (/ = / ? $0 "\n" : "")
				next
			}
			$1 != kind { want = want $0 "\n" }
			END {
				printf "%s", got
				exit got != want
			}' $before $dir/profile >$after ||
			{ echo "without $kind:"; cat $after; return 1; }
		set_aside=$before before=$after after=$set_aside
	done
	[ ! -s $before ]
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
	read -r pid <$dir/gate
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
