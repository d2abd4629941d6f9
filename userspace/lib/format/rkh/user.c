// SPDX-License-Identifier: LGPL-2.1-or-later
/* RKH trace: what its events tell, field by field. */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "show/user_event.h"

#include "internal.h"
#include "rkh.h"

/* What an address or a signal is of, by the name of its field. */
static const struct {
	const char *name;
	uint8_t object;
} objects[] = {
	{ "ao", KTAPE_USER_THREAD },	{ "q", KTAPE_USER_QUEUE },
	{ "t", KTAPE_USER_TIMER },	{ "sig", KTAPE_USER_RKH_SIGNAL },
	{ "snr", KTAPE_USER_RKH_ACTOR }, { "actor", KTAPE_USER_RKH_ACTOR },
	{ "st", KTAPE_USER_RKH_STATE }, { "sst", KTAPE_USER_RKH_STATE },
	{ "tst", KTAPE_USER_RKH_STATE }, { "ist", KTAPE_USER_RKH_STATE },
	{ "nxtst", KTAPE_USER_RKH_STATE }, { "h", KTAPE_USER_RKH_STATE },
	{ "mp", KTAPE_USER_RKH_OBJECT }, { "obj", KTAPE_USER_RKH_OBJECT },
};

/* Which field tells how many are in the object of the first. */
static const struct {
	uint8_t id;
	uint8_t object;
	const char *field;
	const char *kind;
	const char *what;
} numbers[] = {
	{ 0x00, KTAPE_USER_RKH_OBJECT, "nb", "Memory Pool", "Free" },
	{ 0x01, KTAPE_USER_RKH_OBJECT, "nfree", "Memory Pool", "Free" },
	{ 0x02, KTAPE_USER_RKH_OBJECT, "nfree", "Memory Pool", "Free" },
	{ 0x21, KTAPE_USER_QUEUE, "nelem", "Queue", "State" },
	{ 0x22, KTAPE_USER_QUEUE, "nelem", "Queue", "State" },
	{ 0x23, KTAPE_USER_QUEUE, "nelem", "Queue", "State" },
	{ 0x42, KTAPE_USER_THREAD, "nelem", "Active Object", "Queue" },
	{ 0x43, KTAPE_USER_THREAD, "nelem", "Active Object", "Queue" },
	{ 0x44, KTAPE_USER_THREAD, "nelem", "Active Object", "Queue" },
};

static unsigned int field_object(const char *name)
{
	if (!strcmp(name, "fn"))
		return KTAPE_OBJ_FUNCTION;
	for (size_t i = 0; i < KT_ARRAY_SIZE(objects); i++) {
		if (!strcmp(objects[i].name, name))
			return KTAPE_OBJ_USER + objects[i].object;
	}
	return KTAPE_OBJ_FREE;
}

/* Is an argument of the format that a field of this type has? */
static bool has_format(char type, const struct kt_typed *a)
{
	bool address = a->format == KTAPE_FORMAT_OBJECT ||
		       a->format == KTAPE_FORMAT_FUNCTION;

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
 * Whether an event has a field of these types, the configuration of the target says,
 * which is not at hand: the next argument shows it.
 */
static bool is_optional(char type)
{
	return type == 'S' || type == 'N' || type == 'B';
}

static void tell_argument(struct kt_user_event *t, const char *name, char type,
			  const struct kt_typed *a)
{
	struct kt_user_field *f = kt_user_add_typed(t, name, a);

	if (!f || type == 'Z')
		return;
	f->value += type == 'p';
	f->object = (uint8_t)field_object(name);
	if (!strcmp(name, "act"))
		kt_user_set_word(f, kt_rkh_act(f->value));
}

/* Return: false: these are not the arguments that such an event has. */
static bool tell_arguments(struct kt_user_event *t, const struct kt_rkh_kind *k,
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
			tell_argument(t, k->fields[i], k->types[i], &a);
			at = next;
		} else if (!is_optional(k->types[i])) {
			return false;
		}
	}
	return at == end;
}

static void tell_state(struct kt_user_event *t, unsigned int id)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		for (unsigned int f = 1; numbers[i].id == id && f < t->nr; f++) {
			if (strcmp(t->fields[f].name, numbers[i].field))
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

/* The configuration is in words. */
static bool tell_config(struct kt_user_event *t, const struct ktape_event *e)
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

/**
 * describe() - the fields of an event
 * @t: the event, without them
 * @e: the user event that it became
 *
 * Return: false: it is not as we make it.
 */
static bool describe(struct kt_user_event *t, const struct ktape_event *e)
{
	unsigned int id = ktape_event_arg(e, 0) & ~KTAPE_FORMAT_ID_MASK;
	const struct kt_rkh_kind *k = kt_rkh_kind(id);
	const uint8_t *at = e->blob, *end = at + e->blob_size;

	if (id == KT_RKH_TCFG)
		return tell_config(t, e);
	if (!k || e->nargs != 1)
		return false;
	if (*k->types == 'U' || *k->types == 'M')
		kt_user_add_all(t, k->fields[0], at, end);
	else if (!tell_arguments(t, k, at, end))
		return false;
	tell_state(t, id);
	return true;
}

static const char *event_name(uint32_t id)
{
	const struct kt_rkh_kind *k = kt_rkh_kind(id);

	return k ? k->name : NULL;
}

const struct kt_user_format kt_rkh_user = {
	.name = "rkh",
	.ids = KTAPE_FORMAT_ID_RKH,
	.event_name = event_name,
	.describe = describe,
};
