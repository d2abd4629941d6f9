// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape convert of an input of which a part cannot be read: the output has the rest.  It
 * replaces no earlier output, which may have been made when the input was whole, but is
 * written beside it, as NAME.partial, or as NAME.partial-2 and so on: what has such a name
 * may be the user's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <ktape.h>

#include "util/path.h"

#include "format/writer.h"

#include "tool/convert/convert.h"
#include "tool/shared/message.h"

#define END   ".partial"
#define TRIES 1000U

/*
 * Set c->partial to a name that nothing has; after an error to the last one tried, for a message.
 * Return: 0 or negative errno.
 */
static int name_unused(struct convert *c, const char *place, int len)
{
	struct stat st;
	char *name;
	int n;

	for (unsigned int i = 1; i <= TRIES; i++) {
		n = i == 1 ? asprintf(&name, "%.*s" END, len, place) :
			     asprintf(&name, "%.*s" END "-%u", len, place, i);
		if (n < 0)
			return -ENOMEM;
		free(c->partial);
		c->partial = name;
		if (lstat(name, &st))
			return errno == ENOENT ? 0 : -errno;
	}
	return -EEXIST;
}

/* Make the name beside the output.  Return: 0 or negative errno. */
static int name_partial(struct convert *c)
{
	char *place;
	size_t len;
	int err = kt_path_follow(c->o.out, &place);

	if (err)
		return err;
	/*
	 * A link in /proc to an open file: such an output is never staged, so it does not come
	 * here.
	 */
	if (!place)
		return -EINVAL;
	len = strlen(place);
	while (len > 1 && place[len - 1] == '/')
		len--;
	err = name_unused(c, place, (int)len);
	free(place);
	return err;
}

/**
 * convert_divert() - let the output of a damaged input replace nothing
 * @c: conversion whose inputs were read to their end
 *
 * Return: 0 or the exit code, then the output must not be finished.
 */
int convert_divert(struct convert *c)
{
	int err;

	if (!c->damaged || c->o.partial || !c->replaces ||
	    !ktape_sink_is_staged(c->sink))
		return 0;
	err = name_partial(c);
	if (!err)
		err = kt_sink_move(c->sink, c->partial);
	return err ? fail("%s stays as it was, because a part of the input is damaged, and %s cannot be written: %s",
			  c->o.out, c->partial ? c->partial : "a file beside it",
			  strerror(-err)) :
		     0;
}

/**
 * convert_report_partial() - say where the output of a damaged input is
 * @c: conversion that has succeeded otherwise
 *
 * Return: 0, or EXIT_FAILED if the input is damaged.
 */
int convert_report_partial(const struct convert *c)
{
	if (!c->damaged)
		return EXIT_OK;
	if (c->partial)
		return fail("a part of the input is damaged: %s stays as it was, and what could be read is in %s (--partial replaces it)",
			    c->o.out, c->partial);
	return fail("a part of the input is damaged: %s has what could be read",
		    strcmp(c->o.out, "-") ? c->o.out : "standard output");
}
