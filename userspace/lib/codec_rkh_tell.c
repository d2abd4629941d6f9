// SPDX-License-Identifier: LGPL-2.1-or-later
/* RKH trace: what its events tell, field by field. */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "codec_rkh.h"
#include "told.h"
#include "typed.h"

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

static unsigned int object_of(const char *name)
{
	if (!strcmp(name, "fn"))
		return KTAPE_OBJ_FUNCTION;
	for (size_t i = 0; i < KT_ARRAY_SIZE(objects); i++) {
		if (!strcmp(objects[i].name, name))
			return KTAPE_OBJ_USER + objects[i].object;
	}
	return KTAPE_OBJ_FREE;
}

/*
 * Is an argument of the format that this field would have?  Those that depend on
 * the configuration of the target may be missing.
 */
static bool is_there(char type, const struct kt_typed *a)
{
	switch (type) {
	case 'S':
		return a->format == KTAPE_FORMAT_OBJECT;
	case 'N':
	case 'B':
		return a->kind == KT_TYPED_NUMBER &&
		       a->format != KTAPE_FORMAT_OBJECT;
	default:
		return true;
	}
}

static void tell_argument(struct kt_told *t, const char *name, char type,
			  const struct kt_typed *a)
{
	static const char *const acts[] = { "Effect", "Entry", "Exit",
					    "Init",   "Prepro", "Guard" };
	bool hex = a->format == KTAPE_FORMAT_OBJECT ||
		   a->format == KTAPE_FORMAT_FUNCTION;
	struct kt_told_field *f;

	if (a->kind != KT_TYPED_NUMBER) {
		kt_told_add_data(t, name,
				 a->kind == KT_TYPED_STRING ? KT_TOLD_TEXT
							    : KT_TOLD_BYTES,
				 a->data, a->len);
		return;
	}
	if (!strcmp(name, "act") && a->value < KT_ARRAY_SIZE(acts)) {
		kt_told_add_data(t, name, KT_TOLD_TEXT, acts[a->value],
				 strlen(acts[a->value]));
		return;
	}
	f = kt_told_add(t, name, hex ? KT_TOLD_HEX : KT_TOLD_UNSIGNED,
			a->value + (type == 'p'));
	if (f)
		f->object = (uint8_t)object_of(name);
}

static void tell_state(struct kt_told *t, unsigned int id)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(numbers); i++) {
		for (unsigned int f = 1; numbers[i].id == id && f < t->nr; f++) {
			if (strcmp(t->fields[f].name, numbers[i].field))
				continue;
			kt_told_state(t, KT_TOLD_NUMBER_OF,
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
static void tell_config(struct kt_told *t, const struct ktape_event *e)
{
	struct kt_rkh_config c = { 0 };
	uint32_t w[KT_RKH_CONFIG_WORDS];

	for (unsigned int i = 0; i < KT_RKH_CONFIG_WORDS; i++)
		w[i] = ktape_event_arg(e, 1 + i);
	kt_rkh_unpack(&c, w);
	kt_told_add(t, "version", KT_TOLD_UNSIGNED, c.version);
	kt_told_add(t, "flags", KT_TOLD_UNSIGNED, c.flags);
	kt_told_add(t, "id", KT_TOLD_UNSIGNED, c.id);
	kt_told_add(t, "sig", KT_TOLD_UNSIGNED, c.sig);
	kt_told_add(t, "tstamp", KT_TOLD_UNSIGNED, c.ts);
	kt_told_add(t, "ptr", KT_TOLD_UNSIGNED, c.ptr);
	kt_told_add(t, "ntimer", KT_TOLD_UNSIGNED, c.ntimer);
	kt_told_add(t, "nblock", KT_TOLD_UNSIGNED, c.nblock);
	kt_told_add(t, "nelem", KT_TOLD_UNSIGNED, c.nelem);
	kt_told_add(t, "esize", KT_TOLD_UNSIGNED, c.esize);
	kt_told_add(t, "bsize", KT_TOLD_UNSIGNED, c.bsize);
	kt_told_add(t, "epools", KT_TOLD_UNSIGNED, c.pools);
	kt_told_add(t, "tick_hz", KT_TOLD_UNSIGNED, c.hz);
}

/**
 * kt_rkh_tell() - the fields of an event
 * @t: the event, without them
 * @e: the user event that it became
 */
void kt_rkh_tell(struct kt_told *t, const struct ktape_event *e)
{
	unsigned int id = ktape_event_arg(e, 0) & ~KTAPE_FORMAT_ID_MASK;
	const struct kt_rkh_kind *k = kt_rkh_kind(id);
	const uint8_t *at = e->blob, *end = at + e->blob_size;
	unsigned int i = 0;
	struct kt_typed a;

	if (id == KT_RKH_TCFG) {
		tell_config(t, e);
		return;
	}
	while (k && k->types[i] && k->types[i] != 'U' && k->types[i] != 'M' &&
	       at < end) {
		const uint8_t *next = at;

		kt_typed_next(&next, end, &a);
		if (is_there(k->types[i], &a)) {
			tell_argument(t, k->fields[i], k->types[i], &a);
			at = next;
		}
		i++;
	}
	kt_told_typed(t, k && k->fields[0] && !i ? k->fields[0] : NULL, at, end);
	tell_state(t, id);
}
