// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the text and the JSON form of an event share: names, and the keys of values. */
#include "show/line.h"

/* Return the name of an event in the table or in the metadata, "" if it has none. */
const char *kt_line_event(const struct kt_line *l)
{
	unsigned int opcode = l->event->opcode;

	if (kt_event_fits(l->event) || opcode == KTAPE_TIME_EXTEND)
		return kt_plans[opcode].name;
	return l->info->names[opcode];
}

/* Put the name of a value, before the value.  In JSON p[-1] is '{' before the first one. */
char *kt_show_key(char *p, const struct kt_line *l, const char *key)
{
	if (!l->json) {
		p = kt_put_char(p, ' ');
		p = kt_put_str(p, key);
		return kt_put_char(p, '=');
	}
	if (p[-1] != '{')
		p = kt_put_char(p, ',');
	p = kt_put_char(p, '"');
	p = kt_put_str(p, key);
	return kt_put_mem(p, "\":", 2);
}

/* Put a name; in JSON as a string. */
char *kt_show_name(char *p, const struct kt_line *l, const struct kt_name *n)
{
	if (l->json && !n->plain)
		return kt_put_json(p, n->text, n->len);
	if (l->json)
		p = kt_put_char(p, '"');
	p = n->plain ? kt_put_mem(p, n->text, n->len) :
		       kt_put_escaped(p, n->text, n->len);
	return l->json ? kt_put_char(p, '"') : p;
}

/* Majors of the kernel's own exceptions, which have no entry in the registry. */
static const struct {
	uint32_t major;
	const char *name;
} majors[] = {
	{ KTAPE_MAJOR_KERNEL, "kernel" }, { KTAPE_MAJOR_REPORT, "report" },
	{ KTAPE_MAJOR_RAS, "ras" },	  { KTAPE_MAJOR_BLOCK, "block" },
	{ KTAPE_MAJOR_NET, "net" },	  { KTAPE_MAJOR_THERMAL, "thermal" },
};

/* Look up the name of an exception's major.  Return: text NULL if there is none. */
struct kt_name kt_major_name(const struct kt_line *l, uint32_t major)
{
	const struct ktape_object_info *o = ktape_registry_object(
		l->registry, KTAPE_OBJ_EXCEPTION, major, 0, l->event->ts);

	if (o)
		return (struct kt_name){ o->name, o->name_len, o->plain, 0 };
	for (size_t i = 0; i < KT_ARRAY_SIZE(majors); i++) {
		if (majors[i].major == major)
			return (struct kt_name){ majors[i].name,
						 strlen(majors[i].name), true, 0 };
	}
	return (struct kt_name){ .text = NULL };
}
