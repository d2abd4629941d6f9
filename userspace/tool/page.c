// SPDX-License-Identifier: GPL-2.0-only
/*
 * The texts that a page (format html) has besides events: the statistics, as ktape
 * stats --json prints them, and the ledger, as ktape verify --json prints it.  Both
 * come from the same functions, so the page cannot show other numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "verify.h"

/**
 * page_begin() - begin to measure what goes into an output
 * @p: the page
 * @sink: the output; nothing is done if its format keeps no texts
 * @info: metadata of the output
 * @registry: names
 *
 * Return: 0 or negative errno.
 */
int page_begin(struct page *p, const struct ktape_sink *sink,
	       const struct ktape_info *info,
	       const struct ktape_registry *registry)
{
	p->on = ktape_sink_takes_texts(sink);
	p->stats.info = info;
	return p->on ? ktape_linux_new(info, registry, &p->stats.linux_stats) :
		       0;
}

/* Add an event that was written.  Return: 0 or -ENOMEM. */
int page_event(struct page *p, const struct ktape_event *e)
{
	return p->on ? ktape_linux_take(p->stats.linux_stats, e) : 0;
}

/* Add a loss that was written. */
void page_notice(struct page *p, const struct ktape_notice *n)
{
	if (!p->on)
		return;
	p->stats.lost += n->count;
	p->stats.gaps++;
	p->stats.unknown |= !n->count;
	ktape_linux_notice(p->stats.linux_stats, n);
}

/* Attach what was written to @f, and close it.  Return: 0 or negative errno. */
static int attach_text(struct ktape_sink *sink, const char *name, FILE *f,
		       char **text, const size_t *len)
{
	int err = ferror(f) ? -ENOMEM : 0;

	if (fclose(f) && !err)
		err = -ENOMEM;
	if (!err)
		err = ktape_sink_attach(sink, name, *text, *len);
	free(*text);
	return err;
}

static int attach_stats(struct page *p, struct ktape_sink *sink)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	fputc('{', f);
	stats_put_json(f, &p->stats);
	fputc('}', f);
	return attach_text(sink, "stats", f, &text, &len);
}

/* Check the trace, and attach what ktape verify --json prints. */
static int attach_ledger(struct ktape_sink *sink, const char *trace)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return -ENOMEM;
	verify_put_json(f, trace);
	return attach_text(sink, "ledger", f, &text, &len);
}

/**
 * page_end() - write the texts into the output
 * @p: the page
 * @sink: the output
 * @trace: path of the whole trace, to check its ledger; NULL = it has none
 *
 * Return: 0 or negative errno.
 */
int page_end(struct page *p, struct ktape_sink *sink, const char *trace)
{
	int err = p->on ? ktape_linux_finish(p->stats.linux_stats) : 0;

	if (!p->on || err)
		return err;
	err = attach_stats(p, sink);
	return err || !trace ? err : attach_ledger(sink, trace);
}

void page_release(struct page *p)
{
	ktape_linux_free(p->stats.linux_stats);
}
