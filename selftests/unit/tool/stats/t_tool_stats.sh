#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_stats.sh FOLDER: test ktape stats and ktape diff and their conditions
# on the scene that t_lib_linux counts by hand.
top=$(cd "${0%/*}/../../../.." && pwd)
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"

"$out/t_lib_linux" --scene scene && "$out/t_lib_linux" --lossy lossy || exit

# prints TEXT: standard output must have it
prints()
{
	grep -qE -- "$1" text || { echo "does not print: $1" >>log; return 1; }
}

# condition STATUS CONDITION [TRACE]
condition()
{
	run "$1" stats -F "$2" "${3:-scene}"
}

test_stats()
{
	run 0 stats scene && prints '^irq  +ahci +2 ' &&
		prints '^0 +52.24% +25.37% +17.41% +4.98% ' &&
		prints '^ +100 app +4.80 us +3 +0 \(idle\)'
	result $? "stats: tables"
	run 0 stats -aH scene && prints '#####'
	result $? "stats: histograms"
	if command -v python3 >/dev/null; then
		run 0 stats --json scene && python3 - 2>>log <<-'EOT'
			import json
			d = json.load(open('text'))
			s = [x for x in d['series'] if x['name'] == 'read'][0]
			assert s['count'] == 2 and s['sum'] == 8500, s
			assert s['errors'] == 1 and s['last_error'] == 11, s
			assert d['cpus'][0]['idle_ns'] == 5100, d['cpus']
			assert d['instead'][1] == {'tid': 100, 'other': 7,
			                           'ns': 3500, 'waits': 1}
		EOT
		result $? "stats: JSON"
	else
		echo "ok $((n += 1)) - stats: JSON # SKIP no python3"
	fi
	run 0 stats --rtos scene && prints '^context switches' &&
		prints '^priority inversions +not known  the trace has no calls of mutexes'
	result $? "stats: TraceX's analyses of the scene"
	run 0 stats lossy && says "5 events were lost in 1 gap, so counts" &&
		prints '^wakeup .*\?'
	result $? "stats: losses and unknown results are reported"
	run 2 stats --rtos --all scene
	result $? "stats: options of two kinds"
	cp -R scene odd && LC_ALL=C sed -i 's/app/\x1b[m/' odd/registry
	run 1 stats odd && says 'registry: at byte 0: checksum is wrong'
	result $? "stats: damage is reported with its file"
	run 0 stats scene && prints '^ +101 wor"ker.xff '
	result $? "stats: terminal control characters in names are escaped"
	column='^irq {11}abcd..?fghijk {13}2 '
	"$out/t_lib_linux" --named odd2 "$(printf 'abcd\303\244fghijk\033')" &&
		run 0 stats odd2 && prints "$column" &&
		run 0 diff odd2 odd2 && prints "$column"
	result $? "stats, diff: columns are cut at whole characters and escapes"
}

# sma ID SEQ TIME SIGNAL: print an event of object 1
sma()
{
	printf '%b' "\\x$1\\x$2\\x$3\\0\\1\\0\\0\\0\\x$4\\0\\0\\1\\x7e"
}

rkh=rkh:check=0,sender=0,que-low=0,time-width=2
golden=$top/../shared/golden/rkh_ahsm.bin
markers=$top/../shared/golden/tband_stream_bare

# response FILTER: print the object's response times in JSON
response()
{
	grep -q "\"signal\":null,\"signal_name\":null,$1" text && return
	cat text >>log
	return 1
}

