#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_prom.sh FOLDER: metrics for Prometheus: their format, their values beside those
# of ktape stats --json, and a file that is whole whenever it is read. promtool checks them
# as well where it is installed (Debian: prometheus).
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"

"$out/t_lib_linux" --scene scene && "$out/t_lib_linux" --lossy lossy || exit

# parse FILE: read the text format strictly: a sample follows the HELP and the TYPE of
# its metric, names and values have their form, buckets grow up to +Inf, which is the count.
# Print "name value" of each sample.
parse()
{
	python3 - "$1" <<-'EOT'
		import re, sys
		types, helps, seen, buckets, counts = {}, set(), set(), {}, {}
		for line in open(sys.argv[1]).read().split('\n')[:-1]:
		    m = re.fullmatch(r'# HELP ([a-z_]+) \S.*', line)
		    if m:
		        assert m[1] not in helps, line
		        helps.add(m[1])
		        continue
		    m = re.fullmatch(r'# TYPE ([a-z_]+) (counter|gauge|histogram)', line)
		    if m:
		        assert m[1] in helps and m[1] not in types, line
		        types[m[1]] = m[2]
		        continue
		    m = re.fullmatch(r'([a-z_]+)(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"'
		        r'(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*\})? (\d+(?:\.\d+)?)', line)
		    assert m, line
		    base = re.sub('_(bucket|sum|count)$', '', m[1])
		    name = base if types.get(base) == 'histogram' else m[1]
		    assert name in types, line
		    assert types[name] != 'counter' or name.endswith('_total'), line
		    assert m[1] + (m[2] or '') not in seen, line
		    seen.add(m[1] + (m[2] or ''))
		    if m[1].endswith('_bucket'):
		        le = re.search('le="(.*)"', m[2])[1]
		        buckets.setdefault(base, []).append((float(le), int(m[3])))
		    if types[name] == 'histogram' and m[1].endswith('_count'):
		        counts[base] = int(m[3])
		    print(m[1] + (m[2] or ''), m[3])
		assert buckets and set(buckets) == set(counts)
		for name, b in buckets.items():
		    assert b == sorted(b) and [n for _, n in b] == sorted(n for _, n in b), name
		    assert b[-1] == (float('inf'), counts[name]), name
	EOT
}

# like_json TRACE: the metrics have the counts and sums of ktape stats --json
like_json()
{
	run 0 stats --prom m.prom "$1" && parse m.prom >values 2>>log &&
		run 0 stats --json "$1" && python3 - >>log 2>&1 <<-'EOT'
		import json
		got = dict(l.rsplit(' ', 1) for l in open('values').read().splitlines())
		d = json.load(open('text'))
		for s in d['series']:
		    if s['key'] is not None:
		        continue
		    unit = 'seconds' if s['unit'] == 'ns' else s['unit']
		    name = 'ktape_%s_%s' % (s['kind'], unit)
		    assert int(got[name + '_count']) == s['count'], name
		    want = s['sum'] / 1e9 if unit == 'seconds' else s['sum']
		    assert abs(float(got[name + '_sum']) - want) < 1e-9, name
		    assert int(got['ktape_uncertain_total{kind="%s"}' % s['kind']]) == s['uncertain']
		for c in d['cpus']:
		    cpu = '{cpu="%u"}' % c['cpu']
		    assert int(got['ktape_switches_total' + cpu]) == c['switches']
		    assert int(got['ktape_lost_events_total' + cpu]) == c['lost']
		    for mode, key in (('thread', 'run_ns'), ('idle', 'idle_ns'), ('irq', 'irq_ns')):
		        v = got['ktape_cpu_seconds_total{cpu="%u",mode="%s"}' % (c['cpu'], mode)]
		        assert abs(float(v) * 1e9 - c[key]) < 1, (v, c[key])
		print(sum(s['count'] for s in d['series']), 'values')
	EOT
}

