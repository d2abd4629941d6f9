# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Helpers for the tests of the command's filters: session 0 records a known
# workload, and the JSON of `ktape dump` is counted.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

tab=$(printf '\t')
# Ends a value, so that a longer number does not match.
# shellcheck disable=SC2034	# of those that include this
end="(${tab}|\$)"

# The state before every test: no filter, these events.
cat >$dir/base <<EOT
events = sys_enter,sys_exit,signal_generate,exception,softirq_entry,irq_handler_entry
context = yes
EOT

# lines_of DUMP: print one line per record,
# "ts=...<TAB>cpu=...<TAB>...fields.nr=39..."
lines_of()
{
	ktape dump --json "$1" 2>$dir/dump.err | json >$dir/lines
}

# Session 0 is running when the module was loaded; it is stopped between two
# recordings.
stopped=

# recording COMMAND...: run COMMAND and print what session 0 records meanwhile,
# as lines
recording()
{
	[ -n "$stopped" ] || ktape stop || return
	ktape clear && ktape start && "$@" >$dir/log 2>&1
	status=$?
	stopped=
	! ktape stop || stopped=yes
	timeout 600 cat /dev/ktape >$dir/stream
	lines_of $dir/stream
	: >$dir/stream
	return $status
}

# tally TERM...: print the number of lines that match each term, in one line,
# and store it in $dir/tally for "read". One awk counts all of them, because
# starting a process is slow on a sanitizer kernel. A term is the name of an
# event and optionally a pattern, preceded by "any" or by the member that names
# the thread: "comm=act sys_enter fields.nr=39".
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

# is, at_least, at_most EXPECTED GOT WHAT: compare two numbers, with a message
# on failure
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

# in_force: print the filters in the profile
in_force()
{
	ktape profile >$dir/profile && grep ' = ' $dir/profile
}

# works NAME: record do_NAME and check the result by check_NAME
works()
{
	recording "do_$1" || { echo "do_$1 failed"; cat $dir/log; return 1; }
	"check_$1"
}

# shown TEXT: check the lines of the filters in force, in the order of kinds,
# and the same in JSON
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

# kept: save the filters that shown() has checked, remove them and load them
# again
kept()
{
	ktape profile --save $dir/one &&
		ktape profile --load $dir/base || return
	now=$(ktape profile) || return
	case $now in
	*" = "*)
		echo "not removed:"
		echo "$now" | grep ' = '
		return 1
		;;
	esac
	ktape profile --load $dir/one && ktape profile --save $dir/two &&
		cmp $dir/one $dir/two || return
	in_force >$dir/now && cmp $dir/now $dir/want
}

# prove NAME SHOWN OPTION...: set a filter by options of `ktape profile`, check
# what is shown and what is recorded
prove()
{
	name=$1 want=$2
	shift 2
	ktape profile --load $dir/base && ktape profile "$@" 2>$dir/out &&
		shown "$want" >$dir/out 2>&1
	result $? "$name: profile sets and shows it" $dir/out
	works "$name" >$dir/out 2>&1
	result $? "$name: it filters the right events" $dir/out
	# The debug kernel is slow: there test_together in t_filter_tool.sh
	# saves and loads all its filters once, instead of each one here.
	again=works
	if [ "${KTAPE_KERNEL:-}" = debug ]; then
		again=true
		case $name in
		pid | cgroup) ;;
		*) return ;;
		esac
	fi
	{ kept && $again "$name"; } >$dir/out 2>&1
	result $? "$name: it filters the same after saving and loading" $dir/out
}

# gone KIND...: --no-KIND removes this kind and nothing else; in the end none is
# left
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

# hold STEP...: start a workload in the background that waits at its first step
# for "go"; $pid is its pid
hold()
{
	rm -f $dir/gate
	act wait $dir/gate "$@" &
	job=$!
	until [ -e $dir/gate ]; do sleep 0.05; done
	# shellcheck disable=SC2034	# of those that include this
	read -r pid <$dir/gate
}

# go: let the workload continue until it waits again
go()
{
	rm -f $dir/gate
	until [ -e $dir/gate ]; do
		kill -0 "$job" || return
		sleep 0.05
	done
}

# let_go: let the workload run to its end
let_go()
{
	rm -f $dir/gate
	wait "$job"
}
