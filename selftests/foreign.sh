# SPDX-License-Identifier: GPL-2.0-only
# Programs of Debian for a guest of another architecture: sourced after lib.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154	# top is of lib.sh

# guest_arch KERNEL: print Debian's name of the architecture that scripts/guest -k KERNEL
# boots: that of a row of selftests/matrix.tsv, else this machine's
guest_arch()
{
	"$top/scripts/matrix-rows" "$1" 2>/dev/null | cut -f 4 | grep . ||
		dpkg --print-architecture
}

# no_foreign ARCH [PACKAGE...]: print why no guest of the architecture can be booted with
# these packages, or return 1
no_foreign()
{
	local arch=$1 log
	log=$(mktemp "${TMPDIR:-/tmp}/ktape-foreign.XXXXXX")
	if ! command -v "qemu-system-$arch" >/dev/null; then
		echo "no qemu-system-$arch (apt-get install qemu-system-misc)"
	elif ! { "$top/scripts/kernel-fetch" "$arch" && "$top/scripts/sysroot" "$arch" &&
		{ [ $# = 1 ] || "$top/scripts/sysroot" "$@"; }; } >/dev/null 2>"$log"; then
		tail -n 1 "$log"
	else
		rm -f "$log"
		return 1
	fi
	rm -f "$log"
}

# find_library ROOT NAME: print the place of a shared library below a root
find_library()
{
	find "$1"/lib* "$1"/usr/lib* -name "$2" ! -type d -printf '/%P\t%H\n' 2>/dev/null |
		awk -v root="$1" -F '\t' '{ print substr($2, length(root) + 1) $1; exit }'
}

# stage_foreign ROOT DESTINATION FILE...: copy programs and libraries of a root, with all
# libraries that they are linked with. ldd could not run them here.
stage_foreign()
{
	local root=$1 to=$2 name file
	local -a todo=("${@:3}")
	while [ ${#todo[@]} -gt 0 ]; do
		file=${todo[0]}
		todo=("${todo[@]:1}")
		[ ! -e "$to$file" ] || continue
		mkdir -p "$to$(dirname "$file")"
		cp -L "$root$file" "$to$file"
		while read -r name; do
			# The program loader's place is in the program.
			file=$name
			[[ $name = /* ]] || file=$(find_library "$root" "$name")
			[ -n "$file" ] || die "no $name in $root"
			todo+=("$file")
		done < <(readelf -d -l "$to$file" 2>/dev/null | sed -n \
			's/.*Shared library: \[\(.*\)\]/\1/p; s,.*interpreter: \([^]]*\)\],\1,p')
	done
}