test_response()
{
	{
		printf '\176'
		sma 43 00 0a 02; sma 43 01 14 02; sma 44 02 1e 03
		sma 42 03 23 03; sma 42 04 32 02; sma 42 05 3c 02
		sma 42 06 46 09; sma 43 07 50 02
	} >posts
	run 0 stats --json -f "$rkh" posts &&
		response '"posts":4,"gets":4,"count":3,"sum":85000000,"waiting":1,"uncertain":0,"min":5000000,"max":40000000,"mean":28333333,"p50":40000000' &&
		grep -q '"signal":3,.*"posts":1,"gets":1,"count":1,"sum":5000000' text
	result $? "stats: response times of RKH"
	run 0 stats -f "$rkh" posts &&
		prints '^ +4 +4 +3 +40.00 ms .* 0x1$' &&
		prints '^ +1 +1 +1 +5.00 ms .* 0x1, 3$'
	result $? "stats: response times of RKH as a table"
	{
		printf '\176'
		sma 43 00 0a 02; sma 42 02 14 02; sma 43 03 1e 02
		sma 42 04 28 02
	} >posts
	run 0 stats --json -f "$rkh" posts &&
		response '"posts":2,"gets":2,"count":1,"sum":10000000,"waiting":0,"uncertain":1'
	result $? "stats: no response time over a loss"
	{
		printf '~\103\0\12\0\1\0\0\0\377\377\377\377\0\0\1~'
		printf '\102\1\24\0\1\0\0\0\377\377\377\377\0\0\1~'
	} >posts
	run 0 stats --json -f "$rkh,sig-width=4" posts && response '"posts":1,' &&
		grep -q '"signal":4294967295,"signal_name":null,"posts":1,' text
	result $? "stats: the largest signal number does not mean all signals"
	{
		printf '~\247\0\12\0\2\33[2J\0~'
		sma 43 01 0a 02
	} >posts
	run 0 stats -f "$rkh" posts && grep -qF '0x1, \x1b[2J' text &&
		! grep -q "$(printf '\33')" text
	result $? "stats: terminal control characters in RKH names are escaped"
	if [ -e "$golden" ]; then
		run 0 stats --json "$golden" &&
			response '"posts":11,"gets":11,"count":11,"sum":374000000'
		result $? "stats: response times equal those of RKH's own decoder"
	else
		echo "ok $((n += 1)) - stats: of a stream of RKH # SKIP no ../shared/golden"
	fi
}

# frame BYTE...: print an event of Tonbandgeraet, in hexadecimal without zeros
frame()
{
	printf '%b' "\\x$(printf %02x $(($# + 1)))"
	printf '\\x%s' "$@" | { read -r bytes; printf '%b' "$bytes\\0"; }
}

# Two tasks use a queue (1), a semaphore (2) and a mutex (3); the counts that
# TraceX would show.
freertos_stream()
{
	frame 5e 01 01; frame 5b 01 01 05; frame 5e 01 02; frame 5b 01 02 09
	frame 63 02 01; printf '\3\145\1\1\0'	# its kind is 0
	frame 63 02 02; frame 65 02 02
	frame 63 02 03; frame 65 03 03
	frame 66 02 03 01		# a new mutex puts itself
	frame 54 03 01			# task 1
	printf '\4\152\004\3\1\0'	# gets the mutex
	frame 66 05 01 01		# sends: the queue has 1
	frame 67 06 01 02		# from an interrupt: 2
	frame 6e 07 01 64		# waits to send
	frame 54 08 02			# task 2
	frame 6a 09 01 01		# receives: 1
	frame 55 0a 01
	frame 6f 0b 03 64		# waits for the mutex that 1 has
	frame 54 0c 01
	frame 66 0d 01 02		# the call that waited
	frame 66 0e 02 01		# puts the semaphore
	frame 66 0f 03 01		# puts the mutex
	frame 59 10 0a			# sleeps
	frame 54 11 02
	printf '\4\152\022\3\1\0'	# has the mutex
	frame 5b 13 02 07		# its priority changes
	frame 68 14 01 02		# overwrites: ThreadX has no such call
	frame 58 15 01			# suspends and resumes 1
	frame 56 16 01
}

