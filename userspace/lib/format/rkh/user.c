// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * RKH trace, the trace of a framework for state machines (rkh.c draws it): names and fields of its
 * events that are kept as user events, and what they report of queues and memory pools
 * (show/user_event.h).
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "show/user_event.h"

#include "internal.h"
#include "rkh.h"

/* By name of a field with an address or a signal: type of the object that it refers to. */
static const struct {
	const char *name;
	uint8_t object;
} objects[] = {
	{ "ao", KTAPE_USER_THREAD },	   { "q", KTAPE_USER_QUEUE },
	{ "t", KTAPE_USER_TIMER },	   { "sig", KTAPE_USER_RKH_SIGNAL },
	{ "snr", KTAPE_USER_RKH_ACTOR },   { "actor", KTAPE_USER_RKH_ACTOR },
	{ "st", KTAPE_USER_RKH_STATE },	   { "sst", KTAPE_USER_RKH_STATE },
	{ "tst", KTAPE_USER_RKH_STATE },   { "ist", KTAPE_USER_RKH_STATE },
	{ "nxtst", KTAPE_USER_RKH_STATE }, { "h", KTAPE_USER_RKH_STATE },
	{ "mp", KTAPE_USER_RKH_OBJECT },   { "obj", KTAPE_USER_RKH_OBJECT },
};

/* Events that report how many elements or blocks the object of their first field has. */
static const struct {
	uint8_t id;
	uint8_t object;
	const char *field;
	const char *kind;
	const char *what;
} numbers[] = {
	/* MP_INIT, MP_GET, MP_PUT */
	{ 0x00, KTAPE_USER_RKH_OBJECT, "nb", "Memory Pool", "Free" },
	{ 0x01, KTAPE_USER_RKH_OBJECT, "nfree", "Memory Pool", "Free" },
	{ 0x02, KTAPE_USER_RKH_OBJECT, "nfree", "Memory Pool", "Free" },
	/* QUE_GET, QUE_FIFO, QUE_LIFO */
	{ 0x21, KTAPE_USER_QUEUE, "nelem", "Queue", "State" },
	{ 0x22, KTAPE_USER_QUEUE, "nelem", "Queue", "State" },
	{ 0x23, KTAPE_USER_QUEUE, "nelem", "Queue", "State" },
	/* SMA_GET, SMA_FIFO, SMA_LIFO */
	{ 0x42, KTAPE_USER_THREAD, "nelem", "Active Object", "Queue" },
	{ 0x43, KTAPE_USER_THREAD, "nelem", "Active Object", "Queue" },
	{ 0x44, KTAPE_USER_THREAD, "nelem", "Active Object", "Queue" },
};

static unsigned int rkh_field_object(const char *name)
{
	if (!strcmp(name, "fn"))
		return KTAPE_OBJ_FUNCTION;
	for (size_t i = 0; i < KT_ARRAY_SIZE(objects); i++) {
		if (!strcmp(objects[i].name, name))
			return KTAPE_OBJ_USER + objects[i].object;
	}
	return KTAPE_OBJ_FREE;
}

/* Return true if a typed argument can be a field of this type. */
static bool has_format(char type, const struct kt_typed *a)
{
	bool address = a->format == KTAPE_FORMAT_OBJECT ||
		       a->format == KTAPE_FORMAT_FUNCTION;

	if (a->format > KTAPE_FORMAT_SIGNAL)
		return false;

	switch (type) {
	case 'Z':
		return a->kind == KT_TYPED_STRING;
	case 's':
	case 'S':
	case 'f':
		return a->kind == KT_TYPED_NUMBER && address;
	default:
		return a->kind == KT_TYPED_NUMBER && !address;
	}
}

/*
 * Return true for fields that are present only if the target's configuration says so.  The
 * configuration is not known here; the format of the next argument shows it.
 */
static bool is_optional(char type)
{
	return type == 'S' || type == 'N' || type == 'B';
}

static void add_argument(struct kt_user_event *t, const char *name, char type,
			 const struct kt_typed *a)
{
	struct kt_user_field *f = kt_user_add_typed(t, name, a);

	if (!f || type == 'Z')
		return;
	f->value += type == 'p';
	f->object = (uint8_t)rkh_field_object(name);
	if (!strcmp(name, "act"))
		kt_user_set_word(f, kt_rkh_act(f->value));
}

