#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_html.sh FOLDER: pages that ktape convert --to html writes: their blocks as Python
# reads them, their numbers, hostile names, and that they load nothing.
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/support/tool.sh
. "$here/../../../support/tool.sh" "$1" || exit 2

make_trace=$out/make_trace
if ! python3 -c 'import zlib, json' 2>/dev/null; then
	echo '1..0 # SKIP no python3 with zlib'
	exit 0
fi

# page FILE ARGUMENT...: what html_blocks.py prints of it
page()
{
	python3 "$here/../../../support/html_blocks.py" "$@" >blocks 2>>log
}

"$make_trace" session whole whole.pipe
run 0 convert --to html -o whole.html whole && page whole.html
result $? "convert: a page whose blocks Python can read"

run 0 dump --json whole &&
	[ "$(grep -vc '"event":"registry"' text)" = "$(sed -n 's/^events //p' blocks)" ]
result $? "it has all events but those that only name objects"

run 0 dump --json whole
sed -n '/"event":"registry"/!s/.*,"fields":\({.*}\)}$/\1/p' text >fields.dump
page whole.html fields && cmp blocks fields.dump >>log
result $? "their fields are those of ktape dump --json"

run 0 stats --json whole && page whole.html attach stats &&
	python3 -c 'import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
sys.exit(a != b)' text blocks
result $? "its statistics are those of ktape stats --json"

run 0 verify --json whole && page whole.html attach ledger &&
	python3 -c 'import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
sys.exit(a != b)' text blocks
result $? "its ledger is that of ktape verify --json"

# Nothing in the page names another file or a host.  xmlns is not needed for canvas.
! grep -anE 'https?:|//[a-z0-9]+\.[a-z]|[^a-z](src|href|action|poster|srcset|ping)=|@import|url\(|importScripts|XMLHttpRequest|WebSocket|EventSource|sendBeacon|fetch\(|import\(' \
	<(sed '/<script type="text\/ktape"/d' whole.html) >>log &&
	grep -q "default-src 'none'" whole.html
result $? "the page names no other file and no host, and forbids to load any"

run 0 convert --to html -o - whole && grep -q '^</html>$' text
result $? "a page on standard output"

run 2 convert --to html:spans=ten -o bad.html whole && says "spans=ten: give a number" &&
	[ ! -e bad.html ]
result $? "an option that is no number is refused"

run 0 convert --to html:spans=1000,events=20 -o few.html whole && page few.html about &&
	grep -q '^"events":' blocks && python3 -c 'import json, sys
about = json.load(open("blocks"))
sys.exit(not (about["spans"] <= 1000 < about["all_spans"] and about["short_ns"] and
    about["events"] < about["all_events"]))'
result $? "spans=1000, events=20: short spans are merged, and the page knows it"

# The merged spans cover what the spans cover: for each CPU, sum of time in threads.
for f in whole few; do
	page $f.html spans && awk '$1 == 0 { if ($3 > 0) end[$4] = $2 + $3
		if (!($4 in begin)) begin[$4] = $2 }
		END { for (c in end) print c, begin[c], end[c] }' blocks | sort >$f.cover
done
[ -s whole.cover ] && cmp whole.cover few.cover >>log
result $? "merged spans begin and end where the spans did"

# All spans of a range, and all its events, in a page that merges the others.
range_from=1020000 range_to=1024000
run 0 convert --to html:spans=1000,exact=${range_from}ns-${range_to}ns -o exact.html whole &&
	page exact.html about && python3 -c 'import json, sys
about = json.load(open("blocks"))
first, from_ns, to_ns = int(about["mono_ns"]), int(sys.argv[1]), int(sys.argv[2])
print(from_ns - first, to_ns - first)
sys.exit(not (about["exact"] == [from_ns - first, to_ns - first] and about["short_ns"] and
    about["events"] < about["all_events"]))' $range_from $range_to >range
result $? "exact=FROM-TO: the page knows the range, and merges around it"

for f in whole exact; do
	page $f.html spans && awk 'NR == FNR { from = $1; to = $2; next }
		$2 <= to && $2 + $3 >= from' range blocks | sort >$f.range
done
[ "$(wc -l <whole.range)" -gt 50 ] && cmp whole.range exact.range >>log
result $? "the spans of the range are those of a page that merges none"

run 0 dump --json --from-time ${range_from}ns --to-time ${range_to}ns whole
sed -n 's/.*"cpu":[0-9]*,.*,"fields":\({.*}\)}$/\1/p' text >range.dump
page exact.html fields && [ "$(wc -l <range.dump)" -gt 50 ] &&
	python3 -c 'import sys
