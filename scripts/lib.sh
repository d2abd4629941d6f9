# SPDX-License-Identifier: GPL-2.0-only
# Where things are, for every host script: sourced, never run.
# shellcheck shell=bash
# shellcheck disable=SC2034	# used by the scripts that source this file

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$(realpath -m "${OUT:-$top/out}")
cache=${KTAPE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ktape}
stock_series=6.1
newer_series=6.12

die()
{
	echo "${0##*/}: $*" >&2
	exit 2
}

# Scripts called from make start their own make: without this its jobserver
# and command-line variables would leak into kbuild.
unset MFLAGS MAKELEVEL MAKEOVERRIDES
MAKEFLAGS=-j$(nproc)
export MAKEFLAGS

# one_builds COMMAND...: what runs beside it and builds in out/, too, waits
one_builds()
{
	{ flock 8 && "$@"; } 8>"$out/.build-lock"
}

# newest_version DIR PREFIX SERIES: the newest plain (no -rt, no -cloud) amd64
# kernel version of SERIES that has DIR/PREFIX<version>.
newest_version()
{
	local f v
	for f in "$1/$2${3:+$3.}"*-amd64; do
		v=${f##*/"$2"}
		case $v in
		*-rt-amd64 | *-cloud-amd64) continue ;;
		esac
		[ ! -e "$f" ] || echo "$v"
	done | sort -V | tail -n 1
}

# The installed Debian kernel that guests boot by default.
stock_version()
{
	newest_version /boot vmlinuz- "$stock_series"
}

# headers_dir VERSION: the KDIR of a Debian kernel.
headers_dir()
{
	echo "/usr/src/linux-headers-$1"
}

# Where to build by default: the running kernel's headers, else those of the
# newest Debian kernel that could boot here (the tree is often built on a
# machine that cannot load the result).
default_kdir()
{
	local v dir
	dir=/lib/modules/$(uname -r)/build
	if [ -d "$dir" ]; then
		echo "$dir"
		return
	fi
	for v in "$(newest_version /boot vmlinuz- "$stock_series")" \
		 "$(newest_version /boot vmlinuz- '')"; do
		if [ -n "$v" ] && [ -d "$(headers_dir "$v")" ]; then
			headers_dir "$v"
			return
		fi
	done
}

# our_files: every source file, relative to the top; not what was built.
our_files()
{
	(
		cd "$top" || exit
		if [ -e .git ] && command -v git >/dev/null; then
			git ls-files -co --exclude-standard | sort -u
		else
			find . -path ./out -prune -o -type f -print |
				sed 's,^\./,,' | sort
		fi | while read -r f; do
			[ ! -f "$f" ] || echo "$f"
		done
	)
}
