// SPDX-License-Identifier: GPL-2.0-only
/* ktape convert: show how far a conversion is. */
#include <stdio.h>

#include <ktape.h>

#include "tool/convert/convert.h"
#include "tool/shared/clock.h"
#include "tool/shared/message.h"
#include "tool/shared/text.h"

#define PROGRESS_EVENTS 65536	     /* read the clock after this many */
#define PROGRESS_NS	500000000ULL /* least time between two lines of progress */

static void show_convert_progress(struct convert *c, bool last)
{
	uint64_t now;
	char bytes[16];

	if (!c->progress || (!last && c->events - c->shown < PROGRESS_EVENTS))
		return;
	c->shown = c->events;
	now = monotonic_ns();
	if (!last && now - c->shown_at < PROGRESS_NS)
		return;
	if (last && !c->shown_at)
		return;
	c->shown_at = now;
	put_human(bytes, sizeof(bytes), ktape_sink_bytes(c->sink));
	fprintf(stderr, "\rktape: %llu events, %s written%s",
		(unsigned long long)c->events, bytes, last ? "\n" : "");
}

/**
 * convert_progress() - show how far a conversion is, if that is wanted
 * @c: the conversion
 */
void convert_progress(struct convert *c)
{
	show_convert_progress(c, false);
}

/**
 * convert_progress_end() - show how much was written, if progress was shown
 * @c: the conversion
 */
void convert_progress_end(struct convert *c)
{
	show_convert_progress(c, true);
}

/**
 * convert_warn_if_large() - print the format's warning of a large output, early enough to stop
 * @c: the conversion
 */
void convert_warn_if_large(struct convert *c)
{
	const char *warning = c->warned || c->events % PROGRESS_EVENTS ?
				      NULL :
				      ktape_sink_warning(c->sink);

	if (!warning)
		return;
	c->warned = true;
	note("%s: %s", c->to_name, warning);
}