/* Add the arguments as fields.  Return: false if they are not those of such an event. */
static bool add_arguments(struct kt_user_event *t, const struct kt_rkh_kind *k,
			  const uint8_t *at, const uint8_t *end)
{
	struct kt_typed a;

	for (unsigned int i = 0; k->types[i]; i++) {
		const uint8_t *next = at;

		if (at == end && is_optional(k->types[i]))
			continue;
		if (at == end)
			return false;
		kt_typed_next(&next, end, &a);
		if (has_format(k->types[i], &a)) {
			add_argument(t, k->fields[i], k->types[i], &a);
			at = next;
		} else if (!is_optional(k->types[i])) {
			return false;
		}
	}
	return at == end;
}

static void report_rkh_state(struct kt_user_event *t, unsigned int id)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		for (unsigned int f = 1; numbers[i].id == id && f < t->nr; f++) {
			if (!t->fields[f].name ||
			    strcmp(t->fields[f].name, numbers[i].field))
				continue;
			kt_user_set_report(t, KT_REPORT_NUMBER,
					   KTAPE_OBJ_USER + numbers[i].object,
					   (uint32_t)t->fields[0].value);
			t->hex = true;
			t->kind = numbers[i].kind;
			t->what = numbers[i].what;
			t->number = t->fields[f].value;
		}
	}
}

/* Add the fields of a configuration record, which are packed into words. */
static bool add_config(struct kt_user_event *t, const struct ktape_event *e)
{
	struct kt_rkh_config c = { 0 };
	uint32_t w[KT_RKH_CONFIG_WORDS];

	if (e->nargs < 1 + KT_RKH_CONFIG_WORDS)
		return false;
	for (unsigned int i = 0; i < KT_RKH_CONFIG_WORDS; i++)
		w[i] = ktape_event_arg(e, 1 + i);
	if (!kt_rkh_unpack(&c, w))
		return false;
	kt_user_add(t, "version", KT_FIELD_UNSIGNED, c.version);
	kt_user_add(t, "flags", KT_FIELD_UNSIGNED, c.flags);
	kt_user_add(t, "id", KT_FIELD_UNSIGNED, c.id);
	kt_user_add(t, "sig", KT_FIELD_UNSIGNED, c.sig);
	kt_user_add(t, "tstamp", KT_FIELD_UNSIGNED, c.ts);
	kt_user_add(t, "ptr", KT_FIELD_UNSIGNED, c.ptr);
	kt_user_add(t, "ntimer", KT_FIELD_UNSIGNED, c.ntimer);
	kt_user_add(t, "nblock", KT_FIELD_UNSIGNED, c.nblock);
	kt_user_add(t, "nelem", KT_FIELD_UNSIGNED, c.nelem);
	kt_user_add(t, "esize", KT_FIELD_UNSIGNED, c.esize);
	kt_user_add(t, "bsize", KT_FIELD_UNSIGNED, c.bsize);
	kt_user_add(t, "epools", KT_FIELD_UNSIGNED, c.pools);
	kt_user_add(t, "tick_hz", KT_FIELD_UNSIGNED, c.hz);
	return true;
}

/* As kt_user_format.describe(). */
static bool describe_rkh(struct kt_user_event *t, const struct ktape_event *e)
{
	unsigned int id = ktape_event_arg(e, 0) & ~KTAPE_FORMAT_ID_MASK;
	const struct kt_rkh_kind *k = kt_rkh_kind(id);
	const uint8_t *at = e->blob, *end = at + e->blob_size;

	if (id == KT_RKH_TCFG)
		return add_config(t, e);
	if (!k || e->nargs != 1)
		return false;
	if (*k->types == 'U' || *k->types == 'M')
		kt_user_add_all(t, k->fields[0], at, end);
	else if (!add_arguments(t, k, at, end))
		return false;
	report_rkh_state(t, id);
	return true;
}

static const char *rkh_event_name(uint32_t id)
{
	const struct kt_rkh_kind *k = kt_rkh_kind(id);

	return k ? k->name : NULL;
}

const struct kt_user_format kt_rkh_user = {
	.name = "rkh",
	.ids = KTAPE_FORMAT_ID_RKH,
	.event_name = rkh_event_name,
	.describe = describe_rkh,
};
