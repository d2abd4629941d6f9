# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Helpers for the tests of `ktape top` and `ktape serve`, which print intervals in lines of
# JSON while a session records: sourced.

# has N PATTERN FILE: wait up to a minute until so many whole lines of a file match
has()
{
	i=0
	until [ "$(head -n "$(wc -l <"$3")" "$3" | grep -c "$2")" -ge "$1" ]; do
		i=$((i + 1))
		[ $i -le 600 ] || return
		sleep 0.1
	done
}

# sum NAME: add up a member of all intervals in the file intervals, which json has written
sum()
{
	awk -F '\t' -v name="$1=" '
		{ for (i = 1; i <= NF; i++)
			if (index($i, name) == 1)
				sum += substr($i, length(name) + 1) }
		END { print sum + 0 }' intervals
}
