# SPDX-License-Identifier: GPL-2.0-only
# Paths and helpers for every host script: sourced, never run.
# shellcheck shell=bash
# shellcheck disable=SC2034	# used by the scripts that source this file

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$(realpath -m "${OUT:-$top/out}")
cache=${KTAPE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ktape}
# Cache for the debug kernel and the tests' headers.
source_series=${KTAPE_DEBUG_SERIES:-6.12}

die()
{
	echo "${0##*/}: $*" >&2
	exit 2
}

# put_between FILE NAME <TEXT: replace the lines between the markers "<!-- NAME begin
# -->" and "<!-- NAME end -->" of FILE
put_between()
{
	local text
	text=$(cat)
	TEXT=$text awk -v begin="<!-- $2 begin -->" -v end="<!-- $2 end -->" '
		$0 == end { ended = inside; inside = 0 }
		!inside { print }
		$0 == begin { print ENVIRON["TEXT"]; inside = 1 }
		END { exit !ended }' "$1" >"$1.new" ||
		{ rm -f "$1.new"; die "$1: no markers of $2"; }
	mv "$1.new" "$1"
}

# Scripts called from make start their own make: without this its jobserver
# and command-line variables would leak into kbuild.
unset MFLAGS MAKELEVEL MAKEOVERRIDES
MAKEFLAGS=-j$(nproc)
export MAKEFLAGS

# cache_compiles: let ccache, where it is installed, keep what the compilers make, beside the
# built kernels. Tests build the same sources in each clone of the tree, some of them in
# several folders, and then compile only what is new. Paths are relative to the tree, and
# debug information may name the folder of another clone; so would the files of dependencies,
# whose rules name their targets (-MT). KTAPE_CCACHE= (empty) goes without.
cache_compiles()
{
	local masquerade=/usr/lib/ccache folder=${CCACHE_DIR:-$cache/ccache}
	[ -n "${KTAPE_CCACHE-1}" ] && [ -x "$masquerade/gcc" ] || return 0
	mkdir -p "$folder" 2>/dev/null && [ -w "$folder" ] || return 0
	[[ :$PATH: == *:$masquerade:* ]] || PATH=$masquerade:$PATH
	export PATH CCACHE_DIR=$folder CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1
}

# one_builds COMMAND...: run a build in out/ while concurrent ones wait
one_builds()
{
	{ flock 8 && "$@"; } 8>"$out/.build-lock"
}

# has_serve: is there the dynamic command, with ktape serve? Its library cannot be linked
# statically.
has_serve()
{
	"$out/user/ktape" help | grep -q '^  serve '
}

# command_libraries: print the libraries of the dynamic command, and of the one that it
# loads itself, which is linked nowhere
command_libraries()
{
	local all
	all=$(mktemp "${TMPDIR:-/tmp}/ktape-all.XXXXXX")
	cc -x c -o "$all" - -lmicrohttpd <<-'END'
		int MHD_is_feature_supported(int);
		int main(void) { return MHD_is_feature_supported(0); }
	END
	ldd "$out/user/ktape" "$all" |
		awk '{ for (i = 1; i <= NF; i++) if ($i ~ "^/" && $i !~ ":$") print $i }' |
		sort -u
	rm "$all"
}

# plain_versions DIR PREFIX: the versions, oldest first, of the plain (no -rt, no
# -cloud) amd64 kernels that have DIR/PREFIX<version>.
plain_versions()
{
	local f v
	for f in "$1/$2"*-amd64; do
		v=${f##*/"$2"}
		case $v in
		*-rt-amd64 | *-cloud-amd64) continue ;;
		esac
		[ ! -e "$f" ] || echo "$v"
	done | sort -V
}

# stock_version: print the kernel of this Debian release, which guests boot by
# default; nothing if its image or headers are missing. Without dpkg, the oldest
# kernel that has both.
stock_version()
{
	local v found=
	v=$(dpkg-query -W -f='${Depends}' linux-image-amd64 2>/dev/null |
		sed -n 's/^linux-image-\([^ ,]*\).*/\1/p') || true
	for v in ${v:-$(plain_versions /boot vmlinuz-)}; do
		if [ -e "/boot/vmlinuz-$v" ] && [ -d "$(headers_dir "$v")" ]; then
			found=$v
			break
		fi
	done
	echo "$found"
}

# newer_version: print the newest kernel with headers here, if it is newer than
# the stock kernel.
newer_version()
{
	local stock newest
	stock=$(stock_version)
	newest=$({ echo "$stock"; plain_versions /usr/src linux-headers-; } |
		sort -V | tail -n 1)
	[ "$newest" = "$stock" ] || echo "$newest"
}

# headers_dir VERSION: print the KDIR of a Debian kernel.
headers_dir()
{
	echo "/usr/src/linux-headers-$1"
}

# Print the default KDIR: the running kernel's headers, else those of the kernel
# that guests boot, else the newest here, because the tree is often built on a
# machine that cannot load the module.
default_kdir()
{
	local v dir
	dir=/lib/modules/$(uname -r)/build
	if [ -d "$dir" ]; then
		echo "$dir"
		return
	fi
	v=$(stock_version)
	[ -n "$v" ] || v=$(plain_versions /usr/src linux-headers- | tail -n 1)
	[ -z "$v" ] || headers_dir "$v"
}

# our_files: print every source file, relative to the top, without generated
# files. safe.directory lets root read the clone of a user. A tree without .git may
# lie in another project's repository, which does not know these files.
our_files()
{
	(
		cd "$top" || exit
		if [ ! -e .git ] || ! git -c safe.directory="$top" ls-files -co \
			--exclude-standard 2>/dev/null; then
			find . \( -path ./out -o -path ./.git \) -prune -o \
				-type f -print | sed 's,^\./,,'
		fi | sort -u | while read -r f; do
			[ ! -f "$f" ] || echo "$f"
		done
	)
}
