// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that cached answers equal fresh ones: a registry that has answered
 * before is compared with one that has not. Also fast conversions of numbers
 * against slow ones, and the two tables of events.
 */
#include <assert.h>
#include <inttypes.h>

#include "lcg.h"
#include "stream/clock.h"
#include "stream/event.h"
#include "util/put.h"

#include "tap.h"

/* Ticks a second: so few that the registry's limits, some seconds, are of the size of TIMES. */
#define HZ	  100
#define OBJECTS	  6
#define TIMES	  800
#define RECORDS	  200
#define LINE_ROOM (1U << 16)

static const char machine[] = "x86_64";

static uint64_t seed = 1;

static uint32_t memo_random(uint32_t n)
{
	return lcg_below(&seed, n);
}

/* ---- records ------------------------------------------------------------- */

struct record {
	struct ktape_event event;
	uint8_t args[28];
	char name[8];
};

static void store_u32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* Build a random registry record: object, type, lifetime and name. */
static void make_record(struct record *r)
{
	static const uint8_t types[] = { KTAPE_OBJ_THREAD, KTAPE_OBJ_IRQ };
	uint32_t born = memo_random(TIMES);
	uint32_t died = memo_random(2) ? 0 : born + memo_random(TIMES / 4);

	memset(r, 0, sizeof(*r));
	store_u32(r->args, 1 + memo_random(OBJECTS));
	store_u32(r->args + 12, born);
	store_u32(r->args + 20, died);
	snprintf(r->name, sizeof(r->name), memo_random(8) ? "n%u" : "\"%u\x1b",
		 memo_random(1000));
	r->event = (struct ktape_event){
		.ts = born + memo_random(60) - (born > 20 ? 20 : 0),
		.args = r->args,
		.blob = r->name,
		.blob_size = (uint32_t)strlen(r->name),
		.dat20 = types[memo_random(2)],
		.kind = KTAPE_RING_REGISTRY,
		.opcode = KTAPE_EV_REGISTRY,
		.nargs = 7,
		.tid = -1,
		.known = true,
	};
}

/* Build a registry with the first @nr records that was never queried. */
static struct ktape_registry *fresh(struct record *records, unsigned int nr)
{
	struct ktape_registry *r;

	assert(!ktape_registry_new(HZ, &r));
	for (unsigned int i = 0; i < nr; i++)
		assert(!ktape_registry_add(r, &records[i].event));
	return r;
}

static struct record records[RECORDS];

/* ---- answers ------------------------------------------------------------- */

static bool same_object(const struct ktape_object_info *a,
			const struct ktape_object_info *b)
{
	return a == b || (a && b && !memcmp(a, b, sizeof(*a)));
}

/* A few times close to each other, then distant ones. */
static uint64_t next_time(uint64_t ts)
{
	if (!memo_random(50))
		return memo_random(2) ? UINT64_MAX - memo_random(2) : 0;
	return memo_random(4) ? ts + memo_random(9) : memo_random(TIMES * 3);
}

static void ask_registries(struct ktape_registry *asked, unsigned int known)
{
	uint64_t ts = memo_random(TIMES);

	for (unsigned int i = 0; i < 100; i++) {
		struct ktape_registry *anew = fresh(records, known);
		unsigned int type = memo_random(2) ? KTAPE_OBJ_THREAD :
						     KTAPE_OBJ_IRQ;
		uint32_t id = 1 + memo_random(OBJECTS + 1);

		check(same_object(ktape_registry_object(asked, type, id, 0, ts),
				  ktape_registry_object(anew, type, id, 0, ts)),
		      "type %u id %u at %" PRIu64 " after %u records", type, id,
		      ts, known);
		ktape_registry_free(anew);
		ts = next_time(ts);
	}
}

static void test_answers(void)
{
	for (unsigned int round = 0; round < 40 && !tap_why[0]; round++) {
		struct ktape_registry *asked = fresh(NULL, 0);
		unsigned int nr = 1 + memo_random(RECORDS);

		for (unsigned int i = 0; i < nr; i++) {
			make_record(&records[i]);
			ktape_registry_add(asked, &records[i].event);
			if (!memo_random(20) || i + 1 == nr)
				ask_registries(asked, i + 1);
		}
		ktape_registry_free(asked);
	}
}