echo "TAP version 13"
echo "1..13"
like_json scene
result $? "metrics of a trace have the values of its statistics"
like_json lossy && grep -q '^ktape_gaps_total{cpu="[0-9]*"} [1-9]' values
result $? "metrics of a trace with losses tell them"

if command -v promtool >/dev/null; then
	run 0 stats --prom m.prom scene && promtool check metrics <m.prom >>log 2>&1
	result $? "promtool finds nothing wrong"
else
	n=$((n + 1))
	echo "ok $n - promtool finds nothing wrong # SKIP no promtool (Debian: prometheus)"
fi

# A pipe that stays open: the file is written while the trace is read. Its last block of
# events comes after the file was there.
run 0 convert -q --to native:form=pipe -o whole scene
mkfifo pipe
"$out/command/ktape" stats --prom live.prom --every 1ms - <pipe 2>>log &
child=$!
exec 3>pipe
size=$(stat -c %s whole)
head -c "$size" whole >&3
for _ in $(seq 600); do
	grep -q '^ktape_run_queue_seconds_count [1-9]' live.prom 2>/dev/null && break
	sleep 0.1
done
parse live.prom >before 2>>log &&
	grep -q '^ktape_run_queue_seconds_count [1-9]' before
result $? "a live trace: the file has its events while the pipe is open"
exec 3>&-
wait $child && parse live.prom >after 2>>log && run 0 stats --prom m.prom scene &&
	parse m.prom >values 2>>log &&
	diff <(grep -v 'writ' values) <(grep -v 'writ' after) >>log
result $? "at the end it has the sums of all intervals"

run 0 stats --prom m.prom scene && cp m.prom earlier && mkdir sub && chmod 500 sub
run 1 stats --prom none/m.prom scene && says "none/m.prom" &&
	[ -z "$(find . -name '.ktape-*')" ] && cmp -s m.prom earlier
result $? "a file that cannot be written: an error, and nothing is left"

# Another user of the folder may exchange the file: nothing behind a link changes.
chmod 777 .
echo precious >precious
rm -f m.prom
ln -s precious m.prom
run 1 stats --prom m.prom scene && says "m.prom: Too many levels" && [ -L m.prom ] &&
	[ "$(cat precious)" = precious ]
result $? "a symbolic link to a file: what it leads to stays as it is"
rm -f m.prom
ln precious m.prom
run 0 stats --prom m.prom scene && grep -q ^ktape_ m.prom && [ "$(cat precious)" = precious ]
result $? "a second name of a file: only this one is replaced"
rm -f m.prom
ln -s nowhere m.prom
run 1 stats --prom m.prom scene && [ ! -e nowhere ] && [ -z "$(find . -name '.ktape-*')" ]
result $? "a link to nothing: no file is made"

rm -f m.prom
run 0 stats --prom m.prom scene && parse m.prom >values 2>>log &&
	"$out/command/ktape" stats --prom /dev/stdout scene 2>>log | cat >piped &&
	parse piped >after 2>>log &&
	diff <(grep -v 'writ' values) <(grep -v 'writ' after) >>log
result $? "/dev/stdout, a link that only root can have made: the metrics are there"
run 1 stats --prom m.prom/ scene && says "m.prom/: Is a directory" &&
	run 1 stats --prom new/ scene && says "new/: Is a directory" && [ ! -e new ]
result $? "a name that ends in a slash is that of a folder"
rm -f m.prom
mkfifo m.prom
timeout 60 "$out/command/ktape" stats --prom m.prom scene >text 2>log
[ $? = 1 ] && says "m.prom: No such device or address" && [ -p m.prom ]
result $? "a FIFO that nobody reads: an error, and nobody waits"
rm -f m.prom

run 2 stats --prom m.prom --json scene && run 2 stats --every 1s scene &&
	run 2 stats --session 1 scene && run 2 stats --prom m.prom --rtos scene &&
	run 2 stats
result $? "options that exclude each other are refused"
exit $failed
