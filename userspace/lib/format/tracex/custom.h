/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events that users of TraceX describe in a .trxc file. */
#ifndef _KT_TRACEX_CUSTOM_H
#define _KT_TRACEX_CUSTOM_H

#include "format/import.h"

#define KT_CUSTOM_TEXT	64	/* bytes of a name or label, its NUL included */

/**
 * struct kt_custom - an event
 * @id: its number
 * @texts: its name and the labels of its words, "" if there is none
 */
struct kt_custom {
	uint32_t id;
	char texts[5][KT_CUSTOM_TEXT];
};

/**
 * struct kt_customs - all of a file
 * @events: in the order of their numbers
 * @nr: how many
 */
struct kt_customs {
	struct kt_custom *events;
	size_t nr;
};

int kt_customs_read(struct kt_customs *c, const char *path,
		    struct kt_import *s);
const struct kt_custom *kt_customs_find(const struct kt_customs *c,
					uint32_t id);

#endif /* _KT_TRACEX_CUSTOM_H */