/* ---- lines --------------------------------------------------------------- */

static struct ktape_info info[2];

/*
 * A random event with arguments from a few values; half of them with the
 * arguments of the table.
 */
static void make_event(struct ktape_event *e, uint32_t *args, uint64_t *blob)
{
	const struct ktape_event_desc *d;

	/* Often an event whose 20-bit data has a name in the registry. */
	do {
		e->opcode = memo_random(4) ? (uint8_t)(1 + memo_random(255)) :
					     KTAPE_EV_IRQ_HANDLER_ENTRY;
		d = ktape_event_desc(e->opcode);
	} while (!d || e->opcode == KTAPE_TIME_EXTEND);
	for (unsigned int i = 0; i < 7; i++)
		args[i] = memo_random(4);
	for (unsigned int i = 0; i < 16; i++)
		blob[i] = memo_random(4);
	e->args = args;
	e->nargs = d->varargs || !memo_random(8) ? (uint8_t)memo_random(8) :
						   d->nargs;
	e->blob = d->has_blob ? blob : NULL;
	e->blob_size = d->has_blob ? 128 : 0;
	e->dat20 = memo_random(3) ? memo_random(6) : memo_random(1U << 20);
	e->cpu = memo_random(3);
	e->tid = (int32_t)memo_random(OBJECTS + 2) - 1;
	e->kind = memo_random(8) ? KTAPE_RING_EVENT : (uint8_t)memo_random(3);
	e->known = memo_random(16);
	e->size = 8 + 28 + 4 + 128;
}

static size_t put_line(bool json, const struct ktape_registry *r,
		       const struct ktape_info *i, const struct ktape_event *e,
		       char to[LINE_ROOM])
{
	return json ? ktape_format_json(i, r, e, to) :
		      ktape_format_text(i, r, e, to);
}

static void compare_memo_lines(bool json, struct ktape_registry *asked,
			       struct ktape_registry *anew,
			       const struct ktape_info *i,
			       const struct ktape_event *e)
{
	static char a[LINE_ROOM], b[LINE_ROOM];
	size_t len;

	check(ktape_format_bound(e) <= sizeof(a), "too long");
	len = put_line(json, asked, i, e, a);
	check(len == put_line(json, anew, i, e, b) && !memcmp(a, b, len),
	      "%.*s is not %.*s", (int)len - 1, a, (int)len - 1, b);
}

static void test_memo_lines(void)
{
	struct ktape_registry *asked = fresh(NULL, 0);
	struct ktape_event e = { .ts = 0 };
	unsigned int nr = 0;
	bool json = false;
	uint32_t args[7];
	uint64_t blob[16];

	memset(info, 0, sizeof(info));
	strcpy(info[0].machine, machine);
	strcpy(info[1].machine, "aarch64");
	info[0].freq = HZ;
	info[1].freq = 333333333;
	info[1].mono_offset_ns = -50000;
	for (unsigned int i = 0; i < 8000 && !tap_why[0]; i++) {
		struct ktape_registry *anew;

		if (nr < RECORDS && !memo_random(100)) {
			make_record(&records[nr]);
			ktape_registry_add(asked, &records[nr++].event);
		}
		anew = fresh(records, nr);
		make_event(&e, args, blob);
		e.ts = next_time(e.ts);
		/* Mostly the same one as before. */
		json ^= !memo_random(30);
		compare_memo_lines(json, asked, anew, &info[!memo_random(100)], &e);
		ktape_registry_free(anew);
	}
	ktape_registry_free(asked);
}

/* ---- numbers ------------------------------------------------------------- */

static void test_memo_clock(void)
{
	static const uint64_t freqs[] = {
		1,
		2,
		3,
		1000,
		19200000,
		24000000,
		999999999,
		1000000000,
		1000000001,
		2000000000,
		2399999917,
		KT_FREQ_FAST,
		KT_FREQ_FAST + 1,
		UINT64_MAX,
	};
	struct kt_clock clock = { .freq = 0 };
	struct ktape_info i = { .freq = 0 };

	for (unsigned int f = 0; f < ARRAY_SIZE(freqs); f++) {
		i.freq = freqs[f];
		for (unsigned int n = 0; n < 200000; n++) {
			uint64_t ts = lcg_next64(&seed) >> memo_random(64);

			if (!memo_random(4))
				ts = i.freq * memo_random(1000) - memo_random(2);
			check(kt_clock_ns(&clock, &i, ts) ==
				      ktape_ticks_to_ns(&i, ts),
			      "%" PRIu64 " at %" PRIu64 " Hz", ts, i.freq);
		}
	}
}

