#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_man.sh FOLDER: the man pages describe the command as it is: its commands,
# the options of each with their arguments, and its exit statuses, which --help
# prints from the tables of the code. Examples in the pages and in README.md use
# options that exist.
#
# Commands without their own page have sections in ktape.1.
top=$(cd "${0%/*}/../../.." && pwd) || exit
man=$top/userspace/man
here=$top/selftests/unit/tool
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../support/tool.sh" "$1" || exit 2

# command page, or page:section; empty: the command has only the common options
places='
try		ktape.1:try
record		ktape-record.1 ktape.1:Filters
dump		ktape-dump.1
verify		ktape-verify.1
recover		ktape-recover.1
list		ktape.1:list
version		ktape.1:version
profile		ktape.1:profile ktape.1:Filters
probe		ktape.1:probe
snapshot	ktape-snapshot.1
trigger		ktape-trigger.1
status		ktape.1:status
doctor		ktape-doctor.1
start		ktape.1:Sessions ktape.1:Filters
stop
clear
destroy
mark		ktape.1:mark
convert		ktape-convert.1
bundle		ktape-bundle.1
ship		ktape-ship.1
stats		ktape-stats.1
diff		ktape-diff.1
top		ktape-top.1
serve		ktape-serve.1
send		ktape-send.1
receive		ktape-receive.1
completion	ktape.1:completion
'

export LC_ALL=C	# comm(1) needs one collation

# The options that ktape.1 describes once for all commands that have them.
common='^(--help|-h|--device PATH|--color AUTO\|ALWAYS\|NEVER|--no-pager)$'

# options_of_help COMMAND: print its options in --help with their arguments
options_of_help()
{
	"$out/command/ktape" "$1" --help | awk '
		/^  -., --/ || /^      --/ {
			match($0, /--[a-z-]+( [^ ]+)?/)
			split(substr($0, RSTART, RLENGTH), word, " ")
			argument = word[2] == "" ? "" : " " toupper(word[2])
			print word[1] argument
			if (/^  -/)
				print substr($0, 3, 2) argument
		}'
}

# options_of_page PAGE[:SECTION]
options_of_page()
{
	awk -v section="$(sed -n 's/^[^:]*://p' <<<"$1")" \
		-f "$here/man_options.awk" "$man/${1%%:*}"
}

# joined: read options, print each once, with "|" between different arguments
joined()
{
	awk '
		!($1 in seen) { order[++n] = $1; seen[$1] = 1 }
		NF > 1 && index("|" of[$1] "|", "|" $2 "|") == 0 {
			of[$1] = of[$1] (of[$1] == "" ? "" : "|") $2
		}
		END {
			for (i = 1; i <= n; i++)
				print order[i] (of[order[i]] == "" ? "" : " ") \
					of[order[i]]
		}' | grep -vE "$common" | sort
}

# without_no: leave out --no-KIND where --KIND exists: one sentence describes all
without_no()
{
	awk '
		{ line[NR] = $0; has[$1] = 1 }
		END {
			for (i = 1; i <= NR; i++) {
				name = line[i]
				if (!sub(/^--no-/, "--", name) || !(name in has))
					print line[i]
			}
		}'
}

# options_of COMMAND PLACE...: compare
options_of()
{
	local command=$1 place

	shift
	options_of_help "$command" | joined | without_no >has
	for place in "$@"; do
		options_of_page "$place"
	done | joined >described
	comm -23 has described | sed "s/^/$command: not in $*: /"
	comm -13 has described | sed "s/^/$command: only in $*: /"
}

# unknown_in COMMAND: print the options on standard input that it does not have
unknown_in()
{
	sort -u | comm -23 - <({
		options_of_help "$1" | awk '{ print $1 }'
		printf '%s\n' -h --help --device
	} | sort -u) | sed "s/^/$1 has no option /"
}

