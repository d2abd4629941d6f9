#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_viewer_rtos.sh FOLDER: the pages of traces of an RTOS have the numbers of ktape stats,
# and the rows of their tables lead to moments.
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/support/tool.sh
. "$here/../../../support/tool.sh" "$1" || exit 2

node=$(command -v node || command -v nodejs)
if [ -z "$node" ] || [ "$("$node" -p 'parseInt(process.versions.node)')" -lt 18 ] ||
	! command -v python3 >/dev/null; then
	echo '1..0 # SKIP no node 18 or newer (Debian: nodejs), or no python3'
	exit 0
fi

# numbers NAME FILE [FORMAT]: the page of a trace has the numbers of ktape stats
numbers()
{
	run 0 convert -q ${3:+-f "$3"} --to html -o page.html "$2" &&
		run 0 stats --rtos --services --json ${3:+-f "$3"} "$2" &&
		"$node" "$here/rtos.mjs" "$1" page.html text >>log 2>&1
	result $? "$1: the page has the numbers of ktape stats, and moments for its rows"
}

python3 "$here/make_trx.py" inversions.trx
run 0 stats --json inversions.trx && python3 - >>log 2>&1 <<-'EOT2'
	import json
	d = json.load(open('text'))
	have = [(v['begin_ns'], v['end_ns'], v['tid'], v['owner_tid'], v['mutex_name'], v['bad'])
	        for v in d['inversions']]
	high, mid, low = (t['tid'] for t in d['thread_list'])
	assert have == [('20', '70', high, low, 'bus', False), ('100', '210', high, low, 'bus', True),
	                ('240', None, high, low, 'bus', True), ('250', None, mid, low, None, False)], have
	assert [v['end'] is None for v in d['inversions']] == [False, False, True, True], d
	assert (d['det_prio_inversions'], d['undet_prio_inversions'], d['open_prio_inversions']) == (4, 2, 2), d
	stacks = {t['name']: (t['stack_min_available'], t['stack_event_ns']) for t in d['thread_list']}
	assert stacks == {'high': (0x90, '25'), 'mid': (0x100, '140'), 'low': (0x80, '60')}, stacks
	assert dict(zip((i for i, _ in d['popular']), d['popular_first_ns'])) == {
		52: '0', 1: '10', 2: '25', 57: '60', 69: '130'}, d
EOT2
result $? "stats: when priorities were inverted, stacks fullest, services first"
run 0 stats inversions.trx && grep -q '^priority inversions  *4$' text &&
	grep -q '^of these without end  *2$' text &&
	run 0 stats --rtos --events inversions.trx &&
	[ "$(grep -c ' open$' text)" = 2 ] && grep -q ' rel=240 .* open$' text
result $? "stats: text says which inversions do not end in the trace"
numbers "ThreadX with inversions" inversions.trx

# Times of a clock that began in 1970 do not fit into the numbers of JavaScript.
python3 "$here/make_tband.py" epoch.bin
run 0 stats --json -f tband epoch.bin && python3 - >>log 2>&1 <<-'EOT2'
	import json
	d = json.load(open('text'))
	zero = 1795424806915379651
	assert [(int(v['begin_ns']) - zero, int(v['end_ns']) - zero) for v in d['inversions']] == [(11, 22)], d
EOT2
result $? "stats: times since 1970 are exact to 1 ns"
numbers "times since 1970" epoch.bin tband
python3 "$here/../../../support/html_blocks.py" page.html about | grep -q '"mono_ns":"1795424806915379651"'
result $? "a page begins at the first time, not at what describes the stream"

golden=$here/../../../../../../shared/golden
for name in demo_threadx.trx demo_filex.trx threadx_32.trx threadx_32_bigendian.trx \
	rkh_ahsm.bin rkh_allevents.bin tband_stream_bare.bin tband_snapshot_bare.bin \
	tband_snapshot_full_200b.bin; do
	if [ -e "$golden/$name" ]; then
		numbers "$name" "$golden/$name"
	else
		echo "ok $((n += 1)) - $name: the page has the numbers of ktape stats # SKIP no ../shared/golden"
	fi
done

"$out/make_trace" session native native.pipe
run 0 convert -q --to html -o native.html native &&
	! python3 "$here/../../../support/html_blocks.py" native.html attach rtos | grep -q .
result $? "a page of a native trace has no tables of an RTOS"
echo "1..$n"
exit $failed