page, dump = (open(f).read() for f in sys.argv[1:])
sys.exit(dump not in page)' blocks range.dump
result $? "the events of the range are those of ktape dump"

# Not even a merged span may reach over a range that is shorter than the gaps around it.
wrong=0
for at in 1020200 1020900 1021300 1021700 1022100 1022500 1023000 1023400; do
	run 0 convert --to html:spans=1000,exact=${at}ns-$((at + 10))ns -o exact.html whole &&
		page exact.html about && python3 -c 'import json
print(*json.load(open("blocks"))["exact"])' >range || wrong=1
	for f in whole exact; do
		page $f.html spans && awk 'NR == FNR { from = $1; to = $2; next }
			$2 <= to && $2 + $3 >= from' range blocks | sort >$f.range
	done
	[ -s whole.range ] && cmp whole.range exact.range >>log || wrong=1
done
result $wrong "no merged span reaches over a short range"

run 1 convert --to html:spans=1000,exact=0-1 -o over.html whole &&
	says 'exact= has more than 500 spans: give a shorter range, or raise spans=' &&
	run 1 convert --to html:events=10,exact=${range_from}ns-${range_to}ns -o over.html whole &&
	says 'exact= has more than 10 events' && [ ! -e over.html ]
result $? "a range that does not fit into the page is refused"

accepted=0
for bad in 5 5-1 x-2 1-x 3-3 -; do
	if ! run 2 convert --to html:exact=$bad -o over.html whole ||
		! says "exact=$bad: give two times" || [ -e over.html ]; then
		accepted=1
	fi
done
result $accepted "a range that is none is refused"

# The trace goes from 1.0003 ms to 1.0736 ms, on both clocks.
run 1 convert --to html:exact=5-6 -o over.html whole && says 'range begins after them' &&
	run 1 convert --to html:exact=0-0.0005 -o over.html whole && says 'range ends before them' &&
	run 1 convert --to html:exact=0.00101-0.00102 --from-time 0.00103 -o over.html whole &&
	says 'range ends before them' && [ ! -e over.html ]
result $? "a range outside of what is converted is refused"

run 0 convert --to html:exact=0.00107-5 -o cut.html whole && page cut.html about &&
	python3 -c 'import json
about = json.load(open("blocks"))
assert about["exact"] == [1070000 - int(about["mono_ns"]), about["last"]], about' 2>>log
result $? "of a range that ends after the trace, the page has what the trace has"

run 0 convert --to html:exact=@0.00102-0.001024 -o mixed.html whole && page mixed.html about &&
	python3 -c 'import json
about = json.load(open("blocks"))
first = int(about["mono_ns"])
assert about["exact"] == [1020000 - first, 1024000 - first], about' 2>>log &&
	run 1 convert --to html:exact=@0.001024-0.00102 -o over.html whole &&
	says 'the second time has to be later' && [ ! -e over.html ]
result $? "a range of times of two clocks"

run 0 convert --to html:exact=0.00102-0.001024 --cpu 1 --event 'sched,irq' -o part.html whole &&
	page part.html attach selection &&
	[ "$(cat blocks)" = '[["--event","sched,irq"],["--cpu","1"]]' ] &&
	page whole.html attach selection && [ ! -s blocks ]
result $? "the page knows which part of the trace was selected"

# Kinds 17 OFF (depth 0: which thread runs, 4: all), 18 FILTER, 19 HELD.
"$make_trace" partial partial
run 0 convert --to html -o partial.html partial && page partial.html spans &&
	awk '$1 == 17 && /depth=0/ && /b=1/ { off[$4]++; from[$4] = $2; to[$4] = $2 + $3; if ($6 == "sched_switch") named[$4]++ }
		$1 == 17 && /depth=4/ { pauses[$4]++ }
		$1 == 18 && $6 == "syscall" { filters[$4]++ }
		$1 == 19 && $6 == "syscall" { for (i = 7; i <= NF; i++) if ($i ~ /^a=/) held[$4] += substr($i, 3) }
		END { for (c = 0; c < 2; c++) if (off[c] != 1 || named[c] != 1 || from[c] >= to[c] ||
			pauses[c] < 1 || filters[c] != 1) { print "cpu", c, off[c], named[c], pauses[c], filters[c]; exit 1 }
			print held[0] + held[1] }' blocks >held.page
result $? "what a profile leaves out, filters and pauses are spans of each CPU"

# The simulation loses the thread of calls while sched_switch is off: verify finds that.
run 1 verify --json partial; python3 -c 'import json, sys
print(sum(c["filtered"] for c in json.load(open("text"))["cpus"]))' >held.ledger
cmp held.page held.ledger >>log && [ "$(cat held.page)" -gt 0 ]
result $? "events that filters held back are as many as the ledger says"

