# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# The free memory is in single pages, so that hardly a block of a ring is one piece of it.
# The guest test t_fragment looks at each such ring; here a log that rotates is recorded
# from them.
#
# span, of used/oracle.sh, records a log while a command runs;
# used/judge fails if an event is lost, missing or wrong.

ready()
{
	[ -e /tmp/fragment.ready ] || ! kill -0 $fragment
}

min_free=$(cat /proc/sys/vm/min_free_kbytes)
echo 8192 >/proc/sys/vm/min_free_kbytes
fragment /tmp/fragment.ready 2>/tmp/fragment.err &
fragment=$!
until_true "the memory is in pieces" ready
[ -e /tmp/fragment.ready ]
result $? "fragment: $(cat /tmp/fragment.ready)" /tmp/fragment.err

# in_pieces: print how many rings of the recorder's session have blocks in pieces
in_pieces()
{
	rings | grep -c '"in_pieces":[1-9]'
}

work()
{
	echo "$(in_pieces) rings are in pieces"
	[ "$(in_pieces)" -gt 0 ] || return
	for _ in $(seq 20); do
		act getppid 5000 child 50
	done
}

span fragment work
rm -f /tmp/fragment.ready
wait $fragment
echo "$min_free" >/proc/sys/vm/min_free_kbytes
