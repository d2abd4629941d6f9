/* SPDX-License-Identifier: GPL-2.0-only */
/* Metadata texts as different versions wrote them. */
#ifndef _LIB_METADATA_H
#define _LIB_METADATA_H

#include "lib_trace.h"

#include "stream/metadata.h"

/* Return a text with all that can be added to one, to be freed. */
__attribute__((unused)) static char *make_metadata_text(size_t *len)
{
	static const uint64_t cpus[KTAPE_CPU_WORDS] = { 5 };
	char *text;

	if (ktape_metadata_format(&trace_info, &text, len) ||
	    ktape_metadata_cpus(&text, len, cpus) ||
	    ktape_metadata_add(&text, len, "converted", "yes") ||
	    kt_metadata_remark(&text, len, "log of a board"))
		abort();
	return text;
}

/* As written by a version without checksums. */
__attribute__((unused)) static char *make_old(size_t *len)
{
	static const char minor[] = "tracer_minor = ";
	char *text, *line, *end;

	if (ktape_metadata_format(&trace_info, &text, len))
		abort();
	strstr(text, minor)[strlen(minor)] = '0';
	line = strstr(text, "\tmetadata_crc32c");
	end = strchr(line, '\n') + 1;
	memmove(line, end, strlen(end) + 1);
	*len = strlen(text);
	return text;
}

#endif /* _LIB_METADATA_H */
