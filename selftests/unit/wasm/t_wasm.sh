#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_wasm.sh FOLDER: the program of the page that make viewer builds, run by node: it
# writes the bytes and prints the messages of ktape convert, for whole and for damaged
# inputs; the page is one file; its modules for archives and inputs.
here=$(cd "${0%/*}" && pwd) || exit
top=$(cd "$here/../../.." && pwd)
# shellcheck source=selftests/unit/support/tool.sh
. "$here/../support/tool.sh" "$1" || exit 2

skip()
{
	echo "1..0 # SKIP $1"
	exit 0
}

node=$(command -v node || command -v nodejs) || skip 'no node 18 or newer (Debian: nodejs)'
[ "$("$node" -p 'parseInt(process.versions.node)')" -ge 18 ] || skip 'node is older than 18'
[ -e /usr/include/wasm32-wasi/stdio.h ] || skip 'no wasi-libc (Debian: wasi-libc)'
command -v wasm-ld >/dev/null || skip 'no wasm-ld (Debian: lld)'
[ -e "$(clang --print-resource-dir)/lib/wasi/libclang_rt.builtins-wasm32.a" ] ||
	skip 'no compiler-rt for WebAssembly (Debian: libclang-rt-14-dev-wasm32)'

"$top/scripts/zstd-source" >/dev/null 2>&1 ||
	skip 'no source of zstd (scripts/zstd-source fetch)'
command -v zstd >/dev/null || skip 'no zstd (Debian: zstd)'

page=$out/user-wasm/viewer/ktape.html
make -s -j2 -C "$top/userspace" OUT="$out/user-wasm" viewer >log 2>&1 && [ -s "$page" ]
result $? "make viewer builds the page"

! grep -anE '(src|href|action|poster|srcset)=.?https?:|@import|url\(|importScripts|XMLHttpRequest|WebSocket|EventSource|sendBeacon|fetch\(|import\(' \
	"$page" >log && grep -q "default-src 'none'" "$page"
result $? "the page names nothing to load, and forbids to load anything"

# As a browser gets them: one script that runs, one for the worker.
sed '1,/^<script>$/d; /^<\/script>$/,$d' "$page" >page.cjs
sed '1,/^<script .*id="worker">$/d; /^<\/script>$/,$d' "$page" >worker.cjs
"$node" --check page.cjs >log 2>&1 && "$node" --check worker.cjs >>log 2>&1
result $? "the joined scripts are well-formed"

mkdir traces
"$out/make_trace" session traces/session traces/session.pipe
"$out/make_trace" emitted traces/emitted
"$out/make_trace" kinds traces/kinds
run 0 convert --to tband:format=hex -o traces/tband.hex traces/session
run 0 convert --to tracex -o traces/session.trx traces/session
run 0 convert --to rkh -o traces/session.rkh traces/session
cp "$top"/../shared/golden/*.bin "$top"/../shared/golden/*.trx traces 2>/dev/null ||
	echo '# no golden files: only traces made here'
cp traces/session.pipe traces/packed.pipe
cp -r traces/session traces/packed
zstd -q --rm traces/packed.pipe && zstd -q -r --rm traces/packed
tar -C traces -cf session.tar session
"$node" "$here/wasm.mjs" "$out/user-wasm/wasm/ktape.wasm" "$out/command/ktape" traces \
	session.tar "$n" || failed=1
exit $failed
