// SPDX-License-Identifier: GPL-2.0-only
/* ktape probe: add, list and remove probes at kernel functions at run time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/parse.h"

#include "tool/control/control.h"
#include "tool/session/session.h"
#include "tool/shared/message.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"

struct probe_options {
	bool at_return;
	bool json;
	uint64_t args;
	const char *device;
};

static const struct kt_option options[] = {
	{ "return", 'r', KT_OPT_FLAG, offsetof(struct probe_options, at_return),
	  NULL, "add: probe the function's return" },
	{ "args", 'a', KT_OPT_NUMBER, offsetof(struct probe_options, args), "N",
	  "add: record N arguments (up to 4); -r: 1, the value" },
	{ "json", 'j', KT_OPT_FLAG, offsetof(struct probe_options, json), NULL,
	  "list: as a JSON array" },
	{ "device", 0, KT_OPT_TEXT, offsetof(struct probe_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

static const struct {
	int error;
	const char *text;
} meanings[] = {
	{ ENOENT, "no such function" },
	{ EINVAL, "the kernel refuses a probe there" },
	{ EPERM, "not allowed, or the kernel is locked down" },
	{ ENOSPC, "all probes are in use: remove one (ktape probe list shows them)" },
	{ ENODEV, "the kernel was built without kprobes" },
	{ EOPNOTSUPP, "arguments cannot be recorded on this machine" },
	{ EBUSY, "a session has this probe in its profile" },
};

static const char *error_text(int err)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(meanings); i++) {
		if (meanings[i].error == -err)
			return meanings[i].text;
	}
	return strerror(-err);
}

static const char *probe_name_of(unsigned int opcode)
{
	const struct ktape_event_desc *d = ktape_event_desc(opcode);

	return d ? d->name : "?";
}

/* Parse SYMBOL or SYMBOL+OFFSET.  Return: 0 or the exit code. */
static int read_place(const char *text, struct ktape_probe *p)
{
	const char *plus = strchr(text, '+');
	size_t len = plus ? (size_t)(plus - text) : strlen(text);
	uint64_t offset = 0;

	if (!len || len >= sizeof(p->symbol))
		return misuse(&command_probe, "\"%s\" is not a function name", text);
	if (plus && kt_parse_u64(plus + 1, &offset))
		return misuse(&command_probe, "\"%s\" is not an offset", plus + 1);
	memcpy(p->symbol, text, len);
	p->offset = offset;
	return 0;
}

static int add_probe(struct ktape_device *device, const struct probe_options *o,
		     int argc, char **argv)
{
	const unsigned int most = o->at_return ? 1 : KTAPE_PROBE_ARGS_MAX;
	struct ktape_probe p = { .flags = 0 };
	int ret;

	if (argc != 1)
		return misuse(&command_probe,
			      "add needs exactly one SYMBOL[+OFFSET]");
	if (o->args > most)
		return misuse(&command_probe,
			      "--args: at most %u for this kind of probe", most);
	ret = read_place(argv[0], &p);
	if (ret)
		return ret;
	p.flags = o->at_return ? KTAPE_PROBE_RETURN : 0;
	p.nargs = (uint32_t)o->args;
	ret = ktape_device_probe(device, KTAPE_PROBE_ADD, &p);
	if (ret)
		return fail("cannot add a probe at %s: %s", argv[0],
			    error_text(ret));
	puts(probe_name_of(p.opcode));
	return finish_stdout();
}

static int remove_probes(struct ktape_device *device,
			 const struct probe_options *o, int argc, char **argv)
{
	int code = EXIT_OK, ret;

	(void)o;
	if (!argc)
		return misuse(&command_probe,
			      "remove needs at least one PROBE (ktape probe list shows them)");
	for (int i = 0; i < argc; i++) {
		const struct ktape_event_desc *d = ktape_event_find(argv[i]);
		struct ktape_probe p = { .flags = 0 };

		if (!d || d->opcode < KTAPE_OP_PROBE)
			return misuse(&command_probe,
				      "\"%s\" is not a probe: give probe_0 to probe_14",
				      argv[i]);
		p.opcode = d->opcode;
		ret = ktape_device_probe(device, KTAPE_PROBE_REMOVE, &p);
		if (ret)
			code = fail("%s: %s", argv[i],
				    ret == -ENOENT ? "this probe was not added" :
						     error_text(ret));
	}
	return code;
}

