// SPDX-License-Identifier: GPL-2.0-only
/* Print the response times of RKH objects and signals as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ktape/objects.h>

#include "util/bits.h"
#include "util/put.h"

#include "duration.h"
#include "stats.h"

#define TEXT_SIZE	32

/* Return the name of an object of one of @types, or NULL. */
static const char *name_of(const struct ktape_registry *registry,
			   const uint8_t *types, size_t nr, uint32_t id,
			   char name[KTAPE_NAME_SIZE + 1])
{
	const struct ktape_object_info *o = NULL;

	for (size_t i = 0; i < nr && !o; i++)
		o = ktape_registry_object(registry, KTAPE_OBJ_USER + types[i],
					  id, 0, UINT64_MAX);
	if (!o)
		return NULL;
	snprintf(name, KTAPE_NAME_SIZE + 1, "%.*s", KTAPE_NAME_SIZE, o->name);
	return name;
}

static const char *object_name(const struct ktape_registry *registry,
			       const struct ktape_response *r,
			       char name[KTAPE_NAME_SIZE + 1])
{
	static const uint8_t types[] = {
		KTAPE_USER_THREAD,
		KTAPE_USER_RKH_OBJECT,
	};

	return name_of(registry, types, KT_ARRAY_SIZE(types),
		       (uint32_t)r->object, name);
}

static const char *signal_name(const struct ktape_registry *registry,
			       const struct ktape_response *r,
			       char name[KTAPE_NAME_SIZE + 1])
{
	static const uint8_t types[] = { KTAPE_USER_RKH_SIGNAL };

	return r->signal == KTAPE_RESPONSE_ALL ?
		       NULL :
		       name_of(registry, types, KT_ARRAY_SIZE(types),
			       (uint32_t)r->signal, name);
}

static void put_name(const char *key, const char *name)
{
	printf(",\"%s\":", key);
	if (name)
		put_json_text(name);
	else
		printf("null");
}

static void put_times(const struct ktape_response *r)
{
	if (!r->count)
		return;
	printf(",\"min\":%" PRIu64 ",\"max\":%" PRIu64 ",\"mean\":%" PRIu64,
	       r->min, r->max, r->sum / r->count);
	for (size_t i = 0; i < STATS_SHARES; i++)
		printf(",\"%s\":%" PRIu64, stats_shares[i].name,
		       ktape_response_quantile(r, stats_shares[i].millionth));
}

static void report_objects_left_out(const struct ktape_responses *s)
{
	if (ktape_responses_left_out(s))
		note("%" PRIu64
		     " events were left out: too many objects and signals",
		     ktape_responses_left_out(s));
}

/**
 * stats_put_responses() - print response times as a member of a JSON object
 * @s: the results; nothing is printed if there are none
 * @registry: names
 */
void stats_put_responses(const struct ktape_responses *s,
			 const struct ktape_registry *registry)
{
	const struct ktape_response *r;
	char name[KTAPE_NAME_SIZE + 1];

	for (size_t i = 0; (r = ktape_response(s, i)); i++) {
		printf("%s\n  {\"object\":\"0x%" PRIx64 "\"",
		       i ? "," : ",\n \"responses\":[", r->object);
		put_name("name", object_name(registry, r, name));
		if (r->signal == KTAPE_RESPONSE_ALL)
			printf(",\"signal\":null");
		else
			printf(",\"signal\":%" PRIu64, r->signal);
		put_name("signal_name", signal_name(registry, r, name));
		printf(",\"posts\":%" PRIu64 ",\"gets\":%" PRIu64
		       ",\"count\":%" PRIu64 ",\"sum\":%" PRIu64,
		       r->posts, r->gets, r->count, r->sum);
		if (r->signal == KTAPE_RESPONSE_ALL)
			printf(",\"waiting\":%" PRIu64
			       ",\"uncertain\":%" PRIu64,
			       r->waiting, r->uncertain);
		put_times(r);
		putchar('}');
	}
	if (ktape_response(s, 0))
		putchar(']');
	report_objects_left_out(s);
}

/* Print a name, escaped for a terminal. */
static void print_name(const char *before, const char *name)
{
	char shown[STATS_NAME];

	printf("%s%s", before, stats_name(shown, name));
}

static void print_time(const struct ktape_response *r, uint64_t ns)
{
	char text[DURATION_ROOM] = "-";

	if (r->count)
		duration_column(text, ns, "ns");
	printf(" %11s", text);
}

/**
 * stats_print_responses() - print response times as a table
 * @s: the results; nothing is printed if there are none
 * @registry: names
 */
void stats_print_responses(const struct ktape_responses *s,
			   const struct ktape_registry *registry)
{
	const struct ktape_response *r;
	char name[KTAPE_NAME_SIZE + 1], number[TEXT_SIZE];
	const char *text;

	for (size_t i = 0; (r = ktape_response(s, i)); i++) {
		if (!i) {
			stats_head("\n%8s %8s %8s", "posts", "gets", "times");
			for (size_t k = 0; k < STATS_SHARES; k++)
				stats_head(" %11s", stats_shares[k].name);
			stats_head(" %11s  response of object, signal\n",
				   "max");
		}
		printf("%8" PRIu64 " %8" PRIu64 " %8" PRIu64, r->posts, r->gets,
		       r->count);
		for (size_t k = 0; k < STATS_SHARES; k++)
			print_time(r, ktape_response_quantile(
					      r, stats_shares[k].millionth));
		print_time(r, r->max);
		text = object_name(registry, r, name);
		snprintf(number, sizeof(number), "0x%" PRIx64, r->object);
		print_name("  ", text ? text : number);
		if (r->signal != KTAPE_RESPONSE_ALL) {
			text = signal_name(registry, r, name);
			snprintf(number, sizeof(number), "%" PRIu64, r->signal);
			print_name(", ", text ? text : number);
		} else if (r->uncertain) {
			printf(" (%" PRIu64 " uncertain)", r->uncertain);
		}
		putchar('\n');
	}
	report_objects_left_out(s);
}
