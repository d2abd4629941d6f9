// SPDX-License-Identifier: LGPL-2.1-or-later
/* Has the module had room for all names?  Nothing to say unless the device can be opened. */
#include "util/bits.h"
#include "internal.h"

/*
 * What each reason asks for.  KTAPE_NO_ROOM_REGION is left out: only the traces of a persistent
 * session lack those names.
 */
static const struct {
	unsigned int reason;
	const char *why;
	const char *next;
} advice[] = {
	{ KTAPE_NO_ROOM_LIMIT,
	  "its table of names is as large as it may get, so events show numbers instead of names",
	  "options ktape registry_max=N   # in /etc/modprobe.d; more than registry_max in ktape status --json" },
	{ KTAPE_NO_ROOM_MEMORY,
	  "the kernel had no memory when its table of names was to grow",
	  "cat /proc/meminfo" },
	{ KTAPE_NO_ROOM_LATE,
	  "they came faster than its table of names grew; threads that still existed then got their names",
	  "options ktape registry=N   # in /etc/modprobe.d; as many objects as the machine often has" },
};

void kt_check_names(struct ktape_doctor *d)
{
	bool found = false;
	uint64_t count;

	if (d->open_error || !(d->features.features & KTAPE_FEATURE_GROWS))
		return;
	for (size_t i = 0; i < KT_ARRAY_SIZE(advice); i++) {
		count = d->features.no_room[advice[i].reason];
		if (!count)
			continue;
		found = true;
		kt_found(d, KTAPE_DOCTOR_WARNING,
			 "the module had no room for %llu names since it was loaded",
			 (unsigned long long)count);
		kt_why(d, "%s", advice[i].why);
		kt_next(d, "%s", advice[i].next);
	}
	if (!found)
		kt_ok(d, "all names had room: %u entries, which may become %u",
		      d->features.registry_entries, d->features.registry_max);
}
