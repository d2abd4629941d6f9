#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_packaging.sh FOLDER: what `make install` installs and `make uninstall` removes, the
# symbols of the library, the source for DKMS, and one version everywhere.
set -u

top=$(cd "$(dirname "$0")/../../.." && pwd)
out=$(cd "$1" && pwd) || exit
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-packaging.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit
version=$(sed -n 's/^ktape-version := //p' "$top/Kbuild")

# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"

# A copy of what the other tests have built. They run it meanwhile, and may build there:
# that takes the same lock (one_builds in scripts/lib.sh).
user=$work/user
built=$(readlink -f "$out/command")
flock "$built/../.build-lock" cp -a "$built" "$user" || exit

# The page of make viewer is installed if it was built.
mkdir -p "$user/viewer"
echo page >"$user/viewer/ktape.html"

# user_make TREE ARGUMENT...: run the makefile of TREE/userspace, with that copy as OUT
user_make()
{
	local tree=$1
	shift
	make -s -C "$tree/userspace" OUT="$user" DESTDIR="$work/root" "$@" >log 2>&1
}

files()
{
	(cd "$work/root" && find . ! -type d | sed 's/^\.//' | sort)
}

# expected PREFIX LIBDIR: print what must be installed, from the tree
expected()
{
	local f
	{
		printf '%s\n' "$1/bin/ktape" "$2"/libktape.{a,so,so.1} \
			"$2/pkgconfig/ktape.pc" \
			"$1/lib/udev/rules.d/60-ktape.rules" \
			"$1"/lib/{sysusers,modprobe}.d/ktape.conf \
			"$1"/lib/systemd/system/ktape-{flight,snapshot@}.service \
			"$1/lib/python3/dist-packages/ktape.py" \
			"$1/share/bash-completion/completions/ktape" \
			"$1/share/zsh/site-functions/_ktape" \
			"$1/share/fish/vendor_completions.d/ktape.fish" \
			"$1/share/ktape/ktape.html"
		for f in "$top"/userspace/include/*.h; do
			echo "$1/include/${f##*/}"
		done
		(cd "$top/uapi" && find ktape -name '*.h') |
			sed "s,^,$1/include/,"
		for f in "$top"/userspace/man/*.[1-8]; do
			echo "$1/share/man/man${f##*.}/${f##*/}"
		done
		(cd "$top/userspace" && find sql -name '*.sql') |
			sed "s,^,$1/share/ktape/,"
	} | sort
}

user_make "$top" PREFIX=/usr install &&
	files | diff <(expected /usr /usr/lib) - >log
result $? "install: every file of the tree has its place, and no other"
find root -type f -perm /111 | sed 's/^root//' | sort >have
printf '%s\n' /usr/bin/ktape /usr/lib/libktape.so.1 | diff - have >log
result $? "install: only programs are executable"
! grep -r '@[A-Z]*@' root/usr/lib/pkgconfig root/usr/lib/systemd >log &&
	grep -q '^ExecStart=/usr/bin/ktape ' root/usr/lib/systemd/system/*.service
result $? "install: units and ktape.pc name the folders"
# Without a device a correct command fails with 1, a wrong one with 2.
sed -n 's,^Exec[A-Z][a-z]*=/usr/bin/ktape ,,p' \
	root/usr/lib/systemd/system/*.service >commands
: >log
while read -r -a words; do
	[ "${words[0]}" = stats ] || words+=(--device "$work/none")
	"$user/ktape" "${words[@]}" >/dev/null 2>said
	[ $? = 1 ] || { echo "${words[*]}"; cat said; } >>log
done <commands
[ "$(wc -l <commands)" = 4 ] && [ ! -s log ]
result $? "units: the command understands what they ask of it"
: >log
for f in "$top"/userspace/man/*.[1-8]; do
	page=${f##*/}
	grep -qE "^\.Nm ${page%.*}( ,)?\$" "$f" || echo "$page" >>log