test_services()
{
	if ! command -v python3 >/dev/null; then
		echo "ok $((n += 1)) - stats: services of FreeRTOS # SKIP no python3"
		echo "ok $((n += 1)) - stats: the same of what is exported # SKIP no python3"
		echo "ok $((n += 1)) - stats: kinds behind a cut # SKIP no python3"
		return
	fi
	freertos_stream >calls
	run 0 stats -f tband --json calls &&
		cp text direct && python3 - <<-'EOT' 2>>log
			import json
			d = json.load(open('text'))
			have = {k: v for k, v in d['popular']}
			# created, sent, received, got, put, slept, changed
			want = {60: 1, 81: 1, 50: 1, 69: 3, 68: 1, 88: 1,
			        52: 2, 57: 1, 112: 1, 108: 1, 4352 + 104: 1,
			        114: 1, 111: 1}
			bad = [k for k in want if have.get(k) != want[k]]
			assert not bad and 4100 not in have, (bad, have)
			assert d['services']['4456'] == 'queue_overwrite', d
			assert d['services']['69'] == 'queue_send', d
			assert d['det_prio_inversions'] == 1, d
			assert d['suspensions'] == 3 and d['resumptions'] == 1, d
			assert d['context_switches'] == 3, d
		EOT
	result $? "stats: services of FreeRTOS"
	run 0 convert -q --from tband --to "$trx" -o calls.trx calls &&
		run 0 stats --json calls.trx && python3 - <<-'EOT' 2>>log
			import json
			a, b = json.load(open('direct')), json.load(open('text'))
			keys = ['popular', 'suspensions', 'resumptions',
			        'context_switches', 'det_prio_inversions']
			bad = [k for k in keys if a[k] != b[k]]
			assert not bad, (bad, a, b)
		EOT
	result $? "stats: an exported trace has the same services"
	run 0 convert -q --from tband --to "$trx" \
		--from-time 0.000000013 -o cut.trx calls &&
		run 0 stats --json cut.trx && python3 - <<-'EOT' 2>>log
			import json
			have = {k: v for k, v in json.load(open('text'))['popular']}
			# sent, put, given, got: 2 has it without waiting in the trace
			want = {69: 1, 88: 1, 57: 1, 52: 1, 68: 0}
			bad = [k for k in want if have.get(k, 0) != want[k]]
			assert not bad, (bad, have)
		EOT
	result $? "stats: kinds of queues are known after the start of a range"
}

# A call that waits twice is one call. A call that begins after a timeout, or
# after another action of the task, is a separate one.
waits_stream()
{
	frame 54 01 01
	frame 6f 02 01 05		# task 1 waits
	frame 54 03 02
	frame 66 04 01 01		# 2 sends, and takes it back
	frame 55 05 01
	printf '\4\152\006\1\1\0'
	frame 54 07 01
	frame 6f 08 01 05		# it waits again, within the same tick
}

more_waits()
{
	waits_stream
	frame 54 09 02
	frame 55 0a 01			# nothing came
	frame 54 0b 01
	frame 6f 0c 01 05		# another call
	frame 54 0d 02
	frame 55 0e 01			# nothing came
	frame 54 0f 01
	frame 59 10 05			# it sleeps
	frame 54 11 02
	frame 66 12 01 01		# 2 sends
	frame 54 13 01
	printf '\4\152\024\1\1\0'	# a third one, that need not wait
	frame 6f 15 01 64		# a fourth one, whose time is over
	frame 7b 15 09 78		# it marks that
	frame 6f 15 01 32		# a fifth one, too
	frame 6f 15 01 ff ff ff ff 0f	# a sixth one, without end
	frame 54 16 02
	frame 58 17 01; frame 56 18 01	# is suspended and resumed
	frame 54 19 01
	frame 6f 1a 01 ff ff ff ff 0f	# and waits on
	frame 54 1b 02
	frame 58 1c 01
}

# A mutex that one core creates and the other one takes.
cores()
{
	{
		frame 54 01 02
		frame 63 02 03; frame 65 03 03; frame 66 02 03 01
	} >core0
	{
		frame 54 03 01
		printf '\4\152\004\3\1\0'
		frame 66 05 03 01
	} >core1
}

# A lost event after a creation does not hide a later change.
made_stream()
{
	frame 54 01 01
	frame 5e 02 03; frame 5b 02 03 05	# made with its priority
	frame 5e 03 04; frame 55 04 04		# this one's was lost
	frame 5b 05 04 05
	frame 5e 06 05; frame 01 07 01	# lost too, and that is reported
	frame 5b 08 05 05
}