static void print_probes_text(const struct ktape_probe *p,
			      const struct ktape_event_info *info)
{
	char place[KTAPE_PROBE_SYMBOL + 24];
	int len = snprintf(place, sizeof(place), "%s", p->symbol);

	if (p->offset)
		snprintf(place + len, sizeof(place) - (size_t)len, "+0x%llx",
			 (unsigned long long)p->offset);
	printf("%-8s %-32s %-6s args %u, hits %llu, missed %llu%s%s%s\n",
	       probe_name_of(p->opcode), place,
	       p->flags & KTAPE_PROBE_RETURN ? "return" : "entry", p->nargs,
	       (unsigned long long)p->hits, (unsigned long long)p->missed,
	       *info->reason ? " [" : "", info->reason, *info->reason ? "]" : "");
}

static void print_probes_json(const struct ktape_probe *p,
			      const struct ktape_event_info *info)
{
	printf("{\"name\":\"%s\",\"symbol\":", probe_name_of(p->opcode));
	put_json_text(p->symbol);
	printf(",\"offset\":%llu,\"return\":%s,\"args\":%u,\"hits\":%llu,\"missed\":%llu,\"attached\":%s,\"reason\":",
	       (unsigned long long)p->offset,
	       p->flags & KTAPE_PROBE_RETURN ? "true" : "false", p->nargs,
	       (unsigned long long)p->hits, (unsigned long long)p->missed,
	       info->attached ? "true" : "false");
	put_json_text(info->reason);
	putchar('}');
}

static int list_probes(struct ktape_device *device,
		       const struct probe_options *o, int argc, char **argv)
{
	struct ktape_event_info info[KTAPE_PROBES];
	struct ktape_probe p[KTAPE_PROBES];
	const char *comma = "";
	int ret;

	(void)argv;
	if (argc)
		return misuse(&command_probe, "list takes no operands");
	/* Read all probes before printing: half a list would not be valid JSON. */
	for (unsigned int i = 0; i < KTAPE_PROBES; i++) {
		p[i] = (struct ktape_probe){ .opcode = KTAPE_OP_PROBE + i };
		ret = ktape_device_probe(device, KTAPE_PROBE_GET, &p[i]);
		if (!ret)
			ret = ktape_device_event_info(device, p[i].opcode,
						      &info[i]);
		if (ret)
			return fail("%s: %s", probe_name_of(p[i].opcode),
				    error_text(ret));
	}
	if (o->json)
		putchar('[');
	for (unsigned int i = 0; i < KTAPE_PROBES; i++) {
		if (!*p[i].symbol)
			continue;
		if (o->json) {
			printf("%s\n", comma);
			print_probes_json(&p[i], &info[i]);
		} else {
			print_probes_text(&p[i], &info[i]);
		}
		comma = ",";
	}
	if (o->json)
		puts("\n]");
	return finish_stdout();
}

static const struct {
	const char *name;
	bool writes;
	int (*act)(struct ktape_device *device, const struct probe_options *o,
		   int argc, char **argv);
} actions[] = {
	{ "add", true, add_probe },
	{ "list", false, list_probes },
	{ "remove", true, remove_probes },
};

static int cmd_probe(int argc, char **argv)
{
	struct probe_options o = { .json = false };
	struct ktape_device *device;
	int first, ret;

	ret = kt_options(&command_probe, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	for (size_t i = 0; first < argc && i < KT_ARRAY_SIZE(actions); i++) {
		if (strcmp(argv[first], actions[i].name))
			continue;
		if (open_device(o.device, actions[i].writes, &device))
			return EXIT_FAILED;
		ret = actions[i].act(device, &o, argc - first - 1, argv + first + 1);
		ktape_device_close(device);
		return ret;
	}
	return misuse(&command_probe, "give one of add, list, remove");
}

const struct kt_command command_probe = {
	.name = "probe",
	.operands = "add SYMBOL[+OFFSET] | list | remove PROBE...",
	.help = "add, list and remove probes at kernel functions",
	.more = "add prints the name of the event, probe_0 to probe_14.  Sessions that have\n"
		"that event in their profile record it.\n",
	.options = options,
	.run = KT_RUN(cmd_probe),
};
