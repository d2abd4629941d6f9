// SPDX-License-Identifier: GPL-2.0-only
/* Test what is said about events that a system cannot record, with a simulated one. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "tool/session/session.h"
#include "tool/shared/message.h"

/*
 * This system lacks softirqs and sched_switch, restricts the kernel's log (event console), and
 * the module does not know the class block.
 */
int ktape_device_event_info(struct ktape_device *device, unsigned int opcode,
			    struct ktape_event_info *info)
{
	const struct ktape_event_desc *d = ktape_event_desc(opcode);

	(void)device;
	if (!d || d->event_class == KTAPE_CLASS_BLOCK)
		return -1;
	memset(info, 0, sizeof(*info));
	info->state = KTAPE_EVENT_AVAILABLE;
	if (d->event_class == KTAPE_CLASS_SOFTIRQ || opcode == KTAPE_EV_SCHED_SWITCH)
		info->state = KTAPE_EVENT_NO_TRACEPOINT;
	if (info->state != KTAPE_EVENT_AVAILABLE)
		strcpy(info->reason, "no tracepoint");
	else if (opcode == KTAPE_EV_CONSOLE)
		strcpy(info->reason, "restricted");
	return 0;
}

static char said[4096];

void note(const char *format, ...)
{
	size_t len = strlen(said);
	va_list args;

	va_start(args, format);
	vsnprintf(said + len, sizeof(said) - len, format, args);
	va_end(args);
	strcat(said, "\n");
}

static const char *report_list(const char *list)
{
	uint64_t mask[KTAPE_MASK_WORDS];

	*said = '\0';
	if (ktape_mask_parse(list, mask, NULL))
		return "not a list";
	report_unavailable(NULL, list, mask);
	return said;
}

static void check_said(const char *list, const char *want)
{
	check(!strcmp(report_list(list), want), "%s: %.300s", list, said);
}

static void named_events(void)
{
	check_said("irq", "");
	check_said("sched_waking,irq", "");
	/* An event that the module does not know is not reported here (report_profile_refused()). */
	check_said("block_rq_issue", "");
	check_said("irq,console", "console: restricted\n");
	check_said("consol*", ""); /* not named, only matched */
	check_said("sched_switch",
		   "sched_switch cannot be recorded on this system: no tracepoint\n");
	check_said("irq, sched_switch ,softirq_entry",
		   "sched_switch cannot be recorded on this system: no tracepoint\n"
		   "softirq_entry cannot be recorded on this system: no tracepoint\n");
}

static void selected_events(void)
{
	check_said("softirq_e*,irq_handler_*",
		   "2 of 4 events are not available here: ktape list --unavailable\n");
	check_said("sched_s*,!sched_stat_runtime",
		   "1 of 1 events are not available here: ktape list --unavailable\n");
	check_said("softirq_e*,softirq_entry",
		   "softirq_entry cannot be recorded on this system: no tracepoint\n"
		   "1 of 2 events are not available here: ktape list --unavailable\n");
}

/*
 * Events may also come from a mask or a file, not only from a list.  Then report_no_log() reports
 * that the kernel's log cannot be recorded, unless the list has it: report_unavailable() did that.
 */
static void log_of_mask(void)
{
	static const struct {
		const char *list, *mask, *want;
	} cases[] = {
		{ NULL, "irq,console", "console: restricted\n" },
		{ "irq", "irq,console", "console: restricted\n" },
		{ "irq,console", "irq,console", "" },
		{ NULL, "irq", "" },
	};
	uint64_t mask[KTAPE_MASK_WORDS];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		*said = '\0';
		check_equal(ktape_mask_parse(cases[i].mask, mask, NULL), 0);
		report_no_log(NULL, cases[i].list, mask);
		check(!strcmp(said, cases[i].want), "case %zu: %.300s", i, said);
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a line for each event that was named", named_events },
		{ "a count of those that a glob selected", selected_events },
		{ "the kernel's log that a mask has", log_of_mask },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
