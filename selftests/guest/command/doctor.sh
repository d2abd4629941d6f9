# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Helpers for the tests of `ktape doctor`. It prints findings, each a line "SEVERITY ID text"
# (ok, note, warning or problem) with perhaps a line "next: COMMAND" below, which would mend it.
# The last line is the most important command.

# shellcheck source=selftests/guest/support/result.sh
. "${0%/*}/result.sh"

: >log
details=log
text=text

# expect_doctor STATUS [OPTION...]: run it, with the output in $text; fails if it ends with
# another status
expect_doctor()
{
	want=$1
	shift
	ktape doctor "$@" >$text 2>&1
	got=$?
	cat $text >>log
	[ $got = "$want" ] || echo "exit status $got, not $want" >>log
	[ $got = "$want" ]
}

# has_finding SEVERITY ID WHAT: $text has such a finding, whose line has the text WHAT; sets
# $next to its command
# shellcheck disable=SC2034	# the caller uses it
has_finding()
{
	next=$(awk -v severity="$1" -v id="$2" -v what="$3" '
		$1 == severity && $2 == id && index($0, what) {
			mine = 1
			found = 1
			next
		}
		/^[a-z]/ { mine = 0 }
		mine && /^ *next: / { sub(/^ *next: /, ""); print }
		END { exit !found }' $text)
}

# last_command: print the command of the last line
last_command()
{
	sed -n '$s/^next: //p' $text
}

# run_last_command: run the command of the last line, as the user would
run_last_command()
{
	last_command >next.sh
	sh ./next.sh >>log 2>&1
}

# change_module FROM TO NEW: copy the module to NEW with a text changed, of the same length
change_module()
{
	at=$(strings -n 6 -t d "$KTAPE_MODULE" |
		awk -v from="$1" '{
			at = $1
			sub(/^ *[0-9]+ /, "")
			if (index($0, from) == 1) {
				print at
				exit
			}
		}')
	cp "$KTAPE_MODULE" "$3"
	[ "${#1}" = "${#2}" ] && [ -n "$at" ] &&
		printf %s "$2" | dd of="$3" bs=1 seek="$at" conv=notrunc 2>/dev/null
}
