#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_formats.sh FOLDER: a build with FORMATS="native tband" does with these formats what
# the whole build does, and names the reason where it refuses another one.
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/support/tool.sh
. "$here/../../support/tool.sh" "$1" || exit 2

make_trace=$out/make_trace
small=$out/user-formats	# kept, so that only the first run compiles everything

# build FORMATS
build()
{
	env -u MAKEFLAGS -u MAKELEVEL make -C "$here/../../../../userspace" \
		OUT="$small" CFLAGS=-O0 FORMATS="$1" all >log 2>&1
}

# is STATUS ARGUMENT...: as run, by the small build
is()
{
	want=$1
	shift
	timeout 600 "$small/ktape" "$@" >small.text 2>log
	got=$?
	[ $got = "$want" ] || echo "exit status $got, not $want: $*" >>log
	[ $got = "$want" ]
}

# same ARGUMENT...: both builds print the same
same()
{
	run 0 "$@" && is 0 "$@" && cmp text small.text >>log
}

# listed NAME...: these formats are there, and no other one
listed()
{
	is 0 convert --list &&
		awk '/^[a-z]/ { print $1 }' small.text >names &&
		printf '%s\n' "$@" | diff - names >>log
}

build "native tband"
result $? "FORMATS=\"native tband\": library and command are built"

nm "$small/libktape.a" >symbols 2>log
! grep -E ' (T|D|R) kt_(rkh|parquet|perfetto|lttng|csv|chrome|text|ftrace|tracex)_(in|out|user)$' \
	symbols >>log && grep -q ' kt_tband_out$' symbols
result $? "the library has no other format"

listed native tband
result $? "convert --list: these two only"

"$make_trace" folder t 3
same dump t && same dump --json t && same stats --json t
result $? "a native trace is shown and counted as by the whole build"

is 0 convert --to tband -o small.tband t &&
	run 0 convert --to tband -o whole.tband t &&
	cmp small.tband whole.tband >>log && same dump --all small.tband &&
	same dump --json small.tband
result $? "a trace is written as tband, and read from it"

is 0 convert --to native -o small.native small.tband &&
	run 0 convert --to native -o whole.native small.tband &&
	diff -r small.native whole.native >>log
result $? "tband is written as a native trace"

reason='is not built in (FORMATS=native tband)'
for format in rkh tracex csv perfetto lttng parquet text; do
	is 2 convert --to $format -o o.$format t && says "format $format $reason" &&
		[ ! -e o.$format ]
	result $? "convert --to $format: refused with the reason"
done
for format in rkh tracex; do
	is 2 dump --all --from $format small.tband && says "format $format $reason"
	result $? "dump --from $format: refused with the reason"
done

is 2 convert --to nothing -o o t && says 'unknown format "nothing"'
result $? "convert --to nothing: unknown, not left out"
is 2 dump --all --from csv t/cpu0 && says "format csv $reason"
result $? "dump --from csv: not built in"
run 2 dump --all --from csv t/cpu0 && says "format csv can only be written"
result $? "dump --from csv, whole build: it can only be written"

build native && listed native && same dump --all t
result $? "FORMATS=native, built over it: native only"

! build "native nonsense" && says "no format nonsense"
result $? "FORMATS with an unknown name: refused"

echo "1..$n"
exit $failed
