# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Helpers for the tests of `ktape record`: compare what was recorded with what
# recorder and kernel counted.

# shellcheck source=selftests/guest/support/result.sh
. "${KTAPE_TESTS:-${0%/*}}/result.sh"
dir=/tmp/test

# Functions for awk, about a line of `ktape dump --json`: field(NAME) is the number in a
# field, or 0; is_ledger() tells whether it is a ledger record of an event ring, written when
# the session stopped; expected() is the number of events that the ring should then hold.
# shellcheck disable=SC2016	# awk's dollar
json='
	function field(name,  text) {
		if (!match($0, "\"" name "\":\"?[0-9]+"))
			return 0
		text = substr($0, RSTART, RLENGTH)
		sub(/.*:"?/, "", text)
		return text + 0
	}
	function is_ledger() {
		return index($0, "\"event\":\"ledger\"") &&
			/"fields":.*"ring":(0|"event").*"moment":0[,}]/
	}
	function expected() {
		return field("emitted") - field("filtered") -
			field("full") - field("nested") - field("too_big") -
			field("shed") - field("rate")
	}
'

# records TRACE [MOST]: count the events of a trace, without the checkpoint of
# the registry and without time extensions, and stop after MOST
records()
{
	ktape dump --json "$1" 2>>$dir/dump.err |
		grep -m "${2:-1000000000}" -vcE \
			'"ring":"registry"|"event":"time_extend"'
}

# summary LOG: print the number of events in the recorder's summary
summary()
{
	sed -n 's/.*ktape: \([0-9]*\) events, .* lost, .*/\1/p' "$1"
}

# ledger TRACE: print four numbers: how many events the event rings should hold by their
# ledger records, how many they hold, the number of these records, and the count of
# records(), because reading a trace twice takes long
ledger()
{
	ktape dump --json "$1" 2>>$dir/dump.err | awk "$json"'
		index($0, "\"event\":\"time_extend\"") { next }
		!index($0, "\"ring\":\"registry\"") { found++ }
		index($0, "\"ring\":\"event\"") { held++ }
		is_ledger() {
			said += expected()
			nr++
		}
		END { print said + 0, held + 0, nr + 0, found + 0 }'
}

# agrees NAME TRACE LOG: the reader, the recorder and the kernel must count the
# same
agrees()
{
	: >$dir/dump.err
	read -r said held nr found <<-EOT
	$(ledger "$2")
	EOT
	summed=$(summary "$3")
	echo "# $1: $summed recorded, $found read; event rings: $said by $nr ledger records, $held read"
	[ "$nr" -gt 0 ] && [ "$said" = "$held" ] && [ "$held" -ge 1000 ] &&
		[ "$found" = "$summed" ]
	result $? "$1: reader, recorder and ledger agree" $dir/dump.err
}

# need_ktape: end the test if the command is missing. The suite installs the
# command, so there it must work; under another runner it may be missing.
need_ktape()
{
	why=$(ktape version 2>&1) && return
	if [ -z "${KTAPE_KERNEL:-}" ] && ! command -v ktape >/dev/null; then
		echo "1..0 # SKIP no ktape command"
		exit 4
	fi
	echo "not ok 1 - ktape version"
	echo "1..1"
	echo "$why" | sed 's/^/# /'
	exit 1
}

# ended PID SECONDS: wait until the process ends by itself
ended()
{
	for _ in $(seq $(($2 * 5 * ${KTAPE_SCALE:-1}))); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.2
	done
	return 1
}
