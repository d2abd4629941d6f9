#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The checks of the architecture refuse what breaks it, and say it in plain words.
# A copy of the tree is broken on purpose, in one place at a time.
# shellcheck disable=SC2016	# tabs and quotes of C, not of the shell
set -u

# shellcheck source=scripts/lib.sh
. "$(cd "$(dirname "$0")/../../.." && pwd)/scripts/lib.sh"
# shellcheck source=selftests/unit/support/proved.sh
. "$top/selftests/unit/support/proved.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-layers.XXXXXX")
trap 'rm -rf "$work"' EXIT
# It breaks files by their names.
(cd "$top" && our_files) >"$work/names"
skip_if_proved t_layers "$top"/scripts/{check-layers,check-names,circles,layers,lint,lib.sh,names} "$work/names"
tree=$work/tree
export OUT=$work/out

n=0
failed=0
skipped=0

# result STATUS WHAT: print a test line; with what the check printed if it failed
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	failed=1
	echo "not ok $n - $2"
	sed 's/^/# /' "$work/log" | head -n 20
}

# check COMMAND...: run it in the copy
check()
{
	(cd "$tree" && "$@") >"$work/log" 2>&1
}

# accepted WHAT COMMAND...: it passes and prints nothing
accepted()
{
	local what=$1
	shift
	check "$@" && [ ! -s "$work/log" ]
	result $? "$what"
}

# refused WHAT WORDS COMMAND...: it fails and prints a line with these words
refused()
{
	local what=$1 words=$2
	shift 2
	! check "$@" && grep -qF -- "$words" "$work/log"
	result $? "$what"
}

# include FILE HEADER: add the line to that file of the copy
include()
{
	printf '#include "%s"\n' "$2" >>"$tree/$1"
}

# restore FILE: as it is in our tree
restore()
{
	rm -f "$tree/$1"
	[ ! -e "$top/$1" ] || cp "$top/$1" "$tree/$1"
}

mkdir -p "$tree" "$OUT"
(cd "$top" && our_files | grep -v '^shared/' | tr '\n' '\0' |
	xargs -0 cp --parents -t "$tree")

accepted 'the tree as it is' scripts/check-layers

f=module/ring/ring.c
include $f event/event.h
refused 'an include of a folder that stands above' \
	"$f:$(wc -l <"$tree/$f") includes module/event/event.h of module/event, which stands above module/ring" \
	scripts/check-layers
restore $f

f=module/persist/region.c
include $f emit/emit.h
refused 'an include of a folder that the table does not allow' \
	'includes module/emit/emit.h of module/emit, which module/persist may not use (scripts/layers)' \
	scripts/check-layers
restore $f

f=userspace/lib/format/native/native.h
include $f format/rkh/rkh.h
refused 'a format that includes another one' \
	"includes userspace/lib/format/rkh/rkh.h of userspace/lib/format/rkh, which stands beside userspace/lib/format/native: neither may use the other" \
	scripts/check-layers
restore $f

f=userspace/lib/format/rkh/new.inc
: >"$tree/$f"
include userspace/lib/format/native/out.c format//rkh/new.inc
refused "a format that includes another one's table" \
	"includes $f of userspace/lib/format/rkh, which stands beside userspace/lib/format/native" \
	scripts/check-layers
restore userspace/lib/format/native/out.c
restore $f

f=userspace/lib/format/native/out.c
printf '#define HEADER "format/rkh/rkh.h"\n#include HEADER\n' >>"$tree/$f"
refused 'an include whose name is a macro' \
	"$f:$(wc -l <"$tree/$f"): write the name of the included file here" \
	scripts/check-layers
restore $f

f=module/names/private.h
: >"$tree/$f"
include module/probes/probe.c names/private.h
refused 'a header of another folder that is not the one it shows' \
	"includes $f: other folders include only names.h of module/names" \
	scripts/check-layers
restore module/probes/probe.c
restore $f

f=userspace/lib/stream/internal.h
[ -e "$tree/$f" ] || : >"$tree/$f"
include userspace/lib/trace/merge.c stream/internal.h
refused "another folder's internal.h" \
	"includes $f, which is for the files of userspace/lib/stream only" \
	scripts/check-layers
restore userspace/lib/trace/merge.c
restore $f

printf '#include "b.h"\n' >"$tree/module/ring/a.h"
printf '#include "c.h"\n' >"$tree/module/ring/b.h"
printf '#include "a.h"\n' >"$tree/module/ring/c.h"
include module/ring/ring.c a.h
check scripts/check-layers
words="$(tr '\n' ' ' <"$work/log")"
[[ $words == *"a cycle: "*"module/ring/b.h includes module/ring/c.h"* ]]
result $? 'headers that include each other'
restore module/ring/ring.c
rm "$tree"/module/ring/[abc].h

