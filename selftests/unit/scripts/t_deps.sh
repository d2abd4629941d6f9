#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each target has its packages before it begins, or says what is missing: on a
# machine that has nothing, as a user, without apt, and with other headers.
set -u

top=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-deps.XXXXXX")
trap 'rm -rf "$work"' EXIT

n=0
failed=0

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	failed=1
	echo "not ok $n - $2"
	sed 's/^/# /' "$work/out" "$work/err" | head -n 20
}

# fake NAME BODY: a command of this machine that is not what it was
fake()
{
	# Not through a link, to the command itself.
	rm -f "$work/bin/$1"
	printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

# machine [NAME...]: a PATH with what every Debian has, and these commands
machine()
{
	local name
	rm -rf "${work:?}/bin"
	mkdir "$work/bin"
	for name in bash sh awk sed grep sort comm paste cat tail head dirname \
		realpath nproc env make "$@"; do
		ln -s "$(command -v "$name")" "$work/bin/$name"
	done
	fake id 'echo 1000'
	fake uname 'echo 1.2.3-board'
}

# Debian without a single package of ours: nothing is installed, all is known.
bare_debian()
{
	machine
	fake dpkg-query 'exit 1'
	fake apt-get "echo called >>$work/called; exit 1"
	fake apt-cache 'exit 0'
	rm -f "$work/called"
}

# deps STATUS ARGUMENT...: exits so
deps()
{
	local want=$1 status=0
	shift
	PATH=$work/bin "$top/scripts/deps" "$@" >"$work/out" 2>"$work/err" ||
		status=$?
	[ "$status" = "$want" ]
}

one_line()
{
	[ "$(wc -l <"$work/out")" = 1 ] &&
		grep -q '^apt-get update && apt-get install ' "$work/out" &&
		[ ! -e "$work/called" ]
}

targets=$(sed -nE 's/^([a-z-]+):.*## .*/\1/p' "$top/Makefile" |
	grep -vxE 'clean|help')
echo "# targets: ${targets//$'\n'/ }"

for target in $targets; do
	bare_debian
	deps 2 "$target" && one_line
	result $? "make $target, as a user on a bare Debian: one line"
done

bare_debian
deps 2 demo check && one_line &&
	grep -q ' babeltrace2 ' "$work/out" && grep -q ' shellcheck ' "$work/out"
result $? "two targets: one line for both"

bare_debian
deps 2 all && one_line && grep -q ' linux-headers-1.2.3-board\b' "$work/out"
result $? "make alone: the headers of the running kernel"

bare_debian
mkdir -p "$work/headers"
KDIR=$work/headers deps 2 modules && one_line && ! grep -q headers "$work/out"
result $? "make KDIR=FOLDER: no headers are asked for"

bare_debian
deps 2 lint && ! grep -q qemu "$work/out"
result $? "make lint: nothing that it has no use for"

# installed PACKAGE...: all that is installed
installed()
{
	bare_debian
	# shellcheck disable=SC2016	# of the faked command
	fake dpkg-query 'for p; do case " '"$*"' " in *" $p "*)
		echo "installed $p" ;; esac; done'
}

installed gcc make libc6-dev liburing-dev libzstd-dev linux-headers-amd64 \
	qemu-system-x86 busybox-static cpio kmod e2fsprogs xz-utils \
	babeltrace2 zstd
deps 2 demo && one_line && grep -q ' linux-headers-amd64\b' "$work/out" &&
	grep -q ' linux-image-amd64\b' "$work/out"
result $? "headers without an image: both are asked for"

# Lists that are there, and do not have the running kernel.
bare_debian
# shellcheck disable=SC2016	# of the faked command
fake apt-cache '[ "$2" = make ]'
PATH=$work/bin "$top/scripts/deps" modules >"$work/out" 2>"$work/err"
grep -q 'which the archives do not have\|no package linux-headers-1.2.3-board' \
	"$work/err" && ! grep -q linux-headers-1.2.3-board "$work/out"
result $? "the archives do not have the running kernel: that is told"

bare_debian
fake apt-cache 'exit 1'
deps 2 modules && one_line && grep -q 'may not have' "$work/err"
result $? "no lists: the line, and that the package may not exist"

KDIR=$work/none deps 2 modules && [ ! -s "$work/out" ] &&
	grep -q "$work/none" "$work/err"
result $? "KDIR= that is not there is told"

# The whole way through make: the target itself is never begun.
bare_debian
PATH=$work/bin make -C "$top" OUT="$work/tree" tools demo \
	>"$work/out" 2>"$work/err"
[ $? = 2 ] && [ ! -e "$work/tree" ] && sed -i '/^make/d' "$work/out" && one_line
result $? "make stops before anything else is tried"

# "clean" waits for the packages, too.
bare_debian
mkdir -p "$work/tree"
PATH=$work/bin make -C "$top" OUT="$work/tree" clean tools \
	>"$work/out" 2>"$work/err"
[ $? = 2 ] && [ -d "$work/tree" ]
result $? "make clean tools: nothing is removed either"
rmdir "$work/tree"

# An empty KDIR= is as none.
bare_debian
PATH=$work/bin make -C "$top" KDIR= modules >"$work/out" 2>"$work/err"
[ $? = 2 ] && sed -i '/^make/d' "$work/out" && one_line &&
	grep -q ' linux-headers-1.2.3-board\b' "$work/out"
result $? "make KDIR= with nothing behind it: the running kernel's headers"

machine
deps 2 demo && grep -qE '^  guest: qemu-system-x86_64 ' "$work/out" &&
	grep -qE '^  tool: <liburing.h> ' "$work/out" &&
	grep -q 'no apt-get' "$work/err"
result $? "without apt: a list of what is missing, by purpose"

machine gcc
deps 2 demo && ! grep -q ': gcc ' "$work/out" &&
	grep -q ': qemu-system-x86_64 ' "$work/out"
result $? "without apt: what is there is not listed"

bare_debian
deps 2 nonsense && grep -q nonsense "$work/err"
result $? "a target that does not exist"

echo "1..$n"
exit "$failed"
