#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_man.sh FOLDER: each option of each command is in its man page, and each
# option in the man page exists.
#
# Options in a man page are those on lines of .It Fl. Commands without their own
# page have sections in ktape.1.
man=$(cd "${0%/*}/../../../userspace/man" && pwd) || exit
# shellcheck source=selftests/unit/tool/tool.sh
. "${0%/*}/tool.sh" "$1" || exit 2

# command page, or page:section; empty: the command has only the common options
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

export LC_ALL=C	# comm(1) needs one collation

# The common options of all commands, in sorted order.
common='--device
--help
-h'

# options_of_help COMMAND: print its options in --help, sorted
options_of_help()
{
	"$out/user-asan/ktape" "$1" --help |
		sed -n 's/^  \(-.\), \(--[a-z-]*\).*/\1\n\2/p
			s/^      \(--[a-z-]*\).*/\1/p' | sort -u
}

# options_of_place PAGE[:SECTION]: print the options on lines of .It Fl, where -
# precedes each name and "Fl -no- Ns Ar kind" stands for one option per kind
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

# told COMMAND PLACE...: print the options that its places describe
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
	# One --no-KIND option stands for all of them.
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
	# The table must have every command, and no other.
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
	result $? "a renamed option in a man page is detected"
}

echo "TAP version 13"
test_commands
test_bite
echo "1..$n"
exit $failed