# counts ID=N...: the numbers of services in the JSON of stats
counts()
{
	python3 - "$@" <<-'EOT' 2>>log
		import json, sys
		have = {k: v for k, v in json.load(open('text'))['popular']}
		want = dict(map(int, a.split('=')) for a in sys.argv[1:])
		bad = [k for k in want if have.get(k, 0) != want[k]]
		assert not bad, (bad, have)
	EOT
}

trx=tracex:hz=1000000000

# part OPTION...: print statistics of a part of the calls
part()
{
	run 0 convert -q --from tband --to "$trx" "$@" -o part.trx calls &&
		run 0 stats --json part.trx
}

# words FILE: print the words of the calls' entries, read from the bytes
words()
{
	python3 - "$1" <<-'EOT' 2>>log
		import struct, sys
		d = open(sys.argv[1], 'rb').read()
		base, = struct.unpack_from('<I', d, 8)
		start, end = struct.unpack_from('<2I', d, 24)
		have = [struct.unpack_from('<8I', d, at)
		        for at in range(start - base, end - base, 32)]
		# who: its own number, then what FreeRTOS reported of it
		want = [
		    (1, 52, 3, 0, 0, 0),	# gets 3, which nobody has
		    (1, 69, 1, 0, 0, 0),	# sends to 1: it had 0
		    (1, 69, 1, 0, 0, 1),
		    (1, 69, 1, 0, 100, 2),	# waits 100 ticks
		    (2, 68, 1, 0, 0, 2),
		    (2, 52, 3, 100, 1, 1),	# 1 has it, once
		    (1, 88, 2, 0, 0, 0),
		    (1, 57, 3, 1, 1, 0),
		    (1, 112, 10, 0, 0, 0),
		    (2, 108, 2, 91, 89, 0),	# 98 less 7, less 9
		    (2, 4352 + 104, 1, 2, 0, 0),
		    (2, 114, 1, 0, 0, 0),	# it was ready
		    (2, 111, 1, 3, 0, 0),	# and suspended
		]
		have = [(e[0], e[2]) + e[4:] for e in have
		        if e[0] in (1, 2) and e[2] > 6]
		assert have == want, have
	EOT
}

test_calls()
{
	if ! command -v python3 >/dev/null; then
		for what in calls priorities kinds words RKH; do
			echo "ok $((n += 1)) - stats: $what # SKIP no python3"
		done
		return
	fi
	waits_stream >waits
	more_waits >waits2
	run 0 stats -f tband --json waits && counts 68=2 69=1 &&
		run 0 stats -f tband --json waits2 && counts 68=7 69=2 114=2
	result $? "stats: a call that waits twice is one call"
	made_stream >made
	run 0 stats -f tband --json made && counts 100=3 108=2
	result $? "stats: changes of priority without initial priorities"
	freertos_stream >calls
	part -c 0 && counts 60=1 81=1 50=1 52=2 57=1 88=1 69=3 &&
		part -p 1 && counts 60=0 81=0 50=0 52=1 57=1 88=1 69=3 &&
		part -e user_event && counts 60=1 81=1 50=1 52=2 57=1 88=1
	cores
	run 0 convert -q --from tband --to "$trx" -c 1 -o part.trx core0@0 core1@1 &&
		run 0 stats --json part.trx && counts 50=0 52=1 57=1 &&
		run 0 convert -q --from tband --to jsonl -c 1 -o - core0@0 core1@1 &&
		grep -q '"cpu":0,"ring":"registry","tid":null,.*"queue_kind"' text &&
		! grep -q '"cpu":0,"ring":"event"' text &&
		run 0 convert -q --from tband --to chrome -c 1 -o - core0@0 core1@1 &&
		grep -q '"queue_receive"' text && ! grep -q '"queue_kind"' text &&
		run 1 convert -q --from tband --to native -c 9000 -o far core0 &&
		says "the trace has no CPU 9000: it has 0" &&
		run 0 convert -q --from tband --to native -c 1 -o near core0@0 core1@1 &&
		run 0 convert -q --to "$trx" --from-time 0.000000004 -o part.trx near &&
		run 0 stats --json part.trx && counts 50=0 52=1 57=1
	result $? "stats: kinds of queues are known for any part of the trace"
	run 0 convert -q --from tband --to "$trx" -o calls.trx calls &&
		words calls.trx
	result $? "stats: arguments of services, word by word"
	{
		printf '\176'
		sma 43 00 0a 02; sma 42 01 14 02
	} >posts
	run 0 stats --json -f "$rkh" posts && counts 4608=0 4675=1 4674=1 &&
		grep -q '"4675":"SMA_FIFO","4674":"SMA_GET"' text
	result $? "stats: services of RKH by number and name"
}