# While nothing is recorded, no thread runs, waits or calls in the picture.
page partial.html spans && awk '$1 == 17 && /depth=4/ && $4 == 0 && $3 > 15000 { from = $2; to = $2 + $3 }
	{ kind[NR] = $1; begin[NR] = $2; end[NR] = $2 + $3; cpu[NR] = $4 }
	END { if (!to) exit 1
		for (i = 1; i <= NR; i++) if ((kind[i] == 0 || kind[i] == 10 || kind[i] == 11 || kind[i] == 12) &&
			begin[i] < from + 8000 && end[i] > from + 9000) { print kind[i], begin[i], end[i], from, to; exit 1 } }' blocks >>log
result $? "nothing is drawn over a pause"

# Kinds 11 WAIT (b=16: woken), 20 QUEUE.
"$make_trace" moved moved
run 0 convert --to html -o moved.html moved && page moved.html spans &&
	awk '$1 == 20 && $5 == 101 { parts = parts $4 ":"; sum += $3; first = first ? first : $3 }
		$1 == 11 && $5 == 101 && /b=16/ { wait = $3; last = $4 }
		END { if (parts != "1:0:" || wait != sum || last != 0 || first < 5000) { print parts, wait, sum, first, last; exit 1 } }' blocks >>log
result $? "a woken thread that moves stood in the run queues of two CPUs"

# The page looks for what ran instead in its spans, the statistics in events.
node=$(command -v node || command -v nodejs)
for f in moved partial; do
	name="$f: the viewer has what the statistics have, also of waits"
	if [ -z "$node" ] || [ "$("$node" -p 'parseInt(process.versions.node)')" -lt 18 ]; then
		echo "ok $((n += 1)) - $name # SKIP no node 18 or newer (Debian: nodejs)"
		continue
	fi
	run 0 stats --json $f && "$node" "$here/viewer.mjs" $f.html text >>log
	result $? "$name"
done
run 0 stats --json moved && python3 - >>log 2>&1 <<-'EOT'
	import json
	d = json.load(open('text'))
	have = {p['other']: p['ns'] for p in d['instead'] if p['tid'] == 101}
	# 5000 ns in the queue of CPU 1, then those of CPU 0, and the time of a few events.
	assert set(have) == {104, 100}, have
	assert 5000 <= have[104] < 5200 and 4000 <= have[100] < 4300, have
EOT
result $? "stats: what ran instead is of the queues in which a thread stood"

# CPUs are unknown while nothing is recorded: from a stop to the next start, 20 us.
run 0 stats --json partial && python3 - >>log 2>&1 <<-'EOT'
	import json
	d = json.load(open('text'))
	for c in d['cpus']:
	    known = sum(c[k] for k in ('run_ns', 'idle_ns', 'irq_ns', 'softirq_ns'))
	    assert c['unknown_ns'] >= 20000, c
	    assert abs(known + c['unknown_ns'] - d['span_ns']) < 100, (c, d['span_ns'])
	assert max(s['max'] for s in d['series'] if s['count'] and s['unit'] == 'ns') < 20000, d
	assert [s for s in d['series'] if s['key'] is None and s['uncertain']], d
EOT
result $? "stats: nothing is counted while the session does not record"

"$make_trace" late late
run 0 convert --to html -o late.html late && page late.html spans &&
	awk '$1 == 8 && $4 == 1 { n++; at = $2; end = $2 + $3; for (i = 7; i <= NF; i++) if ($i == "a=5") five++ }
		END { if (n != 1 || five != 1 || at != 100 || end != 1100) { print n, five, at, end; exit 1 } }' blocks >>log &&
	run 0 stats --json late && grep -q '"cpu":1,.*"lost":5,' text
result $? "events lost long before a CPU's first event are drawn, and counted for that CPU"

"$make_trace" emitted hostile
"$make_trace" kinds kinds
run 0 convert --to html -o hostile.html hostile && page hostile.html &&
	run 0 convert --to html -o kinds.html kinds && page kinds.html
result $? "user events, unknown events and texts with control characters"

for f in whole hostile kinds; do
	sed '/<script type="text\/ktape"/d' $f.html >$f.text
done
cmp whole.text hostile.text >>log && cmp whole.text kinds.text >>log
result $? "no byte of a trace is in the page outside its blocks"

run 0 convert --to tracex -o t.trx whole && run 0 convert --to html -o trx.html t.trx &&
	page trx.html && ! page trx.html attach ledger | grep -q .
result $? "a trace of another format becomes a page, without a ledger"
echo "1..$n"
exit $failed
