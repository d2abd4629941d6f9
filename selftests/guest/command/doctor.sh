# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Helpers for the tests of `ktape doctor`.

# shellcheck source=selftests/guest/support/result.sh
. "${0%/*}/result.sh"

: >log
details=log
text=text

# doctor STATUS [OPTION...]: its exit status, what it prints to $text
doctor()
{
	want=$1
	shift
	ktape doctor "$@" >$text 2>&1
	got=$?
	cat $text >>log
	[ $got = "$want" ] || echo "exit status $got, not $want" >>log
	[ $got = "$want" ]
}

# has SEVERITY ID WHAT: a finding; sets $next to its command
# shellcheck disable=SC2034	# the caller uses it
has()
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

# last: print the command of the last line
last()
{
	sed -n '$s/^next: //p' $text
}

# follow: run the command of the last line, as the user would
follow()
{
	last >next.sh
	sh ./next.sh >>log 2>&1
}

# change FROM TO NEW: copy the module to NEW with a text changed, of the same length
change()
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
