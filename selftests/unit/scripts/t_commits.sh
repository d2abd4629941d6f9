#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test that scripts/check-commits refuses each kind of message that the rules forbid, names
# what is wrong, and takes messages that keep them.
#
# usage: t_commits.sh FOLDER (not used)
set -u
top=$(cd "${0%/*}/../../.." && pwd) || exit
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-commits.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"

# takes TEXT: the message is accepted, without a word
takes()
{
	printf %b "$1" >message
	"$top/scripts/check-commits" --message "$work/message" >log 2>&1 && [ ! -s log ]
}

# refuses TEXT REASON...: it is refused for these reasons only
refuses()
{
	local text=$1 reason status=0
	shift
	printf %b "$text" >message
	"$top/scripts/check-commits" --message "$work/message" >log 2>&1 || status=$?
	[ $status = 1 ] && [ "$(wc -l <log)" = $# ] || return 1
	for reason; do
		grep -qF "$reason" log || return 1
	done
}

takes 'lib: read names whole\n\nThey were cut at 31 bytes.\n'
result $? "a verb behind the area, and a body"
takes 'session, dev: let a clear wait\n\nWhy.\n# Please enter the message\n'
result $? "two areas; git's own comments are skipped"
takes 'Merge the order of the rooms\n' && takes 'Revert "lib: read"\n\nIt failed.\n'
result $? "merges and reverts have git's words"
takes 'fixup! lib: read names whole\n'
result $? "what is squashed later needs no body"
refuses 'lib: read names that are so long that nobody reads a subject of them\n\nWhy.\n' \
	'characters, 60 are allowed'
result $? "a long subject"
refuses 'lib: names are whole now\n\nWhy.\n' '"names" behind the area is no verb'
result $? "no verb"
refuses 'read names whole\n\nWhy.\n' 'does not begin with "area: "'
result $? "no area"
refuses 'lib: read names whole\n' 'has no body'
result $? "no body"
refuses 'lib: read names whole\n\nSigned-off-by: A Name <a@name.org>\n' 'has no body'
result $? "a body of tags only"
takes 'lib: read names whole\n\nWhy.\n# ------------------------ >8 ------------------------\n-/home/x/y\n'
result $? "the diff of git commit --verbose is not part of it"
refuses 'lib: read names whole\n\nSee /home/someone/notes.\n' 'a path of one machine'
result $? "a path of one machine"
refuses 'Merge branch x of /data/someone/tree\n' 'a path of one machine'
result $? "also in a merge"
takes 'lib: read names whole\n\nAs /proc/kallsyms has them, and/or /usr/lib/modules.\n'
result $? "folders that each machine has"
refuses '# only a comment\n' 'has no subject'
result $? "an empty message"
echo "1..$n"
exit $failed
