#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Compare ktape-ioctl(4) and ktape-module(4) with the headers and the module: each
# command has its number, structure, right and errors there, each parameter has its
# default, and there are no others.
#
# usage: t_man_kernel.sh FOLDER (not used)
set -u
top=$(cd "${0%/*}/../../.." && pwd) || exit
uapi=$top/uapi/ktape
page=$top/userspace/man/ktape-ioctl.4
module=$top/userspace/man/ktape-module.4
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-man.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"

# numbers: print the name and the number of each command of ioctl.h.  The argument
# of each has the size of a __u32.
numbers()
{
	awk '/^#define KTAPE_[A-Z_]*IOC_[A-Z_]*[ \t]*_IO/ {
		name = $2
		dir = /_IOWR\(/ ? 3 : 1
		match($0, /, [0-9]+,/)
		nr = substr($0, RSTART + 2, RLENGTH - 3)
		printf "%s 0x%x004e9%02x\n", name, dir * 4, nr
	}' "$uapi/ioctl.h"
}

# tables: print name, structure and right of each command, from the module
tables()
{
	local dev=$top/module/dev

	awk '
	NR == FNR {
		if (/^union kt_ioctl_arg/)
			inside = 1
		else if (/^}/)
			inside = 0
		else if (inside && $1 == "struct")
			of[substr($3, 1, length($3) - 1)] = $2
		next
	}
	/^\tIOCTL\(/ {
		gsub(/[(),]/, " ")
		right = $4 == "HANDLER" ? "operation" : tolower($4)
		print "KTAPE_IOC_" $2, of[$3], right
	}' "$dev/internal.h" "$dev/ioctl.c"
	sed -nE 's/.*\{ (KTAPE_MARK_IOC_[A-Z]+), sizeof\(struct ([a-z_]+)\).*/\1 \2 any/p' \
		"$dev/mark.c"
}

# described PAGE: print name, number, structure, right and version of each entry
described()
{
	awk '
	/^\.It Dv KTAPE_/ { name = $3; nr = 0; next }
	name == "" || ++nr > 3 { next }
	nr == 1 { number = $1; sub(/,$/, "", number) }
	nr == 2 { structure = $3 }
	nr == 3 {
		gsub(/;/, "")
		print name, number, structure, $1, $3
	}' "$1"
}

# errors_described PAGE: print structure and error, for each error of an entry
errors_described()
{
	awk '
	/^\.It / || /^\.S[sh] / { structure = "" }
	/^\.Vt struct / && !structure { structure = $3 }
	structure && (/^\.Er / || /^\.P[qo] Er /) {
		for (i = 2; i <= NF; i++)
			if ($i ~ /^E[A-Z0-9]+$/)
				print structure, $i
	}' "$1" | sort -u
}