done
[ ! -s log ]
result $? "man pages: whatis finds each by the name of its file"
touch root/usr/include/ktape/foreign.h root/usr/lib/foreign
user_make "$top" PREFIX=/usr uninstall
files >have
printf '%s\n' /usr/include/ktape/foreign.h /usr/lib/foreign | diff - have >log
result $? "uninstall: removes what was installed, and nothing else"
(cd root/usr && find include -type d) >have
printf '%s\n' include include/ktape | diff - have >log
result $? "uninstall: its own folders go, but the one with another file"
rm -rf root
user_make "$top" PREFIX=/usr LIBDIR=/usr/lib/triplet install &&
	files | diff <(expected /usr /usr/lib/triplet) - >log &&
	grep -qx 'libdir=/usr/lib/triplet' root/usr/lib/triplet/pkgconfig/ktape.pc &&
	grep -qx "Version: $version" root/usr/lib/triplet/pkgconfig/ktape.pc
result $? "install: LIBDIR is the folder of the library alone"
rm -rf root

# The files that shells read, from a command that can run here and from one that cannot.
completions=("$user"/completions/{ktape,_ktape,ktape.fish})
rm -f "${completions[@]}"
user_make "$top" "${completions[@]}" && mkdir built &&
	mv "${completions[@]}" built &&
	user_make "$top" HOSTCC=cc CC=false MICROHTTPD=1 "${completions[@]}" && mkdir cross &&
	mv "${completions[@]}" cross &&
	! find built -empty | grep . >>log &&
	diff -r built cross >>log
result $? "completions: the same for another machine, without its compiler"

mkdir -p kdir/include/generated root/lib/modules/1.2-x/{extra,updates/dkms}
echo '#define UTS_RELEASE "1.2-x"' >kdir/include/generated/utsrelease.h
touch root/lib/modules/1.2-x/{extra/{ktape.ko.xz,other.ko},updates/dkms/ktape.ko}
make -s -C "$top" OUT="$work/none" DESTDIR="$work/root" KDIR="$work/kdir" \
	PREFIX=/usr uninstall >log 2>&1
files >have
printf '/lib/modules/1.2-x/%s\n' extra/other.ko updates/dkms/ktape.ko |
	diff - have >log
result $? "uninstall: the module of this kernel, but not that of DKMS"
rm -rf root

# ---- the library -------------------------------------------------------------

objdump -T "$user/libktape.so.1" |
	awk '/^[0-9a-f]/ && !/\*UND\*|\*ABS\*/ { print $NF, $(NF - 1) }' |
	sort >exported
sed -n 's/^\t\(ktape_[a-z0-9_]*\);$/\1 KTAPE_1.0/p' \
	"$top/userspace/lib/ktape.map" | sort >listed
[ -s listed ] && diff listed exported >log
result $? "library: exports the symbols of ktape.map with their version, and no other"
# Inline functions and those of the header for programs are not in the library.
cat "$top"/userspace/include/ktape{,-*}.h | tr '\n' ' ' |
	sed 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/,,g' |
	grep -oE '[^;{}]*\bktape_[a-z0-9_]+\([^;{}()]*(\([^()]*\)[^;{}()]*)*\)(__attribute__[^;]*)?;' |
	grep -v 'static inline' | grep -oE '\bktape_[a-z0-9_]+\(' |
	tr -d '(' | sort -u >declared
cut -d ' ' -f 1 listed | comm -23 - declared >log
[ -s declared ] && [ ! -s log ]
result $? "library: each symbol is declared in a public header"

# ---- DKMS and packages ---------------------------------------------------------

"$top/scripts/dkms" source dkms >log 2>&1 &&
	(cd "dkms/ktape-$version" && find . -type f | sort) >have &&
	(cd "$top" && find ./Kbuild ./LICENSE ./module ./uapi \
		\( -name '*.[ch]' -o -name Kbuild -o -name LICENSE \) \
		! -name '*.mod.c' && echo ./dkms.conf) | sort | diff - have >log
result $? "dkms: the source is all that Kbuild reads, and dkms.conf"
DESTDIR=$work/d "$top/scripts/dkms" install >log 2>&1 &&
	diff -r "dkms/ktape-$version" "d/usr/src/ktape-$version" >log &&
	DESTDIR=$work/d "$top/scripts/dkms" uninstall >log 2>&1 &&
	[ -z "$(ls d/usr/src)" ]