# synopsis PLACE: print the options in the synopsis of a page or section
synopsis()
{
	awk -v section="$(sed -n 's/^[^:]*://p' <<<"$1")" '
		/^\.S[sh] / {
			inside = section == "" ? $2 == "SYNOPSIS" : $2 == section
		}
		section != "" && /^\.(Pp|Bl)/ { inside = 0 }
		!inside { next }
		{
			for (i = 2; i < NF; i++) {
				if ($i != "Fl" || $(i + 1) !~ /^-?[a-zA-Z]/ ||
				    $(i + 1) ~ /^(Ar|Ns|Op|Cm)$/)
					continue
				if ($(i + 1) ~ /^-/)
					print "-" $(i + 1)
				else
					for (k = 1; k <= length($(i + 1)); k++)
						print "-" substr($(i + 1), k, 1)
			}
		}' "$man/${1%%:*}"
}

# examples FILE: print command and option for each option of "ktape COMMAND" in its
# literal blocks
examples()
{
	awk '
		/^\.Bd -literal/ { literal = 1; next }
		/^\.Ed/ { literal = 0; next }
		FILENAME ~ /\.md$/ { literal = /^    / || /^\t/ }
		!literal { next }
		{
			sub(/ #.*/, "")
			gsub(/\\e$/, "")
			if (open && /^>? /)
				$0 = "ktape " open " " $0
			gsub(/[;|&()`]|\$\(/, " ; ")
			open = command = ""
			for (i = 1; i <= NF; i++) {
				if ($i == ";" || $i == "--")
					command = ""
				else if ($i == "ktape")
					command = $(++i)
				else if (command != "" && $i ~ /^--?[a-zA-Z]/) {
					option = $i
					sub(/=.*/, "", option)
					print command, option
				}
			}
			if (/\\$/ || ended)
				open = command
		}' "$1"
}

# statuses_of_help COMMAND: print the exit statuses in --help, or those of all
# commands
statuses_of_help()
{
	local text

	text=$("$out/command/ktape" "$1" --help |
		sed -n '/exit status: /,$p')
	[ -n "$text" ] || text=$("$out/command/ktape" help | grep '^exit status:')
	tr '\n' ' ' <<<"$text" | grep -oE '[:,] +[0-9] ' | grep -o '[0-9]' | sort -u
}

# statuses_of_page PAGE
statuses_of_page()
{
	awk '/^\.Sh / { inside = $0 ~ /EXIT STATUS/ } inside' "$man/$1" |
		grep -oE '^\.It [0-9]$|(^|; )[0-9]:' | grep -o '[0-9]' | sort -u
}

test_command()
{
	local command=$1 place

	shift
	options_of "$command" "$@" >log
	[ ! -s log ]
	result $? "$command: --help and the man page have the same options"
	for place in "$@"; do
		synopsis "$place"
	done | unknown_in "$command" >log
	[ ! -s log ]
	result $? "$command: the synopsis has only its options"
	place=${1:-ktape.1}
	diff <(statuses_of_help "$command") \
		<(statuses_of_page "${place%%:*}") >log
	result $? "$command: --help and the man page have the same exit statuses"
}

# common_options: print those that ktape.1 does not describe
common_options()
{
	local word

	for word in help device color no-pager; do
		awk '/^\.Sh / { inside = $2 == "DESCRIPTION" } inside' \
			"$man/ktape.1" | grep -qE "^\.(It )?Fl -$word( |$)" ||
			echo "ktape.1 does not describe --$word"
	done
}

# commands_of_page PAGE: print the commands in the list of ktape.1
commands_of_page()
{
	awk '/^\.Sh / { inside = $2 == "DESCRIPTION" }
		/^\.S[sh] / && $2 == "Times" { exit }
		inside && /^\.It Cm / { print $3 }' "$1" | sort
}

test_commands()
{
	local command list

	while read -r command list; do
		# shellcheck disable=SC2086	# words
		[ -z "$command" ] || test_command "$command" $list
	done <<<"$places"
	common_options >log
	[ ! -s log ]
	result $? "ktape(1) describes the common options"
	# The table must have every command, and no other.
	"$out/command/ktape" help |
		sed -n 's/^  \([a-z]*\) .*/\1/p' | sort >commands
	awk 'NF { print $1 } END { print "help" }' <<<"$places" | sort |
		diff commands - >log
	result $? "the table of places has all commands"
	commands_of_page "$man/ktape.1" | diff commands - >log
	result $? "the list of commands in ktape(1) has all commands"
}

# pages FILE...: print the ktape pages that are referred to, as NAME.SECTION
pages()
{
	sed -nE 's/.*\.Xr ((lib)?ktape[-a-z]*) ([1-8]).*/\1.\3/p' "$@" | sort -u
}

test_pages()
{
	(cd "$man" && printf '%s\n' *.[1-8]) | sort >files
	pages "$man"/*.[1-8] | comm -23 - files | sed 's/^/no page /' >log
	awk '/^\.Sh / { inside = $0 ~ /SEE ALSO/ } inside' "$man/ktape.1" | pages |
		comm -13 - <(grep -vx ktape.1 files) |
		sed 's/^/SEE ALSO of ktape(1) lacks /' >>log
	[ ! -s log ]
	result $? "pages that are referred to exist, and ktape(1) refers to all"
}

# check_examples FILE...
check_examples()
{
	local command

	cat "$@" >/dev/null || return
	for file; do
		examples "$file"
	done | sort -u >used
	cut -d' ' -f1 used | sort -u | while read -r command; do
		if ! grep -qx -- "$command" commands; then
			[[ $command == *[!a-z]* ]] || echo "no command $command"
			continue
		fi
		sed -n "s/^$command //p" used | grep -E -- '^--|^-.$' |
			unknown_in "$command"
	done
}

test_examples()
{
	check_examples "$man"/*.[1-8] "$top/README.md" >log
	[ ! -s log ] && [ "$(wc -l <used)" -ge 40 ]
	result $? "examples use options that exist"
}

# changes FILE SED-SCRIPT: make a changed copy of a page, and read that one
changes()
{
	mkdir -p changed
	cp "$top/userspace/man"/* changed
	sed -i "$2" "changed/$1"
	! cmp -s "changed/$1" "$top/userspace/man/$1" || echo "changes nothing: $2"
	man=changed
}

test_bite()
{
	local original=$man

	{
		changes ktape-send.1 's/^\.It Fl -shed$/.It Fl -shade/'
		options_of send ktape-send.1 | grep -c . | grep -qx 2 ||
			echo "a renamed option is not found"
		changes ktape-dump.1 's/^\(\.It Fl g , Fl -group Ar\) list/\1 class/'
		options_of dump ktape-dump.1 | grep -q -- '--group CLASS' ||
			echo "a renamed argument is not found"
		changes ktape-dump.1 's/^\.It Fl -tid Ar list/.It Fl -tid/'
		options_of dump ktape-dump.1 | grep -q -- '--tid LIST' ||
			echo "a lost argument is not found"
		changes ktape-snapshot.1 's/^\.Op Fl f$/.Op Fl F/'
		synopsis ktape-snapshot.1 | unknown_in snapshot | grep -q . ||
			echo "an unknown option of a synopsis is not found"
		changes ktape-verify.1 's/^\.It 5$/.It 6/'
		! diff -q <(statuses_of_help verify) \
			<(statuses_of_page ktape-verify.1) >/dev/null ||
			echo "a wrong exit status is not found"
		changes ktape.1 's/^\.It Fl -no-pager/.It Fl -pager/'
		common_options | grep -q -- --no-pager ||
			echo "a missing common option is not found"
		changes ktape.1 '/^\.It Cm snapshot/d'
		! commands_of_page changed/ktape.1 | diff -q commands - >/dev/null ||
			echo "a missing command is not found"
		changes ktape-record.1 's/--rotate 100M/--rotat 100M/'
		check_examples changed/ktape-record.1 | grep -q -- --rotat ||
			echo "an unknown option of an example is not found"
	} >log 2>&1
	man=$original
	[ ! -s log ]
	result $? "a page that differs is detected"
}

echo "TAP version 13"
test_commands
test_pages
test_examples
test_bite
echo "1..$n"
exit $failed
