// SPDX-License-Identifier: GPL-2.0-only
/* ktape profile: which events session 0 records. */
#include <stdio.h>
#include <string.h>

#include "util/bits.h"

#include "opt.h"
#include "tool.h"

#define LIST_MAX	16384

struct profile_options {
	bool json;
	bool no_context;
	const char *device;
};

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, offsetof(struct profile_options, json),
	  NULL, "show it as JSON" },
	{ "no-context", 0, KT_OPT_FLAG,
	  offsetof(struct profile_options, no_context), NULL,
	  "with set: threads need not be known" },
	{ "device", 0, KT_OPT_TEXT, offsetof(struct profile_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

static const struct {
	const char *name;
	unsigned int op;
} operations[] = {
	{ "set", KTAPE_PROFILE_SET },
	{ "or", KTAPE_PROFILE_OR },
	{ "andnot", KTAPE_PROFILE_ANDNOT },
};

/*
 * [set|or|andnot] NAMES...; names alone, as of a preset, are set.
 * Return: 0 or the exit code.
 */
static int read_operands(int argc, char **argv, unsigned int *op,
			 struct ktape_profile *p)
{
	uint64_t mask[KTAPE_MASK_WORDS];
	char list[LIST_MAX] = "";
	size_t len = 0;
	int i = 0;

	*op = argc ? KTAPE_PROFILE_SET : KTAPE_PROFILE_GET;
	for (size_t k = 0; argc && k < KT_ARRAY_SIZE(operations); k++) {
		if (!strcmp(argv[0], operations[k].name)) {
			*op = operations[k].op;
			i = 1;
		}
	}
	if (i == 1 && argc == 1)
		return misuse(&command_profile, "%s what?", argv[0]);
	/* One list: "!" takes away from what came before it. */
	for (; i < argc; i++) {
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
					len ? "," : "", argv[i]);
		if (len >= sizeof(list))
			return misuse(&command_profile, "too many names");
	}
	if (parse_events(&command_profile, list, mask))
		return EXIT_USAGE;
	memcpy(p->mask, mask, sizeof(mask));
	return 0;
}

static void print_json(const struct ktape_profile *p)
{
	const char *comma = "";

	printf("{\"generation\":%u,\"context\":%s,\"mask\":\"0x%016llx%016llx%016llx%016llx\",\"events\":[",
	       p->generation,
	       p->flags & KTAPE_PROFILE_NO_CONTEXT ? "false" : "true",
	       (unsigned long long)p->mask[3], (unsigned long long)p->mask[2],
	       (unsigned long long)p->mask[1], (unsigned long long)p->mask[0]);
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);
		uint64_t mask[KTAPE_MASK_WORDS];

		memcpy(mask, p->mask, sizeof(mask));
		if (!d || !kt_mask_has(mask, i))
			continue;
		fputs(comma, stdout);
		put_json_text(d->name);
		comma = ",";
	}
	puts("]}");
}

static void print_text(const struct ktape_profile *p)
{
	uint64_t mask[KTAPE_MASK_WORDS];

	memcpy(mask, p->mask, sizeof(mask));
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (kt_mask_has(mask, i) && d)
			puts(d->name);
		else if (kt_mask_has(mask, i))
			printf("opcode_%u\n", i);
	}
}

static int run(int argc, char **argv)
{
	struct profile_options o = { .json = false };
	struct ktape_profile p = { .flags = 0 };
	uint64_t mask[KTAPE_MASK_WORDS];
	struct ktape_device *device;
	unsigned int op;
	int first, ret;

	ret = kt_options(&command_profile, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	ret = read_operands(argc - first, argv + first, &op, &p);
	if (ret)
		return ret;
	if (o.no_context && op != KTAPE_PROFILE_SET)
		return misuse(&command_profile, "--no-context goes with set");
	if (o.no_context)
		p.flags = KTAPE_PROFILE_NO_CONTEXT;
	if (open_device(o.device, op != KTAPE_PROFILE_GET, &device))
		return EXIT_FAILED;
	memcpy(mask, p.mask, sizeof(mask));
	ret = ktape_device_profile(device, op, &p);
	if (ret)
		ret = profile_failed(device, mask, ret);
	ktape_device_close(device);
	if (ret)
		return ret;
	if (o.json)
		print_json(&p);
	else if (op == KTAPE_PROFILE_GET)
		print_text(&p);
	return finish_stdout();
}

const struct kt_command command_profile = {
	.name = "profile",
	.operands = "[[set|or|andnot] NAMES...]",
	.help = "show or change which events session 0 records",
	.more = "NAMES are events, classes, globs, masks (0x...) or presets\n"
		"(none, default, all); \"!\" before one takes it away.\n",
	.options = options,
	.run = run,
};
