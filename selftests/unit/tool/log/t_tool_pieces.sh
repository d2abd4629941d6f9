#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_pieces.sh FOLDER: dump, stats and convert read the pieces of a log, and the folder of a
# log, as the one trace that they were cut from.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1" || exit 2

"$out/make_trace" slow whole || exit
run 0 dump whole && [ -s text ] || exit
mv text whole.txt
# Cut the trace at an event in its middle, to the ns.
at=$(sed -n "$(($(wc -l <whole.txt) / 2))s/^\\[\\([0-9.]*\\)\\].*/\\1/p" whole.txt)
mkdir night
run 0 convert -q --to native -o night/a --to-time "$at" whole &&
	run 0 convert -q --to native -o night/b --from-time "$at" whole &&
	"$out/make_trace" piece night/a log/ktape-%Y && "$out/make_trace" piece night/b log/ktape-%Y || exit
echo 'not a piece' >night/README
mkdir night/notes && echo text >night/notes/text

test_dump()
{
	run 0 dump night/a && mv text a.txt && run 0 dump night/b && mv text b.txt &&
		[ -s a.txt ] && [ -s b.txt ] && [ "$(cat a.txt b.txt | wc -l)" -gt "$(wc -l <a.txt)" ]
	result $? "each piece has a part of the events"
	# The second piece begins with the state at the cut, which the whole trace lacks.
	cat a.txt b.txt >want && sort want >want.lines && grep -vxFf b.txt whole.txt | cmp - a.txt &&
		run 0 dump night/a night/b && sort text | cmp - want.lines
	result $? "dump: two pieces are the whole trace"
	run 0 dump night/b night/a && sort text | cmp - want.lines
	result $? "dump: their order does not matter"
	run 0 dump night && sort text | cmp - want.lines
	result $? "dump: the folder of a log is its pieces"
	run 0 dump -n 3 night && lines 3 && [ ! -s log ]
	result $? "dump: a few lines end it"
	run 2 dump --follow night/a night/b && says 'of one trace'
	result $? "dump: --follow is of one trace"
	run 2 dump && says 'give a trace'
	result $? "dump: no trace"
	run 1 dump night/a nothere && says nothere
	result $? "dump: a piece that is not there"
	cp -R night bad && printf '\377' | dd of=bad/a/cpu0 bs=1 seek=200 conv=notrunc 2>/dev/null &&
		run 1 dump bad && [ -s text ]
	result $? "dump: damage in a piece is reported, and the exit status says so"
}

test_stats()
{
	run 0 stats --json whole && mv text want.json && run 0 stats --json night &&
		python3 - 2>>log <<-'EOT'
			import json
			want, have = (json.load(open(f)) for f in ('want.json', 'text'))
			runs = lambda d: {c['cpu']: c['run_ns'] for c in d['cpus']}
			assert runs(want) and runs(want) == runs(have), (runs(want), runs(have))
			calls = lambda d: [s['count'] for s in d['series']
			                   if s['kind'] == 'syscall' and s['key'] is None]
			assert calls(want) == calls(have), (calls(want), calls(have))
		EOT
	result $? "stats: the folder of a log has the times of the whole trace"
	run 3 stats -F 'syscall.count > 0' night/a night/b
	result $? "stats: conditions are of all pieces"
	run 2 stats --prom file night/a night/b && says 'of one trace'
	result $? "stats: --prom is of one trace"
}

test_convert()
{
	run 0 convert -q -t text -o have.txt night && run 0 convert -q -t text -o want.txt night/b night/a &&
		cmp have.txt want.txt && [ -s have.txt ]
	result $? "convert: the folder of a log is its pieces"
	mkdir other && cp -R whole other/trace && run 1 dump other
	result $? "a folder of traces that are no pieces is no log"
	wrong=
	for name in x.pftrace:perfetto x.html:html x.csv:csv x.jsonl:jsonl x.txt:text; do
		if ! run 0 convert -q -o "${name%:*}" whole ||
		   ! run 0 convert -q -t "${name#*:}" -o want.out whole ||
		   ! cmp "${name%:*}" want.out; then
			wrong=$name
		fi
	done
	[ -z "$wrong" ]
	result $? "convert: the end of the name of -o is the format"
	run 2 convert -o x.dat whole && says 'missing --to FORMAT' && [ ! -e x.dat ]
	result $? "convert: another name needs --to"
	run 2 convert -t csv whole && says 'missing -o OUT'
	result $? "convert: what is missing is named"
}

echo "TAP version 13"
test_dump
test_stats
test_convert
echo "1..$n"
exit $failed
