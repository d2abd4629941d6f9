# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# Debian's stress-ng works while a log is recorded and rotated.
#
# stress:SECONDS:CLASS	all stressors of a class, one after the other
# stress:SECONDS:A+B+C	these stressors
#
# $scene has the arguments. span, of used/oracle.sh, records a log while a command runs;
# used/judge fails if an event is lost, missing or wrong.

seconds=${scene%%:*}
what=${scene#*:}

# Left out, with the reason:
left_out='
cpu-online	the scene cpus takes CPUs away
opcode		a far return at random: the CPU of QEMU reads the stack as the kernel, and that panics
watchdog	it would reset a machine with a watchdog
'
# Run, but it fails without ktape, too (Debian 12, where nothing else ran):
failures_known='
io-uring	opcode=21 (IORING_OP_STATX), error=2
'
# Enough for all CPUs to have work, and little enough for a guest's memory.
instances=$(nproc)
[ "$instances" -ge 2 ] || instances=2
[ "$instances" -le 8 ] || instances=8

# stressors WHAT: print the names
stressors()
{
	case $1 in
	scheduler | os | vm | network | filesystem | interrupt)
		stress-ng --class "$1?" | sed 's/.*: *//'
		;;
	*) echo "$1" | tr + ' ' ;;
	esac
}

# fails_alone NAME: it has ended with 2, and its messages of failures, one at least, all have
# the text
fails_alone()
{
	local text
	text=$(echo "$failures_known" | sed -n "s/^$1	//p")
	[ "$status" = 2 ] && [ -n "$text" ] && grep -q " fail: .*$text" /tmp/one &&
		! grep ' fail: ' /tmp/one | grep -qv "$text"
}

# one NAME: run it, and count it by what became of it
one()
{
	if echo "$left_out" | grep -q "^$1	"; then
		return
	fi
	# A line tells scripts/guest, which ends a silent guest, that this one lives; and the
	# last line shows where it died.
	echo "# $name: $1" >&3
	stress-ng --"$1" "$instances" -t "$seconds" --temp-path /data --no-rand-seed \
		>/tmp/one 2>&1 3>&-
	status=$?
	echo "$1 exits with $status"
	cat /tmp/one
	# stress-ng itself leaves out what may hang a machine. 3 and 4: the machine lacks
	# something, which it has named.
	! grep -q -e --pathological /tmp/one || status=3
	! fails_alone "$1" || status=3
	case $status in
	0) worked=$((worked + 1)) ;;
	3 | 4) lacking="$lacking $1" ;;
	*) failed="$failed $1:$status" ;;
	esac
}

work()
{
	worked=0 lacking='' failed=''
	for stressor in $(stressors "$what"); do
		one "$stressor"
	done
	echo "$worked stressors worked; lacking something:${lacking:- none}; failed:${failed:- none}"
	[ $worked -gt 0 ] && [ -z "$failed" ]
}

exec 3>&1
# A flight recorder with all events is beside it, whose rings are overwritten.
ktape start beside -m overwrite -b 1M -e all 2>/tmp/beside
result $? "stress: a second session records" /tmp/beside
case $what in
*+*) span stress work ;;
*) span "stress-$what" work ;;
esac
ktape snapshot -o "$folder/beside" beside 2>/tmp/beside && ktape destroy beside
result $? "stress: what the second session has is saved" /tmp/beside
exec 3>&-
tail -n 1 "$folder/work" | sed 's/^/# /'
