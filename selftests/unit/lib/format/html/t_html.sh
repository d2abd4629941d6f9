#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_html.sh FOLDER: pages that ktape convert --to html writes: their blocks as Python
# reads them, their numbers, hostile names, and that they load nothing.
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/tool/tool.sh
. "$here/../../../tool/tool.sh" "$1" || exit 2

make_trace=$out/make_trace
if ! python3 -c 'import zlib, json' 2>/dev/null; then
	echo '1..0 # SKIP no python3 with zlib'
	exit 0
fi

# page FILE ARGUMENT...: what html_blocks.py prints of it
page()
{
	python3 "$here/html_blocks.py" "$@" >blocks 2>>log
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
