// SPDX-License-Identifier: GPL-2.0-only
/* Print which events of a list this system cannot record, or only with a restriction. */
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/session/session.h"
#include "tool/shared/message.h"

/* Is @name an item of a comma separated list? */
static bool is_item(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (*list) {
		size_t n;

		list += strspn(list, " \t");
		n = strcspn(list, ", \t");
		if (n == len && !memcmp(list, name, n))
			return true;
		list += strcspn(list, ",");
		list += *list == ',';
	}
	return false;
}

/**
 * report_unavailable() - print which events cannot be recorded here
 * @device: the session
 * @list: the list of events as it was given
 * @mask: the events of @list
 *
 * An event that the list names gets a line with the reason.  Those that a class, glob
 * or preset has selected are only counted.  An event that can be recorded may have a reason as
 * well, a restriction: it is printed if the list names the event, and the event is not counted.
 */
void report_unavailable(struct ktape_device *device, const char *list,
			const uint64_t mask[KTAPE_MASK_WORDS])
{
	unsigned int asked = 0, missing = 0;
	struct ktape_event_info info;

	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (!kt_mask_has(mask, i) ||
		    ktape_device_event_info(device, i, &info))
			continue;
		asked++;
		if (info.state == KTAPE_EVENT_AVAILABLE) {
			if (*info.reason && d && is_item(list, d->name))
				note("%s: %s", d->name, info.reason);
			continue;
		}
		if (d && is_item(list, d->name))
			note("%s cannot be recorded on this system: %s",
			     d->name, info.reason);
		else
			missing++;
	}
	if (missing)
		note("%u of %u events are not available here: ktape list --unavailable",
		     missing, asked);
}

/**
 * report_no_log() - print why the kernel's log (console) is not recorded, or is restricted
 * @device: the session
 * @list: the list of events as it was given, or NULL.  If console is among its events, nothing is
 *	printed: the caller has called report_unavailable() with the list
 * @mask: all events of the session, also those of --profile or a file.  Without console,
 *	nothing is printed
 */
void report_no_log(struct ktape_device *device, const char *list,
		   const uint64_t mask[KTAPE_MASK_WORDS])
{
	uint64_t events[KTAPE_MASK_WORDS];
	uint64_t log[KTAPE_MASK_WORDS] = { 0 };

	if (!kt_mask_has(mask, KTAPE_EV_CONSOLE) ||
	    (list && !ktape_mask_parse(list, events, NULL) &&
	     kt_mask_has(events, KTAPE_EV_CONSOLE)))
		return;
	kt_mask_add(log, KTAPE_EV_CONSOLE);
	/* A list that names it, so that the reason is printed. */
	report_unavailable(device, ktape_event_desc(KTAPE_EV_CONSOLE)->name, log);
}
