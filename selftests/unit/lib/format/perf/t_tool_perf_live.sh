#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_perf_live.sh FOLDER: software events that perf records on this machine: ktape reads
# what perf script shows, by selftests/perf/compare.py, which needs a guest for tracepoints.
set -euo pipefail
top=$(cd "${0%/*}/../../../../.." && pwd)
out=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-perf.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

for program in perf python3; do
	if ! command -v $program >/dev/null; then
		echo "1..0 # SKIP no $program (apt-get install linux-perf python3)"
		exit
	fi
done

# busy: fork, exec, rename, and use memory
cat >busy <<-'EOT'
	for i in 1 2 3; do
		(printf 'run %s: "x"' "$i" >/proc/self/comm; cat busy busy) | sort >sorted
	done
EOT

# record NAME OPTION...
record()
{
	local name=$1
	shift
	perf record -q -o "$name.data" "$@" -- bash busy >log 2>&1
}

if ! record plain -e cpu-clock,page-faults,context-switches; then
	echo "1..0 # SKIP perf cannot record here: $(tail -n 1 log)"
	exit
fi
record calls -g -e cpu-clock,page-faults
record switches --switch-events -e page-faults
record dwarf --call-graph dwarf,256 -e page-faults
record one -e page-faults
record parts -d -W --sample-cpu --sample-identifier --user-regs=ax,ip -e page-faults,cpu-clock
perf record -q -o - -e page-faults -- bash busy 2>log >pipe.data
# Not each perf can compress.
record packed -z -e page-faults || rm -f packed.data
python3 "$top/selftests/perf/compare.py" "$out/command/ktape" .
