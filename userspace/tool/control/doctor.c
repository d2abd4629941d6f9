// SPDX-License-Identifier: GPL-2.0-only
/* ktape doctor: find out what prevents recording, and print the next command. */
#include <stdio.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/control/control.h"
#include "tool/shared/color.h"
#include "tool/shared/message.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"

struct doctor_options {
	bool json;
	struct ktape_doctor_options run;
	struct text_options text;
};

#define OPT(member) offsetof(struct doctor_options, member)

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, OPT(json), NULL, "as one JSON object" },
	{ "output", 'o', KT_OPT_TEXT, OPT(run.output), "DIR",
	  "folder that traces will be written to (default: .)" },
	{ "buffer", 'b', KT_OPT_SIZE, OPT(run.ring_size), "SIZE",
	  "ring of each CPU that will be asked for (default: 4M)" },
	{ "module", 'm', KT_OPT_TEXT, OPT(run.module), "FILE",
	  "file of the module (default: looked for)" },
	{ "root", 0, KT_OPT_TEXT, OPT(run.root), "DIR",
	  "read all files below DIR instead of /" },
	{ "device", 0, KT_OPT_TEXT, OPT(run.device), "PATH",
	  "instead of " KTAPE_DEVICE_PATH },
	COLOR_OPTION(struct doctor_options, text),
	{ .name = NULL },
};

static const enum kt_role roles[] = {
	[KTAPE_DOCTOR_OK] = ROLE_GOOD,
	[KTAPE_DOCTOR_NOTE] = ROLE_HEAD,
	[KTAPE_DOCTOR_WARNING] = ROLE_LOSS,
	[KTAPE_DOCTOR_PROBLEM] = ROLE_ERROR,
};

static const char *const severities[] = {
	[KTAPE_DOCTOR_OK] = "ok",
	[KTAPE_DOCTOR_NOTE] = "note",
	[KTAPE_DOCTOR_WARNING] = "warning",
	[KTAPE_DOCTOR_PROBLEM] = "problem",
};

/* Print a finding.  Its further lines begin below the text of the first: 8 + 1 + 10 columns. */
static void print_finding(const struct ktape_diagnosis *f)
{
	printf("%s%-8s%s %-10s %s\n", role_begin(roles[f->severity]),
	       severities[f->severity], role_end(), f->id, f->what);
	if (*f->why)
		printf("%19s why:  %s\n", "", f->why);
	if (*f->next)
		printf("%19s next: %s\n", "", f->next);
}

static void print_doctor_text(const struct ktape_doctor *doctor,
			      const unsigned int *count)
{
	const struct ktape_diagnosis *f = ktape_doctor_problem(doctor);

	for (unsigned int i = 0; ktape_doctor_finding(doctor, i); i++)
		print_finding(ktape_doctor_finding(doctor, i));
	printf("\n%u problem%s, %u warning%s, %u note%s\n",
	       count[KTAPE_DOCTOR_PROBLEM],
	       count[KTAPE_DOCTOR_PROBLEM] == 1 ? "" : "s",
	       count[KTAPE_DOCTOR_WARNING],
	       count[KTAPE_DOCTOR_WARNING] == 1 ? "" : "s",
	       count[KTAPE_DOCTOR_NOTE], count[KTAPE_DOCTOR_NOTE] == 1 ? "" : "s");
	if (!f)
		puts("next: ktape record -d 1s -o trace");
	else if (*f->next)
		printf("next: %s\n", f->next);
	else
		printf("next: %s: %s\n", f->what, f->why);
}

static void print_doctor_member(const char *before, const char *text)
{
	fputs(before, stdout);
	put_json_text(text);
}

static void print_doctor_json(const struct ktape_doctor *doctor,
			      const unsigned int *count)
{
	const struct ktape_diagnosis *f, *problem = ktape_doctor_problem(doctor);

	printf("{\"problems\":%u,\"warnings\":%u,\"notes\":%u,\"findings\":[",
	       count[KTAPE_DOCTOR_PROBLEM], count[KTAPE_DOCTOR_WARNING],
	       count[KTAPE_DOCTOR_NOTE]);
	for (unsigned int i = 0; (f = ktape_doctor_finding(doctor, i)); i++) {
		print_doctor_member(i ? ",\n{\"id\":" : "\n{\"id\":", f->id);
		print_doctor_member(",\"severity\":", severities[f->severity]);
		print_doctor_member(",\"what\":", f->what);
		print_doctor_member(",\"why\":", f->why);
		print_doctor_member(",\"next\":", f->next);
		putchar('}');
	}
	print_doctor_member("\n],\"next\":", problem ? problem->next : "");
	puts("}");
}

static int cmd_doctor(int argc, char **argv)
{
	struct doctor_options o = { .json = false };
	unsigned int count[KT_ARRAY_SIZE(severities)] = { 0 };
	const struct ktape_diagnosis *f;
	struct ktape_doctor *doctor;
	int first, ret;

	ret = kt_options(&command_doctor, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (first != argc)
		return misuse(&command_doctor, "doctor takes no operands");
	ret = color_start(&command_doctor, &o.text);
	if (ret)
		return ret;
	ret = ktape_doctor_run(&o.run, &doctor);
	if (ret)
		return fail("%s", strerror(-ret));
	for (unsigned int i = 0; (f = ktape_doctor_finding(doctor, i)); i++)
		count[f->severity]++;
	if (o.json)
		print_doctor_json(doctor, count);
	else
		print_doctor_text(doctor, count);
	ktape_doctor_free(doctor);
	ret = finish_stdout();
	return ret ? ret : count[KTAPE_DOCTOR_PROBLEM] ? EXIT_FAILED : EXIT_OK;
}

const struct kt_command command_doctor = {
	.name = "doctor",
	.operands = "",
	.help = "find out what prevents recording here, and the next command",
	.options = options,
	.run = KT_RUN(cmd_doctor),
};
