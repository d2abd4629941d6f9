#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_bundle.sh FOLDER: archives for Perfetto, read by tar and a JSON parser. Those of
# several hosts are in selftests/fleet.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../../support/tool.sh" "$1"

"$out/t_lib_linux" --scene one && "$out/t_lib_linux" --scene undated || exit
# A bundle joins traces by UTC.
"$out/make_trace" dated one 1795458632 0 || exit

echo "TAP version 13"
echo "1..5"
run 0 bundle -q -o b.tar one one && tar tf b.tar >names 2>>log &&
	[ "$(head -n 1 names)" = perfetto_manifest.json ] && [ "$(wc -l <names)" = 3 ] &&
	mkdir got && tar xf b.tar -C got 2>>log
result $? "tar reads the archive: the manifest is first"

python3 - >>log 2>&1 <<'EOT'
import json
m = json.load(open('got/perfetto_manifest.json'))['perfetto_manifest']
names = open('names').read().split()
assert m['version'] == 1 and m['trace_time'] == {'clock': 'REALTIME'}, m
assert [f['path'] for f in m['files']] == names[1:], m
machines = [f['machines'][0] for f in m['files']]
assert [x['id'] for x in machines] == [1, 1], machines
assert machines[0]['name'] == machines[1]['name'] == 'board', machines
EOT
result $? "the manifest names files and machines; a host twice is one machine"

run 0 convert -q --to perfetto:machine=1,boot_utc=1795458632000000000 -o first.pf one &&
	[ "$(stat -c %s first.pf)" = "$(stat -c %s got/"$(sed -n 2p names)")" ]
result $? "a file of the archive is the conversion of its trace"

run 2 bundle one && run 2 bundle -o b.tar && run 1 bundle -o new.tar one none &&
	[ ! -e new.tar ] && run 2 convert --to perfetto:machine=0 -o x one &&
	says "machine=0" && [ -z "$(find . -name '.ktape-*')" ]
result $? "wrong calls are refused, and nothing is left"

run 1 bundle -o new.tar one undated && says "undated: the trace has no date" && [ ! -e new.tar ]
result $? "a trace whose clock is not related to UTC is refused"

exit $failed
