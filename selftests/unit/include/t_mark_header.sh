#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_mark_header.sh FOLDER: test ktape_mark.h in the languages that it supports,
# and without a device.
set -u

top=$(cd "${0%/*}/../../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-mark.XXXXXX")
trap 'rm -rf "$work"' EXIT
n=0
failed=0

cat >"$work/mark.c" <<'EOT'
#include <stddef.h>
#include <stdio.h>

#include <ktape_mark.h>

static int wrong;

static void is(const char *what, int got, int want)
{
	if (got != want) {
		printf("# %s: %d, not %d\n", what, got, want);
		wrong = 1;
	}
}

static void typed(int fd)
{
	static char text[KTAPE_MARK_BYTES_MAX + 1];
	const struct ktape_args none = ktape_args(0, 0, 0, 0, 0, 0, 0);
	struct ktape_typed t;

	memset(&t, 0, sizeof(t));
	memset(text, 'x', sizeof(text) - 1);
	ktape_typed_s8(&t, 0, -1);
	ktape_typed_u8(&t, 0, 1);
	ktape_typed_s16(&t, 0, -1);
	ktape_typed_u16(&t, 0, 1);
	ktape_typed_s32(&t, 0, -1);
	ktape_typed_u32(&t, 0, 1);
	ktape_typed_x32(&t, 0, 1);
	ktape_typed_object(&t, 0, 1);
	ktape_typed_function(&t, 0, 1);
	ktape_typed_signal(&t, 0, 9);
	ktape_typed_string(&t, "text");
	ktape_typed_memory(&t, text, 255);
	is("255 bytes", (int)t.full, 0);
	is("room", ktape_user_event(fd, 0, 1, none, &t), -ENOTTY);
	ktape_typed_memory(&t, text, 256);
	is("256 bytes", (int)t.full, 1);
	is("no room", ktape_user_event(fd, 0, 1, none, &t), -E2BIG);
	is("no device", ktape_user_event(-ENOENT, 0, 1, none, &t), -ENOENT);
	memset(&t, 0, sizeof(t));
	ktape_typed_string(&t, text);
	is("long text", ktape_user_event(fd, 0, 1, none, &t), -E2BIG);
	is("no arguments", ktape_user_event(fd, 0, 1, none, NULL), -ENOTTY);
}

int main(void)
{
	int fd = open("/dev/null", O_WRONLY);

	if (ktape_mark_open() >= 0)
		puts("# there is a device");
	is("text", ktape_text(fd, "text"), 0);
	is("mark", ktape_mark(fd, 1, "text"), -ENOTTY);
	is("begin", ktape_begin(fd, 1, NULL), -ENOTTY);
	is("end", ktape_task_end(fd, 1, NULL), -ENOTTY);
	is("value", ktape_value(fd, 1, -5, NULL), -ENOTTY);
	is("name", ktape_name_marker(fd, 1, "name"), -ENOTTY);
	is("exception", Trace1b(fd, _TRACE_SW_SEVERITY2, KTAPE_EXC_CODE(1, 2),
				3, "buffer", 6), -ENOTTY);
	is("Trace0", Trace0(-EACCES, _TRACE_HW_SEVERITY0, 1), -EACCES);
	typed(fd);
	return wrong;
}
EOT
cp "$work/mark.c" "$work/mark.cc"

# try COMPILER STANDARD FILE
try()
{
	n=$((n + 1))
	if ! command -v "$1" >/dev/null; then
		echo "ok $n - ktape_mark.h: $1 $2 # SKIP no $1"
	elif "$1" -std="$2" -Wall -Wextra -Wshadow -pedantic -Werror \
		-I"$top/userspace/include" -I"$top/uapi" -o "$work/mark" \
		"$work/$3" 2>"$work/log" && "$work/mark"; then
		echo "ok $n - ktape_mark.h: $1 $2"
	else
		echo "not ok $n - ktape_mark.h: $1 $2"
		sed 's/^/# /' "$work/log" | head -n 20
		failed=1
	fi
}

echo "TAP version 13"
for compiler in gcc clang; do
	for standard in c99 c11 c17; do
		try $compiler $standard mark.c
	done
done
for compiler in g++ clang++; do
	for standard in c++11 c++20; do
		try $compiler $standard mark.cc
	done
done
echo "1..$n"
exit $failed