result $? "dkms: install and uninstall honour DESTDIR"
# shellcheck disable=SC1090,SC2154	# dkms.conf is such a script, and sets these
(
	set -eu
	. "dkms/ktape-$version/dkms.conf"
	[ "$PACKAGE_NAME-$PACKAGE_VERSION" = "ktape-$version" ]
	for good in 5.10.0-46-amd64 6.1.0 7.3.4 10.0.1; do
		[[ $good =~ $BUILD_EXCLUSIVE_KERNEL ]]
	done
	for bad in 4.19.0 5.4.0 5.9.16 3.10.0-1160; do
		[[ ! $bad =~ $BUILD_EXCLUSIVE_KERNEL ]]
	done
	for good in x86_64 i686 aarch64 armv7l riscv64; do
		[[ $good =~ $BUILD_EXCLUSIVE_ARCH ]]
	done
	[[ ! s390x =~ $BUILD_EXCLUSIVE_ARCH ]]
) >log 2>&1
result $? "dkms: dkms.conf takes the kernels and machines that are supported"

# version_in FILE EXPRESSION: the version that sed finds must be that of Kbuild
version_in()
{
	local found
	found=$(sed -nE "s/$2/\\1/p" "$top/$1" | head -n 1)
	[ "$found" = "$version" ] || echo "$1: $found, not $version" >>log
}
: >log
packaging=scripts/packaging
version_in $packaging/debian/changelog '^ktape \(([^)-]*).*'
version_in $packaging/fedora/ktape.spec '^Version: *(.*)'
version_in $packaging/arch/PKGBUILD '^pkgver=(.*)'
version_in $packaging/buildroot/package/ktape/ktape.mk '^KTAPE_VERSION = (.*)'
for f in "$top/$packaging"/yocto/*/*/*.bb; do
	case ${f##*/} in
	*_"$version".bb) ;;
	*) echo "$f is not of version $version" >>log ;;
	esac
done
[ "$("$user/ktape" --version | head -n 1 | cut -d ' ' -f 2)" = "$version," ] ||
	echo "ktape --version: $("$user/ktape" --version)" >>log
[ ! -s log ]
result $? "one version: $version, in the command and all packages"
bash -n "$top/$packaging/arch/PKGBUILD" 2>log
result $? "Arch: PKGBUILD is a script"

# Buildroot's variables and infrastructures, reduced to what they hand on.
cat >buildroot.mk <<'EOT'
BR2_EXTERNAL_KTAPE_PATH := $(packaging)/buildroot
BR2_PACKAGE_KTAPE_FORMATS := "tband rkh"
TARGET_MAKE_ENV := ENV=1
TARGET_CONFIGURE_OPTS := CC=target-gcc
HOSTCC := /usr/bin/gcc
TARGET_DIR := /target
STAGING_DIR := /staging
qstrip = $(strip $(subst ",,$(1)))
kernel-module = $(eval infrastructures += kernel-module)
generic-package = $(eval infrastructures += generic-package)
include $(BR2_EXTERNAL_KTAPE_PATH)/external.mk
show:
	@echo '$(infrastructures) $(KTAPE_SITE_METHOD) $(KTAPE_SITE)'
build:
	$(KTAPE_BUILD_CMDS)
target:
	$(KTAPE_INSTALL_TARGET_CMDS)
staging:
	$(KTAPE_INSTALL_STAGING_CMDS)
EOT
buildroot()
{
	# Not a part of the make that runs the tests: no word about its jobs.
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -n -f buildroot.mk packaging="$top/$packaging" "$1" 2>&1
}
for target in show build target staging; do
	buildroot $target
done >have
user_make='-C ./userspace OUT=./out/user PREFIX=/usr HOSTCC="/usr/bin/gcc" NCURSES= NCURSES_LIBS=-lncursesw MICROHTTPD= FORMATS="tband rkh"'
diff - have <<EOT >log
echo 'kernel-module generic-package local $top'
ENV=1 make CC=target-gcc $user_make all
ENV=1 make CC=target-gcc $user_make DESTDIR="/target" install
ENV=1 make CC=target-gcc $user_make DESTDIR="/staging" install
EOT
result $? "Buildroot: the package expands to its builds and installs"
echo "1..$n"
exit $failed
