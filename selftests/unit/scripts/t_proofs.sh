#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_proofs.sh FOLDER: every event is in selftests/guest/events.conf, and its
# program mentions the event.
set -u

out=$1
guest=$(cd "$(dirname "$0")/../../guest" && pwd)
n=0
failed=0

result()
{
	n=$((n + 1))
	if [ -z "$1" ]; then
		echo "ok $n - $2"
		return
	fi
	failed=1
	echo "not ok $n - $2"
	printf '%s\n' "$1" | sed 's/^/# /'
}

# file_of NAME: print the path of a program's source, or of a header, in one of the folders
file_of()
{
	local path
	for path in "$guest"/*/"$1" "$guest"/*/"$1.c"; do
		[ ! -e "$path" ] || echo "$path"
	done | grep .
}

# sources PROGRAM: print its source and our headers that it includes
sources()
{
	local file
	file=$(file_of "$1") || return
	cat "$file"
	sed -n 's/^#include "\(kt_.*\.h\)"$/\1/p' "$file" | while read -r h; do
		sources "$h"
	done
}

# word EVENT: print its identifier in a program
word()
{
	case $1 in
	probe_*) echo KTAPE_OP_PROBE ;;
	*) echo "KTAPE_EV_${1^^}" ;;
	esac
}

events=$("$out/command/ktape" list --json | grep -o '"opcode":[0-9]*,"name":"[a-z0-9_]*"' |
	sed 's/.*"name":"\(.*\)"/\1/' | sort)
proofs=$(grep -v '^#' "$guest/events.conf" | sort)

echo "TAP version 13"
echo "1..3"
result "$(diff <(cut -f1 <<<"$proofs") <(echo "$events"))" \
	"events.conf has every event once and no other"
bad=$(while read -r event program; do
	[ "$program" = - ] || file_of "$program" >/dev/null || echo "$event: no $program"
done <<<"$proofs")
result "$bad" "the programs in events.conf exist"
bad=$(while read -r event program; do
	[ "$program" = - ] || sources "$program" | grep -qw "$(word "$event")" ||
		echo "$program does not use $event"
done <<<"$proofs")
result "$bad" "the programs in events.conf use their events"
exit $failed
