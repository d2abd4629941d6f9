#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# t_endian.sh FOLDER: the module does not compile for a big-endian kernel, and the
# first error says why.
set -u

top=$(cd "$(dirname "$0")/../../.." && pwd)
log=$1/t_endian.log
failed=0

# compile ORDER: compile a file of the ring as for a machine of that byte order
compile() {
	echo '#include "compat.h"' | ${CC:-cc} -fsyntax-only -x c \
		-U__BYTE_ORDER__ -D__BYTE_ORDER__="__ORDER_$1_ENDIAN__" \
		-I"$top/module" -I"$top/uapi" \
		-I"$top/selftests/unit/support" - >"$log" 2>&1
}

echo "TAP version 13"
echo "1..2"
if compile LITTLE; then
	echo "ok 1 - a little-endian machine"
else
	echo "not ok 1 - a little-endian machine: see $log"
	failed=1
fi
if ! compile BIG && [ "$(grep -c 'error: ' "$log")" = 1 ] &&
	grep -q 'error: #error .*big-endian kernels are not supported' "$log"; then
	echo "ok 2 - a big-endian machine is refused by one error"
else
	echo "not ok 2 - a big-endian machine: see $log"
	failed=1
fi
exit $failed
