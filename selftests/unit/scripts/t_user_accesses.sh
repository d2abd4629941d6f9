#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_user_accesses.sh FOLDER (not used): t_hostile_fault.c lets each access of the module to
# a program's memory fault.
set -u
top=$(cd "${0%/*}/../../.." && pwd) || exit
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-accesses.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"

functions='(__|unsafe_)?(get|put)_user'
functions+='|(__)?copy_(from|to)_user(_nofault|_inatomic)?'
functions+='|copy_struct_(from|to)_user|v?memdup_(array_)?user(_nul)?'
functions+='|copy_(from|to)_iter(_full)?|copy_page_(from|to)_iter'
functions+='|(__)?clear_user|iov_iter_zero|strn(cpy_from|len)_user(_nofault)?'
functions+='|import_(ubuf|iovec)|access_process_vm|get_user_pages[a-z_]*|pin_user_pages[a-z_]*'

# accesses_of FOLDER: print the file and the function of each access, once
accesses_of()
{
	(cd "$1" && grep -rvE --include='*.[ch]' '^[[:space:]]*(/\*|\*)' .) |
		sed -nE "s,^\./([^:]*):(.*[^a-z_])?($functions)\(.*,\1 \3,p" | sort -u
}

accesses_of "$top/module" >module
grep -oE '"[a-z]+/[a-z_]+\.c [a-z_]+' "$top/selftests/guest/hostile/t_hostile_fault.c" |
	tr -d '"' | sort -u >tested
diff module tested >log && [ -s module ]
result $? "each access in module/ is in t_hostile_fault.c, and no other"
mkdir -p made/dev
printf '\tif (copy_to_user(to, from, n))\n' >made/dev/new.c
[ "$(accesses_of made)" = "dev/new.c copy_to_user" ]
result $? "a new one is found"
echo "1..$n"
exit $failed
