// SPDX-License-Identifier: LGPL-2.1-or-later
/* The findings of a run of the checks: what, why it matters, and what to do next. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/put.h"
#include "internal.h"

KT_PRINTF(2, 0)
static void set_text(struct ktape_doctor *d, const char *format, va_list args,
		     const char **to)
{
	char *text;

	if (vasprintf(&text, format, args) < 0) {
		d->error = -ENOMEM;
		return;
	}
	kt_replace_unprintable(text, strlen(text)); /* for any terminal and any JSON parser */
	if (**to)
		free((char *)*to);
	*to = text;
}

/* Add a finding of the running check. */
void kt_found(struct ktape_doctor *d, unsigned int severity, const char *format, ...)
{
	struct kt_findings *f = &d->findings;
	struct ktape_diagnosis *more;
	va_list args;

	if (f->nr == f->room) {
		more = reallocarray(f->list, f->room + 32, sizeof(*more));
		if (!more) {
			d->error = -ENOMEM;
			return;
		}
		f->list = more;
		f->room += 32;
	}
	f->list[f->nr] = (struct ktape_diagnosis){
		.id = d->id,
		.severity = severity,
		.what = "",
		.why = "",
		.next = "",
	};
	va_start(args, format);
	set_text(d, format, args, &f->list[f->nr++].what);
	va_end(args);
}

/* Say why the latest finding matters; this replaces what was said of it before. */
void kt_why(struct ktape_doctor *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!d->error)
		set_text(d, format, args, &d->findings.list[d->findings.nr - 1].why);
	va_end(args);
}

/* Give the command that mends the latest finding; this replaces one that was given before. */
void kt_next(struct ktape_doctor *d, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!d->error)
		set_text(d, format, args,
			 &d->findings.list[d->findings.nr - 1].next);
	va_end(args);
}

static void free_text(const char *text)
{
	/* The empty text was not allocated. */
	if (*text)
		free((char *)text);
}

void kt_findings_free(struct kt_findings *f)
{
	for (unsigned int i = 0; i < f->nr; i++) {
		free_text(f->list[i].what);
		free_text(f->list[i].why);
		free_text(f->list[i].next);
	}
	free(f->list);
}
