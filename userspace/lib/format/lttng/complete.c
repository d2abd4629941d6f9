// SPDX-License-Identifier: LGPL-2.1-or-later
/* Complete the types of CTF metadata: sort streams and events, find what fields refer to. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctf.h"

/* Order classes by stream and id. */
static int by_class_id(const void *a, const void *b)
{
	const struct ctf_class *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int by_stream(const void *a, const void *b)
{
	const struct ctf_stream *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int refuse_twice(struct ktape_error *error, uint64_t offset,
			const char *what, uint64_t id)
{
	snprintf(error->text, sizeof(error->text),
		 "%s has the number %llu of another one", what,
		 (unsigned long long)id);
	error->offset = offset;
	return -EBADMSG;
}

/**
 * ctf_complete() - sort what was declared, and find what it refers to
 * @c: the metadata
 * @error: filled on -EBADMSG
 *
 * Two streams, or two events of a stream, with one number are refused.
 *
 * If the metadata declare no stream, one is added, about whose bytes they say nothing.
 *
 * Return: 0, -EBADMSG or -ENOMEM.
 */
int ctf_complete(struct ctf *c, struct ktape_error *error)
{
	int err;

	if (!c->nr_streams && !ctf_add_stream(c))
		return -ENOMEM;
	qsort(c->streams, c->nr_streams, sizeof(*c->streams), by_stream);
	for (size_t i = 1; i < c->nr_streams; i++) {
		if (c->streams[i].id == c->streams[i - 1].id)
			return refuse_twice(error, c->streams[i].offset,
					    "a stream", c->streams[i].id);
	}
	if (c->nr_classes)
		qsort(c->classes, c->nr_classes, sizeof(*c->classes), by_class_id);
	for (size_t i = 1; i < c->nr_classes; i++) {
		const struct ctf_class *e = &c->classes[i];

		if (e->stream == e[-1].stream && e->id == e[-1].id)
			return refuse_twice(error, e->offset, "an event", e->id);
	}
	err = ctf_bind_clocks(c, error);
	return err ? err : ctf_resolve(c, error);
}