# errors_of_headers: print structure and error, for each error in the comment of a
# structure of a command.  Not all versions of awk know {3,}.
errors_of_headers()
{
	awk '
	FILENAME ~ /errno/ { if ($1 == "#define") is_error[$2]; next }
	/^\/\*\*/ { comment = "" }
	/^ \*/ { comment = comment " " $0 }
	/^struct [a-z_]+ \{/ {
		while (match(comment, /[ :]E[A-Z0-9]+[^A-Za-z_0-9*]/)) {
			word = substr(comment, RSTART + 1, RLENGTH - 2)
			if (word in is_error)
				print $2, word
			comment = substr(comment, RSTART + RLENGTH - 1)
		}
		comment = ""
	}' /usr/include/asm-generic/errno*.h "$uapi"/*.h | sort -u
}

# The rules of all commands have these.
general='EFAULT|EINVAL|ENOMEM|ENOTTY|E2BIG|EPERM'

# check_errors PAGE: each error of a structure that the headers tell must be on the
# page, and each on the page must be in the header of the structure
check_errors()
{
	local structure error bad=0

	errors_described "$1" >there
	while read -r structure error; do
		if ! grep -qE "^struct $structure \{" "$uapi"/*.h; then
			echo "no header has struct $structure"
			bad=1
		elif [[ ! $error =~ ^($general)$ ]] &&
		     ! grep -lE "^struct $structure \{" "$uapi"/*.h |
				xargs grep -qw "$error"; then
			echo "$structure: no header tells of $error"
			bad=1
		fi
	done <there
	while read -r structure error; do
		if [[ ! $error =~ ^($general)$ ]] &&
		   grep -q "struct $structure ;" "$1" &&
		   ! grep -qx "$structure $error" there; then
			echo "$structure: $error is missing"
			bad=1
		fi
	done < <(errors_of_headers)
	return "$bad"
}

# check_entries PAGE: the entries are the commands
check_entries()
{
	diff <(join <(numbers | sort) <(tables | sort)) \
		<(described "$1" | cut -d' ' -f1-4 | sort)
}

# check_versions PAGE: each version is one of NEWS.md
check_versions()
{
	local version bad=0

	while read -r version; do
		grep -q "^## ${version//./\\.}\.0$" "$top/.github/NEWS.md" && continue
		echo "NEWS.md has no version $version"
		bad=1
	done < <(described "$1" | awk '{ print $5 }' | sort -u)
	return "$bad"
}

# parameters: print name and default of each parameter of the module.  That of a
# text is the empty one where the code decides, and then nothing is compared.
parameters()
{
	awk '
	/^static .* = .*;$/ {
		value = $0
		sub(/.* = /, "", value)
		gsub(/[";]/, "", value)
		sub(/KTAPE_MARK_TEXT_MAX/, 1024, value)
	}
	/^static .*;$/ && !/=/ { value = 0 }
	/^module_param(_hw)?\(/ {
		gsub(/.*\(|,.*/, "")
		print $0, value == "" || $0 == "block" ? "-" : value
	}' "$top"/module/params.c
}

# check_parameters PAGE: each parameter of the module is there with its default, and
# no other
check_parameters()
{
	local name value bad=0

	diff <(parameters | cut -d' ' -f1 | sort) \
		<(sed -nE 's/^\.It Li ([a-z_]+) Ns = .*/\1/p' "$1" | sort) || bad=1
	while read -r name value; do
		[ "$value" = - ] || awk -v name="$name" '
			/^\.(It|El)/ { inside = $3 == name }
			inside' "$1" | grep -B 1 -w default | grep -qw -- "$value" || {
			echo "$name: the default is $value"
			bad=1
		}
	done < <(parameters)
	return "$bad"
}

# drifts CHECK PAGE SED-SCRIPT: CHECK must fail for a page that was changed so
drifts()
{
	sed "$3" "$2" >changed
	if cmp -s "$2" changed; then
		echo "changes nothing: $3"
		return 1
	fi
	if "$1" changed >found; then
		echo "is not found: $3"
		return 1
	fi
}

[ "$(numbers | wc -l)" = "$(tables | wc -l)" ] && check_entries "$page" >log
result $? "each command has its number, structure and right, and there is no other"
check_errors "$page" >log
result $? "the errors are those of the headers"
check_versions "$page" >log
result $? "the versions are those of the history"
[ "$(parameters | wc -l)" -ge 12 ] && check_parameters "$module" >log
result $? "the parameters are those of the module, with their defaults"
{
	drifts check_entries "$page" 's/KTAPE_IOC_STOP$/KTAPE_IOC_STOPPED/' &&
		drifts check_entries "$page" 's/0xc004e914/0xc004e915/' &&
		drifts check_entries "$page" 's/^control; since 0.2/any; since 0.2/' &&
		drifts check_errors "$page" 's/^\.Er ENXIO/.Er ENOENT/' &&
		drifts check_errors "$page" 's/^\.Er EEXIST/.Er EROFS/' &&
		drifts check_versions "$page" 's/since 0.5/since 0.05/' &&
		drifts check_parameters "$module" 's/^.It Li clock/.It Li clocks/' &&
		drifts check_parameters "$module" 's/default 8192/default 8193/'
} >log
result $? "a page that differs is detected"
echo "1..$n"
exit $failed
