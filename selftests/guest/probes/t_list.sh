#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape list`: all events, which of them this kernel has, why the others
# are missing, and that a test proves each available one.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

tests=${0%/*}

# Minimum numbers, without class control and slots for probes:
# kernel	events	available
wanted='
stock	80	70
debug	80	70
notp	80	9
*	80	70
'

# each_event PROGRAM: run an awk program on each event; f["name"] is a member
each_event()
{
	awk -F '\t' -v OFS=' ' -v dir="$dir" '
		function load(  i, n) {
			split("", f)
			for (i = 1; i <= NF; i++) {
				n = index($i, "=")
				f[substr($i, 1, n - 1)] = substr($i, n + 1)
			}
		}
		{ load() }
		'"$1" $dir/events
}

# none NAME CONDITION...: no event may fulfil any of these awk conditions. All
# conditions are checked in one run, because loading the events takes most of
# the time.
none()
{
	begin=$((n + 1))
	each_event "$(
		i=$begin
		while [ $# -gt 1 ]; do
			: >"$dir/which$i"
			echo "$2 { print f[\"name\"], f[\"reason\"] >(dir \"/which$i\") }"
			i=$((i + 1))
			shift 2
		done
	)" && looked=0 || looked=1
	while [ $# -gt 1 ]; do
		[ "$looked" = 0 ] && [ ! -s "$dir/which$((n + 1))" ]
		result $? "$1" "$dir/which$((n + 1))"
		shift 2
	done
}

test_json()
{
	ktape list --json >$dir/list 2>$dir/err
	result $? "list --json works" $dir/err
	json <$dir/list >$dir/events 2>$dir/err
	result $? "list --json prints JSON" $dir/err
	# One line per event, so that a shell can parse it.
	sed -e '/^[][]$/d' -e 's/,$//' $dir/list | json 2>$dir/err |
		cmp -s - $dir/events
	result $? "each line of list --json is JSON" $dir/err
}

# Since 6.4 thermal_zone_trip has its prototype in a header that is not installed.
test_members()
{
	none "each event has a name, a class and help" \
		'f["name"] !~ /^[a-z0-9_]+$/ || f["class"] == "" || f["help"] == ""' \
		"each has an opcode, once" \
		'f["opcode"] + 0 < 1 || f["opcode"] + 0 > 254 || codes[f["opcode"]]++' \
		"each has its name alone" 'names[f["name"]]++' \
		"priorities are 0 to 3" 'f["priority"] !~ /^[0-3]$/' \
		"whether it is available is known" \
		'f["available"] != "true" && f["available"] != "false"' \
		"one that is not available says why" \
		'f["available"] == "false" && f["reason"] !~ /[a-z]/' \
		"no tracepoint of this kernel has an unknown prototype" \
		'{ bad = f["reason"] ~ /prototype/
		for (i = 0; ("sources[" i "].name") in f; i++)
			if (f["sources[" i "].reason"] ~ /prototype/ &&
			    f["sources[" i "].name"] != "thermal_zone_trip")
				bad = 1 }
		 bad' \
		"one that is says nothing, but the log what restricts it" \
		'f["available"] == "true" &&
			(f["reason"] != "") != (f["name"] == "console")' \
		"each field has a type and help" \
		'{ bad = 0
		for (i = 0; ("fields[" i "].name") in f; i++)
			if (f["fields[" i "].type"] !~ /^[A-Za-z0-9]+$/ ||
			    f["fields[" i "].help"] == "")
				bad = 1 }
		 bad' \
		"a source that is missing says why, one that is there nothing" \
		'{ bad = 0
		for (i = 0; ("sources[" i "].name") in f; i++)
			if ((f["sources[" i "].available"] == "true") != \
			    (f["sources[" i "].reason"] == ""))
				bad = 1 }
		 bad'
}

test_numbers()
{
	read -r _ events available <<-EOT
	$(echo "$wanted" | awk -v k="$KTAPE_KERNEL" '
		$1 == k || ($1 == "*" && !found) { line = $0; found = $1 == k }
		END { print line }')
	EOT
	each_event '
		f["class"] == "control" || f["class"] == "kprobe" { next }
		{ all++ }
		f["available"] == "true" { here++ }
		f["available"] == "false" {
			print "# not here: " f["name"], f["reason"]
		}
		END { print all + 0, here + 0 >(dir "/numbers") }'
	read -r all here <$dir/numbers
	echo "# $all events, $here available"
	[ "$all" -ge "$events" ]
	result $? "there are at least $events events"
	[ "$here" -ge "$available" ]
	result $? "at least $available of them are available"
}

# The table must say the same as the JSON.
test_text()
{
	ktape list >$dir/text
	awk '/^  [a-z]/ && $1 != "event" { print $1, $3 }' $dir/text | sort >$dir/a
	awk -F '\t' '{
		name = have = ""
		for (i = 1; i <= NF; i++) {
			if ($i ~ /^name=/)
				name = substr($i, 6)
			if ($i ~ /^available=/)
				have = $i ~ /true/ ? "yes" : "no"
		}
		print name, have
	}' $dir/events | sort >$dir/b
	cmp $dir/a $dir/b >$dir/err 2>&1
	result $? "the table of list has the same events as its JSON" $dir/err
	awk '/^[a-z]/ { class = $1 }
		/^  [a-z]/ && $1 != "event" { print class $1 }' $dir/text |
		sort >$dir/a
	each_event '{ print f["class"] ":" f["name"] }' | sort >$dir/b
	cmp $dir/a $dir/b >$dir/err 2>&1
	result $? "each event is below its class" $dir/err
	grep -E '^  [a-z_0-9]+ +[0-9]+ no ' $dir/text >$dir/a
	ktape list --unavailable | grep -E '^  [a-z].* (yes|no|[?]) ' >$dir/b
	cmp $dir/a $dir/b >$dir/err 2>&1 && [ -s $dir/b ]
	result $? "--unavailable shows only events that cannot be recorded" $dir/err
	# A glob does not reach the slots of probes that are not in use.
	each_event 'f["available"] == "false" && f["class"] != "kprobe" { n++ }
		END { print n + 0 }' >$dir/missing
	read -r missing <$dir/missing
	ktape record -q -e 'all,probe_0' -d 10ms -o $dir/all 2>$dir/err
	grep -q "^ktape: probe_0 cannot be recorded on this system: a free slot" \
		$dir/err && [ "$(grep -c 'cannot be recorded' $dir/err)" = 1 ]
	result $? "record: a line for an event that was named" $dir/err
	ktape record -q -e '*' -d 10ms -o $dir/glob 2>$dir/err
	grep 'available here\|cannot be recorded' $dir/err >$dir/said
	[ "$missing" -gt 0 ] && [ "$(wc -l <$dir/said)" = 1 ] && grep -q \
		"^ktape: $missing of [0-9]* events are not available here: ktape list --unavailable$" \
		$dir/said
	result $? "record: one line for the $missing of a glob" $dir/err
}

# Exceptions have many sources, each of which a kernel may lack.
test_sources()
{
	each_event '
		BEGIN {
			n = split("die panic mark_victim aer_event" \
				" mc_event mce_record sched_process_hang" \
				" error_report_end thermal_zone_trip" \
				" block_rq_error net_dev_xmit_timeout" \
				" scsi_dispatch_cmd_error" \
				" scsi_dispatch_cmd_timeout", wanted, " ")
		}
		f["name"] == "exception" {
			for (i = 0; ("sources[" i "].name") in f; i++)
				got[f["sources[" i "].name"]]
		}
		END {
			for (i = 1; i <= n; i++)
				if (!(wanted[i] in got))
					print wanted[i]
		}' >$dir/err && [ ! -s $dir/err ]
	result $? "list --json has all sources of exceptions" $dir/err
	ktape list --fields | grep ' from die  *yes' >/dev/null
	result $? "the table of list has all sources of exceptions"
}

# programs: print the test programs of all guests; this guest may have a share
# only
programs()
{
	cat "$tests/programs" 2>/dev/null && return
	for path in "$tests"/t_*; do
		[ ! -x "$path" ] || echo "${path##*/}"
	done
}

