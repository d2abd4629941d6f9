// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the response times of RKH, a framework for state machines, as text and as JSON: from
 * posting a signal to an object until the object gets it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ktape/objects.h>

#include "util/bits.h"
#include "util/put.h"

#include "tool/report/report.h"
#include "tool/shared/duration.h"
#include "tool/shared/text.h"

#define TEXT_SIZE 32 /* bytes of a number as text */

/* Return the name of an object of one of @types, or NULL. */
static const char *name_of_object(const struct ktape_registry *registry,
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

	return name_of_object(registry, types, KT_ARRAY_SIZE(types),
			      (uint32_t)r->object, name);
}

static const char *signal_name(const struct ktape_registry *registry,
			       const struct ktape_response *r,
			       char name[KTAPE_NAME_SIZE + 1])
{
	static const uint8_t types[] = { KTAPE_USER_RKH_SIGNAL };

	return r->signal == KTAPE_RESPONSE_ALL ?
		       NULL :
		       name_of_object(registry, types, KT_ARRAY_SIZE(types),
				      (uint32_t)r->signal, name);
}

static void put_response_name(FILE *f, const char *key, const char *name)
{
	fprintf(f, ",\"%s\":", key);
	if (name)
		write_json_text(f, name);
	else
		fprintf(f, "null");
}

static void put_times(FILE *f, const struct ktape_response *r,
		      const struct ktape_info *info)
{
	if (!r->count)
		return;
	fprintf(f, ",\"min\":%" PRIu64 ",\"max\":%" PRIu64 ",\"mean\":%" PRIu64,
		r->min, r->max, r->sum / r->count);
	for (size_t i = 0; i < STATS_SHARES; i++)
		fprintf(f, ",\"%s\":%" PRIu64, stats_shares[i].name,
			ktape_response_quantile(r, stats_shares[i].millionth));
	fprintf(f, ",\"max_end_ns\":");
	stats_put_ns(f, ktape_mono_ns(info, r->max_ts));
}

/**
 * stats_put_responses() - write response times as a member of a JSON object
 * @f: where to write
 * @s: the statistics; nothing is written if there are no response times
 */
void stats_put_responses(FILE *f, const struct stats_rtos *s)
{
	const struct ktape_response *r;
	char name[KTAPE_NAME_SIZE + 1];

	for (size_t i = 0; (r = ktape_response(s->responses, i)); i++) {
		fprintf(f, "%s\n  {\"object\":\"0x%" PRIx64 "\"",
			i ? "," : ",\n \"responses\":[", r->object);
		put_response_name(f, "name", object_name(s->registry, r, name));
		if (r->signal == KTAPE_RESPONSE_ALL)
			fprintf(f, ",\"signal\":null");
		else
			fprintf(f, ",\"signal\":%" PRIu64, r->signal);
		put_response_name(f, "signal_name",
				  signal_name(s->registry, r, name));
		fprintf(f,
			",\"posts\":%" PRIu64 ",\"gets\":%" PRIu64
			",\"count\":%" PRIu64 ",\"sum\":%" PRIu64,
			r->posts, r->gets, r->count, r->sum);
		if (r->signal == KTAPE_RESPONSE_ALL)
			fprintf(f, ",\"waiting\":%" PRIu64 ",\"uncertain\":%" PRIu64,
				r->waiting, r->uncertain);
		put_times(f, r, s->info);
		fputc('}', f);
	}
	if (ktape_response(s->responses, 0))
		fputc(']', f);
}

/* Print a name, escaped for a terminal. */
static void print_name(const char *before, const char *name)
{
	char shown[STATS_NAME];

	printf("%s%s", before, stats_name(shown, name));
}

static void print_response_time(const struct ktape_response *r, uint64_t ns)
{
	char text[DURATION_ROOM] = "-";

	if (r->count)
		duration_column(text, ns, "ns");
	printf(" %11s", text);
}

/**
 * stats_print_responses() - print response times as a table
 * @s: the statistics; nothing is printed if there are no response times
 */
void stats_print_responses(const struct stats_rtos *s)
{
	const struct ktape_response *r;
	char name[KTAPE_NAME_SIZE + 1], number[TEXT_SIZE];
	const char *text;

	for (size_t i = 0; (r = ktape_response(s->responses, i)); i++) {
		if (!i) {
			stats_head("\n%8s %8s %8s", "posts", "gets", "times");
			for (size_t k = 0; k < STATS_SHARES; k++)
				stats_head(" %11s", stats_shares[k].name);
			stats_head(" %11s  response of object, signal\n", "max");
		}
		printf("%8" PRIu64 " %8" PRIu64 " %8" PRIu64, r->posts, r->gets,
		       r->count);
		for (size_t k = 0; k < STATS_SHARES; k++)
			print_response_time(r, ktape_response_quantile(
						       r, stats_shares[k].millionth));
		print_response_time(r, r->max);
		text = object_name(s->registry, r, name);
		snprintf(number, sizeof(number), "0x%" PRIx64, r->object);
		print_name("  ", text ? text : number);
		if (r->signal != KTAPE_RESPONSE_ALL) {
			text = signal_name(s->registry, r, name);
			snprintf(number, sizeof(number), "%" PRIu64, r->signal);
			print_name(", ", text ? text : number);
		} else if (r->uncertain) {
			printf(" (%" PRIu64 " uncertain)", r->uncertain);
		}
		putchar('\n');
	}
}
