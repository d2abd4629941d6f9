# SPDX-License-Identifier: GPL-2.0-only
# What tests in a bare Debian share: sourced after lib.sh and debian.sh.
# shellcheck shell=bash
# shellcheck disable=SC2034	# failed is the caller's exit status
# shellcheck disable=SC2154	# out is of lib.sh, archive_keys of debian.sh

test_name=${0##*/}
logs=$out/log
mkdir -p "$logs"
failed=0

# The folder of all chroots of this run, which is removed at the end.
base=
remove_base()
{
	[ -z "$base" ] || rm -rf --one-file-system "$base"
}
trap remove_base EXIT
trap 'exit 130' INT TERM HUP

make_base()
{
	base=$(mktemp -d "${TMPDIR:-/var/tmp}/ktape-$test_name.XXXXXX")
	chmod 755 "$base"
}

# try NAME COMMAND...: print one test line, and the end of its output after a
# failure
try()
{
	local name=$1 log status=0 begin=$SECONDS
	shift
	log=$logs/$test_name-$(tr -c 'a-z0-9\n' - <<<"$name").log
	"$@" >"$log" 2>&1 || status=$?
	echo "# $test_name $name: $((SECONDS - begin)) s, log in $log"
	if [ "$status" = 0 ]; then
		echo "ok $test_name $name"
		return
	fi
	tail -n 40 "$log" | sed 's/^/# /'
	echo "not ok $test_name $name (status $status)"
	failed=1
	return 1
}
