// SPDX-License-Identifier: GPL-2.0-only
/* Test where the messages of a recording go: a file, and nothing behind a link. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/record/daemon.h"
#include "tool/shared/message.h"

#include "tap.h"

static message_printer *printer;
static char folder[] = "/tmp/ktape-messages.XXXXXX";
static int reason; /* errno of the last failure */

int fail(const char *format, ...)
{
	(void)format;
	reason = errno;
	return EXIT_FAILED;
}

void set_message_printer(message_printer *print)
{
	printer = print;
}

static void say(const char *format, ...)
{
	char text[64];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printer(false, text);
}

/* Return the text of a file. */
static const char *read_message_file(const char *name)
{
	static char text[512];
	FILE *f = fopen(name, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = '\0';
	if (f)
		fclose(f);
	return text;
}

static void test_file(void)
{
	check_equal(redirect_messages("log"), EXIT_OK);
	say("number %d", 7);
	check_equal(redirect_messages("log"), EXIT_OK);
	say("number %d", 8);
	check(strstr(read_message_file("log"), "]: number 7\n"),
	      "the first message is missing");
	check(strstr(read_message_file("log"), "]: number 8\n"),
	      "the file was not appended to");
}

static void test_link(void)
{
	FILE *f = fopen("precious", "w");

	check(f && fputs("precious\n", f) > 0 && !fclose(f), "no file");
	check(!symlink("precious", "link") && !symlink("nowhere", "dangling"),
	      "no link");
	check_equal(redirect_messages("link"), EXIT_FAILED);
	check_equal(reason, ELOOP);
	check_equal(redirect_messages("dangling"), EXIT_FAILED);
	check_equal(reason, ELOOP);
	check(!strcmp(read_message_file("precious"), "precious\n"),
	      "it was written to");
	check(access("nowhere", F_OK) && errno == ENOENT,
	      "a file was made behind a link");
}

static const struct tap_test tests[] = {
	{ "messages are appended to a file", test_file },
	{ "a symbolic link is refused", test_link },
};

int main(int argc, char **argv)
{
	static const char *const names[] = { "log", "link", "dangling",
					     "precious", "nowhere" };
	int ret;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	ret = tap_main(tests, ARRAY_SIZE(tests), argc, argv);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	rmdir(folder);
	return ret;
}
