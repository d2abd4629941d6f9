#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_viewer_merged.sh FOLDER: the viewer's modules on pages that have less than the trace:
# merged spans, some of the events, a range with everything, losses.  What they say is what
# the page with everything says, or they say that it is not exact.
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/support/tool.sh
. "$here/../../../support/tool.sh" "$1" || exit 2

node=$(command -v node || command -v nodejs)
if [ -z "$node" ] || [ "$("$node" -p 'parseInt(process.versions.node)')" -lt 18 ]; then
	echo '1..0 # SKIP no node 18 or newer (Debian: nodejs)'
	exit 0
fi
"$out/make_trace" session whole whole.pipe
"$out/make_trace" lossy lossy
# Times of dump are since the epoch, as those of exact= with "@" are.
run 0 dump --json whole
from=$(sed -n '/"ring":"registry"/d; s/^{"ts":"\([0-9]*\)",.*/\1/p; q' text)
for page in full: merged:spans=1000 events:events=1000 \
	"exact:events=1000,exact=@$((from + 20000))ns-@$((from + 30000))ns"; do
	if ! run 0 convert --to "html:${page#*:}" -o "${page%%:*}.html" whole; then
		sed 's/^/# /' log
		echo "not ok 1 - a page with ${page#*:}"
		exit 1
	fi
done
timeout 600 "$out/command/ktape" convert -q --to html -o lossy.html lossy 2>log
"$node" "$here/merged.mjs" full.html merged.html events.html exact.html lossy.html
