/* SPDX-License-Identifier: GPL-2.0-only */
/* Read CTF with babeltrace2, where it is installed. */
#ifndef _LIB_BABELTRACE_H
#define _LIB_BABELTRACE_H

#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

/* Return true if babeltrace2 is installed; else the current test is skipped. */
static bool has_babeltrace(void)
{
	if (!system("command -v babeltrace2 >/dev/null"))
		return true;
	tap_skip("there is no babeltrace2");
	return false;
}

/*
 * Return what babeltrace2 prints for a trace, to be freed. NULL: it failed, and so does the
 * current test.
 */
static char *babeltrace(const char *dir, const char *options)
{
	char command[512], part[4096];
	char *text = NULL;
	size_t len = 0, n;
	FILE *out, *f;

	snprintf(command, sizeof(command), "babeltrace2 %s '%s' 2>&1", options, dir);
	f = popen(command, "r");
	out = open_memstream(&text, &len);
	if (!f || !out)
		abort();
	while ((n = fread(part, 1, sizeof(part), f)))
		fwrite(part, 1, n, out);
	fclose(out);
	if (!pclose(f))
		return text;
	tap_fail("%s: %.200s", command, text);
	free(text);
	return NULL;
}

#endif /* _LIB_BABELTRACE_H */