static void check_number(uint64_t v)
{
	char got[64], want[64];

	*kt_put_u64(got, v) = '\0';
	snprintf(want, sizeof(want), "%" PRIu64, v);
	check(!strcmp(got, want), "%s is not %s", got, want);
	*kt_put_hex(got, v) = '\0';
	snprintf(want, sizeof(want), "0x%" PRIx64, v);
	check(!strcmp(got, want), "%s is not %s", got, want);
}

static void test_memo_digits(void)
{
	char got[64], want[64];
	uint64_t power = 1;

	for (unsigned int i = 0; i < 20; i++, power *= 10) {
		check_number(power - 1);
		check_number(power);
	}
	for (unsigned int v = 0; v < 200000; v++)
		check_number(v);
	for (unsigned int i = 0; i < 500000; i++)
		check_number(lcg_next64(&seed) >> memo_random(64));
	for (unsigned int i = 0; i < 400000; i++) {
		uint32_t v = (uint32_t)lcg_next64(&seed);
		unsigned int digits = 1 + memo_random(8);

		snprintf(want, sizeof(want), "%020u", v);
		*kt_put_fixed(got, v, digits) = '\0';
		check(!strcmp(got, want + 20 - digits), "%s of %u", got, v);
		v %= 1000000000;
		snprintf(want, sizeof(want), "%09u", v);
		*kt_put_nano(got, v) = '\0';
		check(!strcmp(got, want), "%s of %u", got, v);
	}
}

/* ---- the table of events ---------------------------------------------------- */

static void check_step(const struct kt_slot *s, const struct ktape_field *f)
{
	size_t len = strnlen(s->name, sizeof(s->name));

	check(len < sizeof(s->name) && len == s->name_len &&
		      !strcmp(s->name, f->name),
	      "%s is named %.16s", f->name, s->name);
	check(s->type == f->type && s->place == f->place && s->count == f->count,
	      "%s is another field", f->name);
}

static void check_plan(const struct kt_plan *p, const struct ktape_event_desc *d)
{
	size_t len = strnlen(p->name, sizeof(p->name));
	unsigned int bits = 0, wide = 0;

	check(len < sizeof(p->name) && len == p->name_len &&
		      !strcmp(p->name, d->name),
	      "%s is named %.32s", d->name, p->name);
	check(p->nargs == d->nargs && p->varargs == d->varargs &&
		      p->has_blob == d->has_blob && p->blob_words == d->blob_words,
	      "%s has another shape", d->name);
	for (unsigned int i = 0; i < d->nr_fields && !tap_why[0]; i++) {
		check_step(&p->steps[i], &d->fields[i]);
		if (d->fields[i].place != KTAPE_PLACE_BITS)
			continue;
		check(bits++ == i, "%s: %s comes after others", d->name,
		      d->fields[i].name);
		wide += d->fields[i].count;
	}
	check(bits == p->bits && wide <= 20, "%s: %u fields of %u bits",
	      d->name, bits, wide);
	check(p->steps[d->nr_fields].place == KT_PLACE_END,
	      "%s has more fields", d->name);
}

/* The decoder's table must equal ktape_event_desc(). */
static void test_tables(void)
{
	unsigned int nr = 0;

	for (unsigned int op = 0; op < KTAPE_OPCODES && !tap_why[0]; op++) {
		const struct ktape_event_desc *d = ktape_event_desc(op);

		check(!d == !kt_plans[op].steps, "opcode %u in one table", op);
		if (!d)
			continue;
		check_plan(&kt_plans[op], d);
		nr++;
	}
	tap_note("%u events", nr);
}

static const struct tap_test tests[] = {
	{ "cached answers of the registry", test_answers },
	{ "cached lines", test_memo_lines },
	{ "ticks to nanoseconds", test_memo_clock },
	{ "digits of numbers", test_memo_digits },
	{ "both tables of events", test_tables },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
