#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_path_calls.sh FOLDER: the numbers of system calls with paths in the module
# must equal those in the headers of x86 and arm64. The headers of 32-bit riscv
# are not installed, so its numbers are listed here. Those of powerpc are not
# tested.
set -u

top=$(cd "${0%/*}/../../../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-path.XXXXXX")
trap 'rm -rf "$work"' EXIT
n=0
failed=0
# A kernel whose header has the numbers: later ones generate it from a table.
arm=$(grep -l '__NR_openat ' \
	/usr/src/linux-headers-*-common/arch/arm64/include/asm/unistd32.h \
	2>/dev/null | head -n 1)

cat >"$work/calls.c" <<'EOT2'
#include NATIVE
#include "path_calls.h"

/* What the native numbers were is in the table by now. */
#undef __NR_open
#undef __NR_creat
#undef __NR_execve
#undef __NR_openat
#undef __NR_execveat
#undef __NR_openat2
#undef _ASM_GENERIC_UNISTD_H
#include COMPAT

#include <stdio.h>

static int is_in(unsigned int nr, unsigned int arg)
{
	for (unsigned int i = 0; i < sizeof(KT_PATH_COMPAT) /
				     sizeof(KT_PATH_COMPAT[0]); i++)
		if (KT_PATH_COMPAT[i].nr == nr)
			return KT_PATH_COMPAT[i].arg == arg;
	return 0;
}

int main(void)
{
	const unsigned int must[][2] = {
		{ __NR_execve, 0 }, { __NR_execveat, 1 }, { __NR_openat, 1 },
		{ __NR_openat2, 1 },
#ifdef __NR_open
		{ __NR_open, 0 },
#endif
#ifdef __NR_creat
		{ __NR_creat, 0 },
#endif
	};
	const unsigned int nr = sizeof(must) / sizeof(must[0]);
	int wrong = nr != sizeof(KT_PATH_COMPAT) / sizeof(KT_PATH_COMPAT[0]);

	for (unsigned int i = 0; i < nr; i++)
		if (!is_in(must[i][0], must[i][1])) {
			printf("# number %u is not there\n", must[i][0]);
			wrong = 1;
		}
	return wrong;
}
EOT2

# holds ARCH CONFIG NATIVE COMPAT [FLAG...]: the compat table must have COMPAT's
# numbers
holds()
{
	local arch=$1 config=$2 native=$3 compat=$4
	shift 4
	n=$((n + 1))
	if [ ! -e "$compat" ] && [ ! -e "/usr/include/$compat" ] &&
		[ ! -e "/usr/include/$(gcc -print-multiarch)/$compat" ]; then
		echo "ok $n - $arch # SKIP no $compat"
	elif gcc -std=c11 -w -D"$config" -DNATIVE="<$native>" \
		-DCOMPAT="<$compat>" "$@" -I"$top/module/probes" \
		-o "$work/calls" "$work/calls.c" && "$work/calls"; then
		echo "ok $n - $arch"
	else
		echo "not ok $n - $arch"
		failed=1
	fi
}

# An unknown architecture has no table rather than a wrong one.
has_none()
{
	n=$((n + 1))
	if ! gcc -include asm-generic/unistd.h -I"$top/module/probes" -E -dM \
		-x c - <<<'#include "path_calls.h"' >"$work/macros" ||
		grep -q KT_PATH_COMPAT "$work/macros"; then
		echo "not ok $n - an architecture without a table"
		failed=1
	else
		echo "ok $n - an architecture without a table"
	fi
}

holds x86 CONFIG_X86 asm/unistd_64.h asm/unistd_32.h
holds arm64 CONFIG_ARM64 asm-generic/unistd.h \
	"${arm:-/unistd32.h of arm64}" '-D__SYSCALL(nr,f)='
# Numbers for 32-bit programs of riscv.
cat >"$work/riscv32.h" <<'EOT2'
#define __NR_openat	56
#define __NR_execve	221
#define __NR_execveat	281
#define __NR_openat2	437
EOT2
holds riscv CONFIG_RISCV asm-generic/unistd.h "$work/riscv32.h"
has_none
echo "1..$n"
exit $failed
