// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names in a page: each one is written once, and spans have its number.  Number 0 is "(another
 * name)", for all that get no number of their own.
 */
#include <stdio.h>

#include "util/hash.h"

#include "internal.h"

#define FLUSH	(256U << 10) /* bytes of new names that make a block */
#define LEN_MAX 512U	     /* bytes of a name */
#define OTHER	"(another name)"

static bool is_string(const struct html *h, uint32_t id, const char *text, size_t len)
{
	return h->text_at[id + 1] - h->text_at[id] == len &&
	       !memcmp(h->texts.data + h->text_at[id], text, len);
}

/*
 * Add a name to the table and to the names that will be written, with the escapes that it
 * has in text: the page puts it beside other text.
 */
static uint32_t add_string(struct html *h, const char *text, size_t len)
{
	char *p = html_room(h, &h->texts, len), *json;
	char shown[LEN_MAX * 4 + KT_PUT_OVER];

	if (!h->text_at)
		h->text_at = calloc(HTML_STRINGS + 1, sizeof(*h->text_at));
	json = html_room(h, &h->new_strings, len * 8 + 4);
	if (!p || !json || !h->text_at) {
		html_no_memory(h);
		return 0;
	}
	html_took(&h->texts, kt_put_mem(p, text, len));
	json = kt_put_char(json, h->new_strings.len ? ',' : '[');
	len = (size_t)(kt_put_escaped(shown, text, len) - shown);
	html_took(&h->new_strings, kt_put_json(json, shown, len));
	h->text_at[h->nr_strings + 1] = h->texts.len;
	return h->nr_strings++;
}

/**
 * html_string() - return the number of a name
 * @h: the page
 * @text: the name, any bytes
 * @len: how many; a name is cut after LEN_MAX bytes
 *
 * Return: its number; that of "(another name)" beyond HTML_STRINGS names, for a hash that
 * another name has, or without memory.
 */
uint32_t html_string(struct html *h, const char *text, size_t len)
{
	struct kt_map_entry *e;
	uint64_t hash;

	len = kt_min(len, LEN_MAX);
	hash = kt_fnv(KT_FNV_BEGIN, text, len);
	if (!h->nr_strings)
		add_string(h, OTHER, sizeof(OTHER) - 1);
	e = h->nr_strings ? kt_map_find(&h->strings, 0, hash) : NULL;
	if (e)
		return is_string(h, (uint32_t)e->value, text, len) ?
			       (uint32_t)e->value :
			       0;
	if (h->nr_strings >= HTML_STRINGS) {
		kt_sink_miss(h->s, "names beyond 65536", 1);
		return 0;
	}
	e = h->nr_strings ? kt_map_put(&h->strings, 0, hash) : NULL;
	if (!e) {
		html_no_memory(h);
		return 0;
	}
	e->value = add_string(h, text, len);
	if (h->new_strings.len > FLUSH)
		html_strings_flush(h);
	return (uint32_t)e->value;
}

/* Return the word for a value of a type that has no name. */
static const char *word_of(unsigned int type)
{
	/* In a page only vectors of interrupts have the type U32. */
	static const char *const words[KTAPE_TYPES] = {
		[KTAPE_TYPE_TID] = "thread",  [KTAPE_TYPE_IRQ] = "irq",
		[KTAPE_TYPE_IPI] = "ipi",     [KTAPE_TYPE_SYSCALL] = "syscall",
		[KTAPE_TYPE_MARKER] = "mark", [KTAPE_TYPE_VALUEID] = "value",
		[KTAPE_TYPE_ISRID] = "isr",   [KTAPE_TYPE_SOFTIRQ] = "softirq",
		[KTAPE_TYPE_U32] = "vector",  [KTAPE_TYPE_FUNC] = "function",
		[KTAPE_TYPE_DEV] = "device",
	};

	return words[type] ? words[type] : "";
}

/**
 * html_name() - return the number of the name of a value
 * @h: the page
 * @l: the event
 * @type: enum ktape_field_type of the value
 * @value: the value
 *
 * A value without a name is called by its type and number.
 *
 * Return: the number.
 */
uint32_t html_name(struct html *h, const struct kt_line *l, unsigned int type,
		   uint64_t value)
{
	struct kt_name name = kt_name_any(l, type, value);
	char room[64];
	int n;

	if (type == KTAPE_TYPE_TID && !value)
		return html_string(h, "idle", 4);
	/* An address within a function is no function's name. */
	if (name.text && !name.offset)
		return html_string(h, name.text, name.len);
	if (type == KTAPE_TYPE_DEV)
		n = snprintf(room, sizeof(room), "%u:%u",
			     (unsigned int)(value >> 20),
			     (unsigned int)(value & 0xfffff));
	else
		n = snprintf(room, sizeof(room),
			     type == KTAPE_TYPE_FUNC ? "%s %#llx" : "%s %llu",
			     word_of(type), (unsigned long long)value);
	return html_string(h, room, (size_t)n);
}

/**
 * html_strings_flush() - write the names that are new
 * @h: the page
 *
 * Return: 0 or negative errno.
 */
int html_strings_flush(struct html *h)
{
	char *p = h->new_strings.len ? html_room(h, &h->new_strings, 1) : NULL;
	int err;

	if (!p)
		return h->s->error;
	html_took(&h->new_strings, kt_put_char(p, ']'));
	err = html_block(h, "names", NULL, h->nr_strings, &h->new_strings);
	h->new_strings.len = 0;
	return err;
}
