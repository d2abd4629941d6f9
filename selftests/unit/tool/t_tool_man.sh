#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_man.sh FOLDER: each option of each command is described in its man page, and
# each one that is described there is an option of it.
#
# A man page describes the options that stand on lines of .It Fl.  Commands without a
# page of their own have sections in that of ktape.
man=$(cd "${0%/*}/../../../userspace/man" && pwd) || exit
# shellcheck source=selftests/unit/tool/tool.sh
. "${0%/*}/tool.sh" "$1" || exit 2

# command	page, or page:section; nothing: it has no options but those of all
places='
record		ktape-record.1 ktape.1:Filters
dump		ktape-dump.1
verify		ktape-verify.1
recover		ktape-recover.1
list		ktape.1:list
profile		ktape.1:profile ktape.1:Filters
probe		ktape.1:probe
snapshot	ktape-snapshot.1
trigger		ktape-trigger.1
status		ktape.1:status
start		ktape.1:Sessions ktape.1:Filters
stop
clear
destroy
mark		ktape.1:mark
convert		ktape-convert.1
stats		ktape-stats.1
diff		ktape-diff.1
send		ktape-send.1
receive		ktape-receive.1
'

export LC_ALL=C	# comm(1) wants one order

# Those that every command has, told once; in that order.
common='--device
--help
-h'

# options_of_help COMMAND: sorted
options_of_help()
{
	"$out/user-asan/ktape" "$1" --help |
		sed -n 's/^  \(-.\), \(--[a-z-]*\).*/\1\n\2/p
			s/^      \(--[a-z-]*\).*/\1/p' | sort -u
}

# options_of_place PAGE[:SECTION]: those on lines of .It Fl, where - is before each
# name and "Fl -no- Ns Ar kind" stands for one of each kind
options_of_place()
{
	awk -v section="${1#"${1%%:*}"}" '
	BEGIN { sub(/^:/, "", section); inside = section == "" }
	section != "" && /^\.S[sh] / { inside = $2 == section }
	!inside || !/^\.It Fl / { next }
	{
		option = 0
		for (i = 2; i <= NF; i++) {
			if ($i == "Fl")
				option = 1
			else if ($i == "Ar" || $i == "Cm" || $i == "Ns")
				option = 0
			else if (option && $i != ",")
				print "-" $i
		}
	}' "$man/${1%%:*}" | sort -u
}

# told COMMAND PLACE...: what its places describe, without what only others have
told()
{
	local command=$1 place

	shift
	for place in "$@"; do
		options_of_place "$place"
	done | sort -u
}

test_command()
{
	local command=$1

	shift
	printf '%s\n' "$common" >common
	options_of_help "$command" | comm -23 - common >has
	told "$command" "$@" | comm -23 - common >described
	# Each filter can be taken away, by one option for all.
	if grep -qx -- --no-cpu has; then
		sed -n 's/^--no-/--/p' has | grep -xf has |
			sed 's/^--/--no-/' >away
		comm -23 has away >some
		mv some has
	fi
	: >log
	comm -23 has described | sed "s/^/$command: not in $*: /" >>log
	comm -13 has described | sed "s/^/$command: only in $*: /" >>log
	[ ! -s log ]
	result $? "$command: --help and the man page have the same options"
}

test_commands()
{
	local command list

	while read -r command list; do
		# shellcheck disable=SC2086	# words
		[ -z "$command" ] || test_command "$command" $list
	done <<<"$places"
	# Neither may a new command be left out, nor be in the table alone.
	"$out/user-asan/ktape" help |
		sed -n 's/^  \([a-z]*\) .*/\1/p' |
		grep -vx -e help -e version | sort >commands
	awk 'NF { print $1 }' <<<"$places" | sort | diff commands - >log
	result $? "the table of places has all commands"
}

test_bite()
{
	sed 's/^\.It Fl -shed$/.It Fl -shade/' "$man/ktape-send.1" >ktape-send.1
	man=. options_of_place ktape-send.1 >described
	grep -qx -- --shade described && ! grep -qx -- --shed described &&
		options_of_help send | grep -qx -- --shed &&
		options_of_place ktape-send.1 | grep -qx -- --shed
	result $? "an option with another name is noticed"
}

echo "TAP version 13"
test_commands
test_bite
echo "1..$n"
exit $failed
