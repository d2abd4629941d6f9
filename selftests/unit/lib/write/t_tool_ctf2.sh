#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_ctf2.sh FOLDER: native traces whose metadata are in CTF 2. The streams and what is
# read are those of CTF 1.8; babeltrace2, from version 2.1 on, prints the same text of both.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"

"$out/make_trace" session session session.pipe && "$out/t_lib_linux" --scene scene || exit
run 0 convert -q --to native -o one session && run 0 convert -q --to native --ctf 2 -o two session &&
	run 0 convert -q --to native --ctf 1.8 -o three session
result $? 'a trace is written with metadata in CTF 2'
cmp one/metadata three/metadata && [ "$(head -c 1 two/metadata)" = $'\036' ] &&
	[ "$(ls one)" = "$(ls two)" ] && [ ! -e two/.metadata.new ] &&
	for file in one/*; do
		[ "$file" = one/metadata ] || cmp "$file" "two/${file#one/}" || break
	done
result $? 'its streams are the same, and 1.8 is the default'

# Each fragment is JSON, and each opcode is described.
python3 - >>log 2>&1 <<'EOT'
import json
parts = open('two/metadata', encoding='utf-8').read().split('\x1e')
assert parts[0] == '', parts[0]
parts = [json.loads(p) for p in parts[1:]]
assert parts[0]['type'] == 'preamble' and parts[0]['version'] == 2, parts[0]
events = [p for p in parts if p['type'] == 'event-record-class']
assert sorted(p['id'] for p in events) == list(range(256)), len(events)
names = {p['id']: p['name'] for p in events}
assert names[32] == 'sched_switch' and names[255] == 'time_extend', names
trace = [p for p in parts if p['type'] == 'trace-class'][0]
assert trace['uid'].replace('-', '') == bytes(parts[0]['uuid']).hex(), trace['uid']
assert [len(p) for p in trace['uid'].split('-')] == [8, 4, 4, 4, 12], trace['uid']
text = trace['attributes']['ktape']['tsdl']
assert text == open('one/metadata', encoding='utf-8').read()
EOT
result $? 'the metadata are JSON, with all opcodes, and keep the text of CTF 1.8'

for command in dump 'dump --json --all' 'stats --json' verify; do
	# shellcheck disable=SC2086	# a command and its options
	run 0 $command one && sed 's/\bone\b/NAME/g' text >want && run 0 $command two &&
		sed 's/\btwo\b/NAME/g' text | diff want - >>log && [ -s want ]
	result $? "ktape $command says the same of both"
done
run 0 convert -q --to native -o back two && cmp one/metadata back/metadata
result $? 'it converts back'
cp -r two cut && head -c 20000 two/metadata >cut/metadata
run 1 dump cut && says 'the metadata in CTF 2 are damaged'
result $? 'metadata that were cut off are an error'
sed 's/"tsdl"/"none"/' two/metadata >cut/metadata
run 1 dump cut && says 'not of a ktape trace'
result $? 'and so are those of another tracer with the same streams'
sed 's/hostname = /hostnahe = /' two/metadata >cut/metadata
run 1 dump cut && says 'was changed since it was written'
result $? 'a change is found by the checksum'
run 2 convert --to native --ctf 3 -o x one && says 'it is 1.8 or 2' &&
	run 2 convert --to csv --ctf 2 -o x one && run 2 convert --to native --ctf 2 -o - one &&
	run 2 record --ctf 2 -o - && run 2 record --ctf 2 -l x && run 2 record --ctf 2 --zstd -o x &&
	[ ! -e x ]
result $? 'wrong calls are refused'

# old: babeltrace2 before 2.1
old()
{
	babeltrace2 --version | awk '{ split($2, v, "."); exit v[1] == 2 && v[2] < 1 ? 0 : 1 }'
}

name='babeltrace2 prints the same of both, without a complaint'
if ! command -v babeltrace2 >/dev/null || old; then
	n=$((n + 1))
	echo "ok $n - $name # SKIP no babeltrace2 2.1"
else
	babeltrace2 one >want 2>err1 && babeltrace2 two >got 2>err2 && diff want got >>log &&
		diff err1 err2 >>log && [ -s want ]
	result $? "$name"
fi
echo "1..$n"
exit $failed
