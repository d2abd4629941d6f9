#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_viewer.sh FOLDER: the viewer's modules, run by node on a page: they read the page,
# their numbers are those of ktape stats, damage is named.
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/support/tool.sh
. "$here/../../../support/tool.sh" "$1" || exit 2

node=$(command -v node || command -v nodejs)
if [ -z "$node" ] || [ "$("$node" -p 'parseInt(process.versions.node)')" -lt 18 ]; then
	echo '1..0 # SKIP no node 18 or newer (Debian: nodejs)'
	exit 0
fi
"$out/make_trace" session whole whole.pipe
"$out/make_trace" starved starved
"$out/make_trace" moved moved
for trace in whole starved moved; do
	run 0 convert --to html -o $trace.html $trace && run 0 stats --json $trace &&
		mv text $trace.json && continue
	sed 's/^/# /' log
	echo 'not ok 1 - a page to read'
	exit 1
done
# Each module is in the page.
viewer=$here/../../../../../userspace/viewer
missing=$(for module in "$viewer"/*.mjs; do
	grep -qE "^@js.* ${module##*/}( |\$)" "$viewer/template.html" || echo "${module##*/}"
done)
failed=0
[ -z "$missing" ] || { echo "# $missing"; echo 'not ok joined: a module is not in template.html'; failed=1; }
# As one script, which is how a browser gets it.
sed '1,/^<script>$/d; /^<\/script>$/,$d' whole.html >viewer.cjs
if ! "$node" --check viewer.cjs >log 2>&1; then
	sed 's/^/# /' log
	echo 'not ok joined: the script is well-formed'
	failed=1
fi
"$node" "$here/viewer.mjs" whole.html whole.json starved.html starved.json moved.html || failed=1
exit $failed