# The counts of the original decoder.
test_golden()
{
	if ! [ -e "$markers.bin" ] || ! command -v python3 >/dev/null; then
		echo "ok $((n += 1)) - stats: services of a stream # SKIP no ../shared/golden or no python3"
		return
	fi
	run 0 stats --json "$markers.bin" &&
		python3 - "$markers.dump.jsonl" <<-'EOT' 2>>log
			import json, sys
			names = {'Evtmarker': 'mark', 'Valmarker': 'mark_value',
			         'EvtmarkerBegin': 'mark_begin',
			         'EvtmarkerEnd': 'mark_end'}
			kinds = [next(iter(json.loads(l)['Base']['kind']))
			         for l in open(sys.argv[1]) if '"Base":' in l]
			want = {names[k]: kinds.count(k) for k in names}
			d = json.load(open('text'))
			have = {d['services'][str(k)]: v
			        for k, v in d['popular'] if k > 4095}
			assert have == want and want['mark'], (have, want)
		EOT
	result $? "stats: services of a stream equal those of its own decoder"
}

test_judge()
{
	condition 0 'irq.max > 2us' && condition 3 'irq.max >= 2us' &&
		says "the value is 2000 ns (2.00 us)"
	result $? "fail-if: a limit"
	condition 3 'syscall[read].errors == 1' && condition 0 'syscall.errors != 1' &&
		condition 3 'wakeup.p99>4.7us' && condition 3 'work[do_work].mean < 1ms'
	result $? "fail-if: names, shares, units"
	condition 3 'timer_late.sum <= 0' && says "the value is 0 jiffies" &&
		condition 3 'irq.p99.9 > 0' && says "the value is 2000 ns (2.00 us)" &&
		condition 3 'irq.count > 0' && grep -q 'the value is [0-9]*$' log
	result $? "fail-if: the unit of the value that is printed"
	condition 0 'block_wait.p50 > 1' && says "nothing to measure it with"
	result $? "fail-if: nothing to measure"
	condition 3 'lost > 0' lossy && condition 0 'lost > 0'
	result $? "fail-if: losses"
	condition 0 'wakeup.p50 > 1ms' lossy && says "may have changed the result"
	result $? "fail-if: results that losses make unknown are reported"
	wrong=
	for bad in '' 'irq' 'irq.p98 > 1' 'cpu.max > 1' 'irq.max > 1 h' \
		'irq.max ~ 1' 'irq.max > x' 'irq.max > +10%' 'irq[a.max > 1' \
		'irq.max > 5%'; do
		condition 2 "$bad" || wrong="$wrong '$bad'"
	done
	[ -z "$wrong" ]
	result $? "fail-if: invalid conditions"
	condition 2 'timer_late.max > 5us' && says "in jiffies" &&
		condition 2 'timer_late[f].p99 > 5 ns' && condition 0 'timer_late.max > 5 ' &&
		condition 0 'hrtimer_late.max > 5us'
	result $? "fail-if: lateness in jiffies takes no unit"
	run 3 stats -F 'irq.max > 1s' -F 'irq.max > 1ns' scene
	result $? "fail-if: one of two"
}

