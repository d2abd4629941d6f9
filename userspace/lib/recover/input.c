// SPDX-License-Identifier: LGPL-2.1-or-later
/* The memory that is read, and what is reported of it. */
#include <stdarg.h>

#include "recover/internal.h"

/* Report discarded data at an offset in the region. */
void kt_recover_report(const struct kt_recovery *rec, uint64_t offset,
		       const char *format, ...)
{
	struct ktape_error e = { .offset = rec->base + offset };
	va_list args;

	if (!rec->hooks.tell)
		return;
	va_start(args, format);
	vsnprintf(e.text, sizeof(e.text), format, args);
	va_end(args);
	rec->hooks.tell(rec->hooks.arg, &e);
}

/*
 * Read bytes at an offset in the region.  Return: 0, -EBADMSG if the region or the input does not
 * have all of them, or the error of the input.
 */
int kt_recover_read(const struct kt_recovery *rec, uint64_t offset, void *to,
		    size_t len)
{
	int64_t got;

	if (offset > rec->super.size || len > rec->super.size - offset)
		return -EBADMSG;
	got = rec->in->read(rec->in->arg, rec->base + offset, to, len);
	if (got < 0)
		return (int)got;
	return (uint64_t)got == len ? 0 : -EBADMSG;
}

/* Report progress.  Return: result of the caller's hook. */
int kt_recover_progress(struct kt_recovery *rec, uint64_t bytes)
{
	rec->done += bytes;
	if (!rec->hooks.progress)
		return 0;
	return rec->hooks.progress(rec->hooks.arg, rec->done,
				   kt_max(rec->all, rec->done));
}
