#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test scripts/deps: each make target finds its packages or prints what is
# missing: on a bare machine, as a user, without apt, and with other headers.
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

# fake NAME BODY: replace a command in the fake PATH
fake()
{
	# Remove the link first, to leave the real command alone.
	rm -f "$work/bin/$1"
	printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

# machine [NAME...]: create a PATH with the commands of every Debian, and these
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

# bare_debian: a Debian on which none of our packages is installed and all are
# available.
bare_debian()
{
	machine
	fake dpkg-query 'exit 1'
	fake apt-get "echo called >>$work/called; exit 1"
	fake apt-cache 'exit 0'
	rm -f "$work/called"
}

# deps STATUS ARGUMENT...: it must exit with STATUS
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

targets=$(sed -nE 's/^([a-z0-9-]+):.*## .*/\1/p' "$top/Makefile" |
	grep -vxE 'clean|help|uninstall|dkms-uninstall')
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
result $? "make without a target: the headers of the running kernel"

bare_debian
deps 2 dkms-install && one_line && grep -q ' linux-headers-1.2.3-board\b' "$work/out"
result $? "make dkms-install: the headers of the running kernel, too"

bare_debian
mkdir -p "$work/headers"
KDIR=$work/headers deps 2 modules && one_line && ! grep -q headers "$work/out"
result $? "make KDIR=FOLDER: no headers are asked for"

bare_debian
deps 2 lint && ! grep -q qemu "$work/out"
result $? "make lint: only packages that it uses"

# installed PACKAGE...: a Debian with only these packages
installed()
{
	bare_debian
	# shellcheck disable=SC2016	# of the faked command
	fake dpkg-query 'for p; do case " '"$*"' " in *" $p "*)
		echo "installed $p" ;; esac; done'
}

installed gcc make libc6-dev liburing-dev libzstd-dev libncurses-dev \
	libmicrohttpd-dev linux-headers-amd64 \
	qemu-system-x86 busybox-static cpio kmod e2fsprogs xz-utils \
	babeltrace2 zstd
deps 2 demo && one_line && grep -q ' linux-headers-amd64\b' "$work/out" &&
	grep -q ' linux-image-amd64\b' "$work/out"
result $? "headers without an image: both are asked for"

# Package lists without the running kernel.
bare_debian
# shellcheck disable=SC2016	# of the faked command
fake apt-cache '[ "$2" = make ]'
PATH=$work/bin "$top/scripts/deps" modules >"$work/out" 2>"$work/err"
grep -q 'which the archives do not have\|no package linux-headers-1.2.3-board' \
	"$work/err" && ! grep -q linux-headers-1.2.3-board "$work/out"
result $? "archives without the running kernel: reported"

bare_debian
fake apt-cache 'exit 1'
deps 2 modules && one_line && grep -q 'may not have' "$work/err"
result $? "no package lists: the line, and a note that a package may not exist"

KDIR=$work/none deps 2 modules && [ ! -s "$work/out" ] &&
	grep -q "$work/none" "$work/err"
result $? "a missing KDIR is reported"

# Through make itself: the target is never started.
bare_debian
PATH=$work/bin make -C "$top" OUT="$work/tree" tools demo \
	>"$work/out" 2>"$work/err"
[ $? = 2 ] && [ ! -e "$work/tree" ] && sed -i '/^make/d' "$work/out" && one_line
result $? "make stops before it starts the target"

# "clean" needs the packages, too.
bare_debian
mkdir -p "$work/tree"
PATH=$work/bin make -C "$top" OUT="$work/tree" clean tools \
	>"$work/out" 2>"$work/err"
[ $? = 2 ] && [ -d "$work/tree" ]
result $? "make clean tools: stops before it removes anything"
rmdir "$work/tree"

# An empty KDIR= counts as none.
bare_debian
PATH=$work/bin make -C "$top" KDIR= modules >"$work/out" 2>"$work/err"
[ $? = 2 ] && sed -i '/^make/d' "$work/out" && one_line &&
	grep -q ' linux-headers-1.2.3-board\b' "$work/out"
result $? "make with an empty KDIR=: the running kernel's headers"

machine
deps 2 demo && grep -qE '^  guest: qemu-system-x86_64 ' "$work/out" &&
	grep -qE '^  tool: <liburing.h> ' "$work/out" &&
	grep -q 'no apt-get' "$work/err"
result $? "without apt: a list of what is missing, by purpose"

machine gcc
deps 2 demo && ! grep -q ': gcc ' "$work/out" &&
	grep -q ': qemu-system-x86_64 ' "$work/out"
result $? "without apt: what is installed is not listed"

bare_debian
deps 2 nonsense && grep -q nonsense "$work/err"
result $? "a target that does not exist"

echo "1..$n"
exit "$failed"