test_diff()
{
	run 0 diff scene lossy && prints '^irq  +ahci +2 +2 ' &&
		says "lossy: 5 events were lost"
	result $? "diff: two traces"
	run 0 diff -F 'lost > 0' -F 'irq.max > 2us' lossy scene &&
		! says "does not know chance" &&
		run 3 diff -F 'lost > +0%' scene lossy &&
		run 3 diff -F 'irq.max >= 2us' lossy scene
	result $? "diff: conditions"
	if command -v python3 >/dev/null; then
		run 0 diff --json scene lossy &&
			python3 -c 'import json; d = json.load(open("text"));
assert d["a"]["lost"] == 0 and d["b"]["lost"] == 5' 2>>log
		result $? "diff: JSON"
	else
		echo "ok $((n += 1)) - diff: JSON # SKIP no python3"
	fi
	run 2 diff scene && run 1 diff scene nowhere
	result $? "diff: usage"
}

# pairs STATUS CONDITION: compare each of the seven pieces with each other one; all must
# exit with STATUS and say that chance is not known
pairs()
{
	local a b

	for a in 1 2 3 4 5 6 7; do
		for b in 1 2 3 4 5 6 7; do
			[ $a = $b ] && continue
			run "$1" diff -F "$2" piece$a piece$b &&
				says "does not know chance" || return
		done
	done
}

# above PERCENT: print how many of these pairs differ by more, in the p99 that stats prints
above()
{
	for a in 1 2 3 4 5 6 7; do
		run 0 stats -j piece$a &&
			sed -n 's/.*"kind":"irq","key":null,.*"p99":\([0-9]*\),.*/\1/p' text
	done | awk -v percent="$1" '
		{ p99[NR] = $1 }
		END {
			for (a = 1; a <= NR; a++)
				for (b = 1; b <= NR; b++)
					n += p99[b] > p99[a] * (1 + percent / 100)
			print NR == 7 ? n + 0 : "not seven pieces"
		}'
}

# Seven pieces of 600 interrupts each, of one recording: nothing changed between them.
test_chance()
{
	local i from few='irq.p99 > +10%: undecided: A has 600 values, B has 600, and p99 needs 1000 in each'

	"$out/t_lib_linux" --interrupts whole 4200 100 &&
		"$out/t_lib_linux" --interrupts slower 4200 125
	for i in 1 2 3 4 5 6 7; do
		from=$(((i - 1) * 60))
		run 0 convert -q --to native -o piece$i \
			--from-time "$(printf '0.%03d05' $from)" \
			--to-time "$(printf '0.%03d05' $((from + 60)))" whole || break
	done
	[ "$(above 10)" -gt 0 ]
	result $? "diff: the 99th percentiles of equal pieces differ"
	pairs 4 'irq.p99 > +10%' && says "$few" &&
		run 0 diff -F 'irq.p50 > +10%' piece1 piece2 &&
		run 4 diff -F 'irq.p99.9 > +900%' piece1 piece2 &&
		run 4 diff -F 'irq.max > +900%' piece1 piece2 &&
		run 0 diff -F 'irq.mean > +100%' piece1 piece2
	result $? "diff: too few values decide nothing"
	run 3 diff -F 'irq.p99 > +10%' whole slower && says "does not know chance" &&
		! says undecided && run 0 diff -F 'irq.p99 > +50%' whole slower &&
		run 4 diff -F 'irq.p99 > +50%' whole piece1 &&
		run 4 diff -F 'irq.p99 > +50%' piece1 whole
	result $? "diff: enough values in both traces are compared"
	run 4 diff -F 'block_wait.p50 > +10%' whole slower && says "A has 0 values" &&
		run 3 diff -F 'irq.p50 > +10%' -F 'irq.p99.9 > +10%' whole slower &&
		run 3 diff -F 'irq.p99.9 > +10%' -F 'irq.p50 > +10%' whole slower
	result $? "diff: what is undecided does not hide what holds"
}

echo "TAP version 13"
echo "1..41"
test_stats
test_response
test_services
test_calls
test_golden
test_judge
test_diff
test_chance
exit $failed