# Each available event must be in events.conf, with a program that exists.
test_proofs()
{
	grep -v '^#' "$tests/events.conf" >$dir/proofs
	programs >$dir/programs
	each_event '
		BEGIN {
			while ((getline line <(dir "/programs")) > 0)
				there[line]
			while ((getline line <(dir "/proofs")) > 0) {
				split(line, word, /[ \t]+/)
				program[word[1]] = word[2]
			}
			without = dir "/without"
			none = dir "/none"
			printf "" >without
			printf "" >none
		}
		{ have[f["name"]] }
		f["available"] != "true" && f["class"] != "kprobe" { next }
		!(program[f["name"]] in there) {
			print f["name"] ": no program (\"" \
				program[f["name"]] "\")" >without
		}
		END {
			for (name in program)
				if (!(name in have))
					print name ": there is no such event" >none
		}' && [ ! -s $dir/without ]
	result $? "each available event has a test program in events.conf" $dir/without
	[ -e $dir/none ] && [ ! -s $dir/none ]
	result $? "each event in events.conf with a program exists" $dir/none
}

# A kernel without tracepoints: the events that remain, and why the others are
# missing.
test_without()
{
	none "what comes from programs and modules is available" \
		'(f["class"] == "user" || f["class"] == "exception") &&
		 f["available"] != "true"' \
		"what comes from the kernel is not" \
		'f["available"] == "true" &&
		 f["class"] !~ /^(user|exception|control|stack)$/' \
		"what is missing is missing for want of tracepoints" \
		'f["available"] == "false" && f["class"] != "kprobe" &&
		 f["reason"] !~ /without tracepoints/' \
		"probes are missing for want of kprobes" \
		'f["class"] == "kprobe" && f["reason"] !~ /kprobes/'
}

test_unloaded()
{
	rmmod ktape
	ktape list --json | json >$dir/events
	[ -s $dir/events ]
	result $? "list --json prints the events without the module"
	none "without the module nothing is known of them" \
		'f["available"] != "null" || f["reason"] == ""'
}

echo "TAP version 13"
need_ktape
test_json
test_members
test_numbers
test_text
test_sources
test_proofs
[ "$KTAPE_KERNEL" != notp ] || test_without
test_unloaded
echo "1..$n"
