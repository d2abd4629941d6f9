// SPDX-License-Identifier: GPL-2.0-only
/* ktape status: the module, session 0 and its rings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

#include "opt.h"
#include "tool.h"

struct status_options {
	bool json;
	const char *device;
};

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, offsetof(struct status_options, json), NULL,
	  "as one JSON object" },
	{ "device", 0, KT_OPT_TEXT, offsetof(struct status_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

static const char *const reasons[KTAPE_LOST_REASONS] = {
	[KTAPE_LOST_FULL] = "full",	  [KTAPE_LOST_NESTED] = "nested",
	[KTAPE_LOST_TOO_BIG] = "too_big", [KTAPE_LOST_SHED] = "shed",
	[KTAPE_LOST_RATE] = "rate",
};

static const struct {
	const char *name;
	uint64_t bit;
} features[] = {
	{ "mmap", KTAPE_FEATURE_MMAP },
	{ "create", KTAPE_FEATURE_CREATE },
	{ "discard", KTAPE_FEATURE_DISCARD },
	{ "tracepoints", KTAPE_FEATURE_TRACEPOINTS },
	{ "pos32", KTAPE_FEATURE_POS32 },
	{ "persist", KTAPE_FEATURE_PERSIST },
};

static const char *const kinds[] = { "event", "control", "registry" };

struct status {
	struct ktape_device *device;
	const struct ktape_features *f;
	struct ktape_layout layout;
	struct ktape_layout_entry *entries;
};

static uint64_t sum(const __u64 *counts)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		total += counts[i];
	return total;
}

static const char *clock_name(uint32_t clock)
{
	return clock == KTAPE_CLOCK_MONO     ? "mono"
	       : clock == KTAPE_CLOCK_CYCLES ? "cycles"
					     : "unknown";
}

static const char *mode_name(uint32_t mode)
{
	return mode == KTAPE_MODE_OVERWRITE  ? "overwrite" :
	       mode == KTAPE_MODE_DISCARD    ? "discard" :
	       mode == KTAPE_MODE_PERSISTENT ? "persistent" :
					       "unknown";
}

static void print_head(const struct status *s)
{
	printf("clock     %s, %llu Hz\n", clock_name(s->f->clock),
	       (unsigned long long)s->f->clock_hz);
	printf("features ");
	for (size_t i = 0; i < KT_ARRAY_SIZE(features); i++) {
		if (s->f->features & features[i].bit)
			printf(" %s", features[i].name);
	}
	printf("\ntable     %016llx%s\n", (unsigned long long)s->f->table_hash,
	       s->f->table_hash == ktape_table_hash() ? ""
						      : " (not that of this tool)");
	printf("session   %u, %s, %s, profile generation %u\n",
	       s->layout.session, mode_name(s->layout.mode),
	       s->layout.running ? "running" : "stopped", s->layout.generation);
	printf("%-9s %3s %10s %12s %12s %10s\n", "ring", "cpu", "size",
	       "emitted", "filtered", "lost");
}

static void print_ring(const struct ktape_layout_entry *e,
		       const struct ktape_stats *st)
{
	uint64_t lost = 0, n;
	char size[16];

	put_human(size, sizeof(size), e->data_size);
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		lost += sum(st->lost[i]);
	printf("%-9s %3d %10s %12llu %12llu %10llu", kinds[e->kind], e->cpu,
	       size, (unsigned long long)sum(st->emitted),
	       (unsigned long long)sum(st->filtered), (unsigned long long)lost);
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++) {
		n = sum(st->lost[i]);
		if (n)
			printf(" %s=%llu", reasons[i], (unsigned long long)n);
	}
	putchar('\n');
}

static void print_json_head(const struct status *s)
{
	const char *comma = "";

	printf("{\"clock\":\"%s\",\"clock_hz\":%llu,\"features\":[",
	       clock_name(s->f->clock), (unsigned long long)s->f->clock_hz);
	for (size_t i = 0; i < KT_ARRAY_SIZE(features); i++) {
		if (!(s->f->features & features[i].bit))
			continue;
		printf("%s\"%s\"", comma, features[i].name);
		comma = ",";
	}
	printf("],\"table_hash\":\"%016llx\",\"table_matches\":%s,\"cpus\":%u,\"sessions_max\":%u",
	       (unsigned long long)s->f->table_hash,
	       s->f->table_hash == ktape_table_hash() ? "true" : "false",
	       s->f->cpus, s->f->sessions_max);
	printf(",\"session\":%u,\"mode\":\"%s\",\"running\":%s,\"generation\":%u,\"rings\":[",
	       s->layout.session, mode_name(s->layout.mode),
	       s->layout.running ? "true" : "false", s->layout.generation);
}

static void print_json_ring(const struct ktape_layout_entry *e,
			    const struct ktape_stats *st, bool first)
{
	printf("%s\n{\"cpu\":%d,\"ring\":\"%s\",\"size\":%llu,\"block\":%u,\"commit\":%llu,\"tail\":%llu,\"floor\":%llu,\"consumer\":%llu,\"emitted\":%llu,\"filtered\":%llu,\"lost\":{",
	       first ? "" : ",", e->cpu, kinds[e->kind],
	       (unsigned long long)e->data_size, e->block_size,
	       (unsigned long long)st->commit, (unsigned long long)st->tail,
	       (unsigned long long)st->floor, (unsigned long long)st->consumer,
	       (unsigned long long)sum(st->emitted),
	       (unsigned long long)sum(st->filtered));
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		printf("%s\"%s\":%llu", i ? "," : "", reasons[i],
		       (unsigned long long)sum(st->lost[i]));
	printf("}}");
}

static int print(const struct status *s, bool json)
{
	struct ktape_stats st;
	bool first = true;
	int err;

	if (json)
		print_json_head(s);
	else
		print_head(s);
	for (unsigned int i = 0; i < s->layout.nr; i++) {
		const struct ktape_layout_entry *e = &s->entries[i];

		if (e->kind >= KTAPE_RING_REGISTRY)
			continue;
		err = ktape_device_stats(s->device, (uint32_t)e->cpu, e->kind,
					 &st);
		if (err)
			return fail("counts of CPU %d: %s", e->cpu,
				    strerror(-err));
		if (json)
			print_json_ring(e, &st, first);
		else
			print_ring(e, &st);
		first = false;
	}
	if (json)
		puts("\n]}");
	return finish_stdout();
}

static int run(int argc, char **argv)
{
	struct status_options o = { .json = false };
	struct status s = { .entries = NULL };
	int first, ret;

	ret = kt_options(&command_status, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (first != argc)
		return misuse(&command_status, "it takes no operands");
	if (open_device(o.device, false, &s.device))
		return EXIT_FAILED;
	s.f = ktape_device_features(s.device);
	ret = ktape_device_layout(s.device, &s.layout, &s.entries);
	if (ret)
		ret = fail("layout: %s", strerror(-ret));
	else
		ret = print(&s, o.json);
	free(s.entries);
	ktape_device_close(s.device);
	return ret;
}

const struct kt_command command_status = {
	.name = "status",
	.operands = "",
	.help = "show the module, session 0 and the counts of its rings",
	.options = options,
	.run = run,
};
