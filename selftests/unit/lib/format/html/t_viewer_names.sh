#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_viewer_names.sh FOLDER: threads that change their names: the page says of each event,
# span and interval what the thread was called then, as ktape dump does.
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/support/tool.sh
. "$here/../../../support/tool.sh" "$1" || exit 2

node=$(command -v node || command -v nodejs)
if [ -z "$node" ] || [ "$("$node" -p 'parseInt(process.versions.node)')" -lt 18 ]; then
	echo '1..0 # SKIP no node 18 or newer (Debian: nodejs)'
	exit 0
fi
"$out/make_trace" renamed folder file
if ! run 0 convert --to html -o pipe.html - < <(cat file) || ! run 0 dump --json - < <(cat file); then
	sed 's/^/# /' log
	echo 'not ok 1 - a page of a pipe'
	exit 1
fi
mv text pipe.jsonl
for trace in folder file; do
	run 0 convert --to html -o $trace.html $trace &&
		run 0 dump --json $trace && mv text $trace.jsonl && continue
	sed 's/^/# /' log
	echo "not ok 1 - a page of a $trace"
	exit 1
done
"$node" "$here/names.mjs" folder file pipe