include module/ring/ring.c no_such_file.h
refused 'a header that does not exist' \
	'includes "no_such_file.h": there is no such file' scripts/check-layers
restore module/ring/ring.c

mkdir "$tree/module/new"
: >"$tree/module/new/new.c"
refused 'a folder without a row' \
	'module/new/new.c: its folder is not in scripts/layers' scripts/check-layers
rm -r "$tree/module/new"

cp "$tree/scripts/layers" "$work/layers"
sed -i 's/^ring\t.*/& event/' "$tree/scripts/layers"
refused 'a row that names a row below it' \
	'scripts/layers: ring names event, which is not above it' scripts/check-layers
cp "$work/layers" "$tree/scripts/layers"

# Objects for the check of calls: one without symbols for each source of the copy,
# which are older, and three that call each other.
objects()
{
	local f to
	gcc -c -x c -o "$work/empty.o" - <<<'' || return
	(cd "$tree" && find module userspace -name '*.c') | while read -r f; do
		case $f in
		module/*) to=$work/module/$f ;;
		*) to=$work/user/${f#userspace/} ;;
		esac
		mkdir -p "${to%/*}"
		ln -f "$work/empty.o" "${to%.c}.o"
	done
}

# object FILE: its C text is on standard input
object()
{
	rm -f "$work/$1"
	gcc -c -x c -o "$work/$1" -
}
calls=(scripts/check-layers calls "$work/module" "$work/user")

objects
: >"$tree/scripts/circles"
object module/module/event/event.o <<<'int kt_event_losses(void) { return 1; }
	int kt_event_count;'
object module/module/probes/probe.o <<<'int kt_event_losses(void);
	int kt_probe(void) { return kt_event_losses(); }'
accepted 'calls down' "${calls[@]}"

object module/module/ring/ring.o <<<'int kt_event_losses(void);
	int kt_ring(void) { return kt_event_losses(); }'
refused 'a call of a folder that stands above' \
	'module/ring/ring.o calls kt_event_losses() of module/event, which stands above module/ring' \
	"${calls[@]}"

object module/module/ring/ring.o <<<'int kt_event_losses(void) __attribute__((weak));
	int kt_ring(void) { return kt_event_losses ? kt_event_losses() : 0; }'
refused 'a call of a folder that stands above, if it is there' \
	'module/ring/ring.o calls kt_event_losses() of module/event' "${calls[@]}"

object module/module/ring/ring.o <<<'extern int kt_event_count;
	int kt_ring(void) { return kt_event_count; }'
refused 'a variable of a folder that stands above' \
	'module/ring/ring.o uses kt_event_count of module/event, which stands above module/ring' \
	"${calls[@]}"
ln -f "$work/empty.o" "$work/module/module/ring/ring.o"

mkdir -p "$work/user/lib/format/rkh"
object user/lib/format/rkh/rkh.o <<<'int kt_rkh(void) { return 1; }'
object user/lib/format/native/out.o <<<'int kt_rkh(void);
	int kt_native(void) { return kt_rkh(); }'
refused 'a format that calls another one' \
	'userspace/lib/format/native/out.o calls kt_rkh() of userspace/lib/format/rkh, which stands beside userspace/lib/format/native' \
	"${calls[@]}"
ln -f "$work/empty.o" "$work/user/lib/format/native/out.o"

object module/module/ring/ring.o <<<'int kt_ring_lost(void);
	int kt_ring(void) { return kt_ring_lost(); }'
object module/module/ring/loss.o <<<'int kt_ring_begin(void);
	int kt_ring_lost(void) { return kt_ring_begin(); }'
object module/module/ring/clock.o <<<'int kt_ring(void);
	int kt_ring_begin(void) { return kt_ring(); }'
refused 'files of a folder that call each other in a circle' \
	'module/ring: these files use each other in a circle: clock.c loss.c ring.c' \
	"${calls[@]}"
printf 'module/ring | clock.c loss.c ring.c | a reason\n' >"$tree/scripts/circles"
accepted 'a circle that is in the list' "${calls[@]}"
printf 'module/ring | clock.c loss.c ring.c |\n' >"$tree/scripts/circles"
refused 'a circle in the list without a reason' \
	'scripts/circles: module/ring: say why clock.c loss.c ring.c stay' "${calls[@]}"
printf 'module/ring | clock.c loss.c ring.c | a reason\n' >"$tree/scripts/circles"
ln -f "$work/empty.o" "$work/module/module/ring/clock.o"
refused 'a circle in the list that there is no more' \
	'scripts/circles: module/ring has no circle of clock.c loss.c ring.c' "${calls[@]}"
: >"$tree/scripts/circles"
ln -f "$work/empty.o" "$work/module/module/ring/loss.o"

object user/tool/main.o <<<'int ktape_trace_open(void);
	int main(void) { return ktape_trace_open(); }'
object user/lib/trace/open.o <<<'int ktape_trace_open(void) { return 1; }'
accepted 'a call of what the library exports' "${calls[@]}"
object user/lib/stream/scan.o <<<'int ktape_trace_open(void);
	int kt_scan(void) { return ktape_trace_open(); }'
refused 'a call of what the library exports, from below in the library' \
	'userspace/lib/stream/scan.o calls ktape_trace_open() of userspace/lib/trace, which stands above userspace/lib/stream' \
	"${calls[@]}"
ln -f "$work/empty.o" "$work/user/lib/stream/scan.o"

sed -i 's/^filter\t.*/& shim/' "$tree/scripts/layers"
refused 'a row that names a layer which it does not use' \
	'scripts/layers: filter does not use shim' "${calls[@]/%calls/uses}"
cp "$work/layers" "$tree/scripts/layers"

rm "$work/module/module/ring/ring.o"
refused 'a source whose object is missing' \
	"module/ring/ring.c: $work/module/module/ring/ring.o is missing" "${calls[@]}"
ln -f "$work/empty.o" "$work/module/module/ring/ring.o"
touch -d '+1 hour' "$tree/module/ring/ring.c"
refused 'a source that is newer than its object' \
	'module/ring/ring.c: it is newer than' "${calls[@]}"
restore module/ring/ring.c

# The check of names builds the module first.  Here the objects are there.
mkdir -p "$OUT/module"
ln -s "$work/module" "$OUT/module/stock"
printf '#!/bin/sh\n' >"$tree/scripts/module-build"
for f in module/ring/cut.c module/emit/sink.c; do
	printf 'static int same_name(void)\n{\n\treturn 1;\n}\n' >>"$tree/$f"
done
refused 'two static functions of one name' \
	'same_name() is defined in module/emit/sink.c module/ring/cut.c' \
	scripts/lint names
restore module/ring/cut.c
restore module/emit/sink.c
restore scripts/module-build

printf 'static void same_name(void)\n{\n}\n' >"$tree/selftests/unit/lib/t_one.c"
cp "$tree/selftests/unit/lib/t_one.c" "$tree/selftests/unit/lib/t_other.c"
refused 'two tests with functions of one name' \
	'same_name() is defined in selftests/unit/lib/t_one.c selftests/unit/lib/t_other.c' \
	scripts/check-names
printf 'static int\nkt_crew_new(int a,\n\t    int b)\n{\n\treturn a + b;\n}\n' \
	>"$tree/selftests/unit/lib/t_one.c"
refused 'a static function with the name of one of the library' 'kt_crew_new() is defined in' \
	scripts/check-names
sed -i 's/^static //' "$tree/selftests/unit/lib/t_one.c"
accepted 'a function that stands in for one of the library' scripts/check-names
rm "$tree"/selftests/unit/lib/t_{one,other}.c
echo 'gone_name | a reason' >>"$tree/scripts/names"
refused 'an exception that no longer holds' 'scripts/names: gone_name() has one definition' \
	scripts/check-names
restore scripts/names

if command -v clang >/dev/null; then
	f=userspace/include/ktape-stats.h
	echo 'extern kt_unknown_t kt_new;' >>"$tree/$f"
	refused 'a public header that does not stand alone' \
		"$f: does not stand alone in gcc -x c" scripts/lint headers
	restore $f
	printf 'static inline int *kt_new(void *class)\n{\n\treturn class;\n}\n' \
		>>"$tree/$f"
	refused 'a public header that is not C++' \
		"$f: does not stand alone in clang -x c++" scripts/lint headers
	restore $f
else
	n=$((n + 2))
	skipped=1
	echo "ok $((n - 1)) - a public header alone # SKIP no clang"
	echo "ok $n - a public header in C++ # SKIP no clang"
fi

: >"$tree/userspace/lib/format/codec_new.h"
refused 'a file named codec_*' 'userspace/lib/format/codec_new.h' scripts/lint layers
rm "$tree/userspace/lib/format/codec_new.h"

sed -i '$accflags-y += -include $(src)/module/all.h' "$tree/Kbuild"
refused 'a header that Kbuild includes everywhere' '-include $(src)' \
	scripts/lint kbuild
restore Kbuild

echo "1..$n"
[ $failed = 1 ] || [ $skipped = 1 ] || record_proof
exit $failed
