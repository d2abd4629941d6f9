// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check names against the name of a log.  A copy of a piece under a name that the log does
 * not generate, or an excerpt of it, is not a piece.
 */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tool/log/log.h"

/* Check whether strptime(3) reads what strftime(3) makes of a format. */
static bool is_format_readable(const char *format)
{
	const time_t now = 1; /* any time */
	char text[PATH_MAX];
	struct tm tm, back = { .tm_sec = 0 };
	const char *end;

	if (!localtime_r(&now, &tm) || !strftime(text, sizeof(text), format, &tm))
		return false;
	end = strptime(text, format, &back);
	return end && !*end;
}

/* Return what follows the part of a text that a format can have made, or NULL. */
static const char *after_format(const char *format, const char *text)
{
	struct tm tm = { .tm_sec = 0 };

	return strptime(text, format, &tm);
}

/* Cut the end off a name.  Return: true if it had it. */
static bool cut_end(char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	if (len <= n || strcmp(name + len - n, end) != 0)
		return false;
	name[len - n] = '\0';
	return true;
}

/**
 * log_gives_name() - is a name one that a log would generate for a piece?
 * @pattern: name of the log
 * @name: name of an entry of its folder
 *
 * Return: true also if the name of the log has conversions that cannot be read back.
 */
bool log_gives_name(const char *pattern, const char *name)
{
	const char *slash = strrchr(pattern, '/'), *rest;
	char format[PATH_MAX], text[PATH_MAX];

	snprintf(format, sizeof(format), "%s", slash ? slash + 1 : pattern);
	snprintf(text, sizeof(text), "%s", name);
	if (cut_end(format, LOG_FILE_END)) {
		cut_end(text, LOG_ZSTD_END);
		if (!cut_end(text, LOG_FILE_END))
			return false;
	}
	if (!is_format_readable(format))
		return true;
	rest = after_format(format, text);
	/* log_name() adds -1, -2 and so on if the name is taken. */
	if (rest && *rest == '-' && rest[1])
		rest += 1 + strspn(rest + 1, "0123456789");
	return rest && !*rest;
}

/*
 * Resolve the links in the part of a path before its first conversion.  If that part does not
 * exist, leave the path as it is.
 */
static void resolve(char place[PATH_MAX])
{
	char whole[PATH_MAX], *head, *part = strchr(place, '%');

	while (part > place && *part != '/')
		part--;
	if (part == place)
		return;
	*part = '\0';
	head = realpath(place, NULL);
	*part = '/';
	if (head && snprintf(whole, sizeof(whole), "%s%s", head, part) <
			    (int)sizeof(whole))
		strcpy(place, whole);
	free(head);
}

/**
 * log_is_in() - is this the folder of a log, or one of its folders?
 * @pattern: name of the log
 * @path: path of the folder
 * @folder: its descriptor
 *
 * Return: false: the log has its pieces elsewhere.
 */
bool log_is_in(const char *pattern, const char *path, int folder)
{
	const char *slash = strrchr(pattern, '/'), *rest;
	char place[PATH_MAX], *whole;
	struct stat its, this;
	bool in;

	if (!slash || slash - pattern >= (ptrdiff_t)sizeof(place))
		return false;
	snprintf(place, sizeof(place), "%.*s", (int)(slash - pattern), pattern);
	if (!strchr(place, '%'))
		return !stat(*place ? place : "/", &its) && !fstat(folder, &this) &&
		       its.st_dev == this.st_dev && its.st_ino == this.st_ino;
	/* The folder has conversions: its name says when a piece was begun. */
	resolve(place);
	whole = realpath(path, NULL);
	rest = whole ? after_format(place, whole) : NULL;
	in = rest && !*rest;
	free(whole);
	return in;
}
