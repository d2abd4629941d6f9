// SPDX-License-Identifier: GPL-2.0-only
/*
 * The texts that a page (format html) has besides events: the statistics, as ktape
 * stats --json prints them, for traces of an RTOS both those of --linux and those of
 * --rtos --services, and the ledger, as ktape verify --json prints it.  They come from
 * the same functions, so the page cannot show other numbers.  What options left out of
 * the trace, the page cannot know: it gets those options, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/memory.h"

#include "tool/convert/page.h"
#include "tool/shared/loss.h"
#include "tool/shared/text.h"
#include "tool/verify/verify.h"

/**
 * page_begin() - begin to measure what goes into an output
 * @p: the page
 * @sink: the output; nothing is done if its format keeps no texts
 * @info: metadata of the output
 * @registry: names
 * @of_rtos: all inputs are traces of an RTOS
 *
 * Return: 0 or negative errno.
 */
int page_begin(struct page *p, const struct ktape_sink *sink,
	       const struct ktape_info *info,
	       const struct ktape_registry *registry, bool of_rtos)
{
	int err;

	p->on = ktape_sink_takes_texts(sink);
	p->of_rtos = of_rtos;
	p->stats.info = info;
	if (!p->on)
		return 0;
	err = ktape_linux_new(info, registry, &p->stats.linux_stats);
	return err || !of_rtos ? err : stats_rtos_begin(&p->rtos, info, registry);
}

/* Add an event that is written.  Return: 0 or -ENOMEM. */
int page_event(struct page *p, const struct ktape_event *e)
{
	int err = p->on ? ktape_linux_take(p->stats.linux_stats, e) : 0;

	missed_add(&p->stats.missed, e);
	return err || !p->on || !p->of_rtos ? err : stats_rtos_event(&p->rtos, e);
}

/* Add a loss that is written. */
void page_notice(struct page *p, const struct ktape_notice *n)
{
	if (!p->on)
		return;
	losses_add(&p->stats.losses, n);
	ktape_linux_notice(p->stats.linux_stats, n);
	stats_rtos_notice(&p->rtos, n);
}

/* Attach what was written to @f, and close it.  Return: 0 or negative errno. */
static int attach_text(struct ktape_sink *sink, const char *name, FILE *f,
		       char **text, const size_t *len)
{
	int err = kt_memory_close(f);

	if (!err)
		err = ktape_sink_attach(sink, name, *text, *len);
	free(*text);
	return err;
}

static int attach_stats(struct page *p, struct ktape_sink *sink)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = kt_memory_open(&text, &len);

	if (!f)
		return -ENOMEM;
	fputc('{', f);
	stats_put_json(f, &p->stats);
	fputc('}', f);
	return attach_text(sink, "stats", f, &text, &len);
}

static int attach_rtos(struct page *p, struct ktape_sink *sink)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = kt_memory_open(&text, &len);
	int err, written;

	if (!f)
		return -ENOMEM;
	fputc('{', f);
	err = stats_put_rtos(f, &p->rtos, true);
	fputc('}', f);
	written = attach_text(sink, "rtos", f, &text, &len);
	return err ? err : written;
}

/**
 * page_selection() - write which part of the trace was selected
 * @p: the page
 * @sink: the output
 * @s: options and their values; those without a value were not given
 * @nr: entries of @s
 *
 * Return: 0 or negative errno.
 */
int page_selection(const struct page *p, struct ktape_sink *sink,
		   const struct page_selected *s, size_t nr)
{
	char *text = NULL;
	size_t len = 0, given = 0;
	FILE *f = p->on ? kt_memory_open(&text, &len) : NULL;

	if (!f)
		return p->on ? -ENOMEM : 0;
	for (size_t i = 0; i < nr; i++) {
		if (!s[i].value)
			continue;
		fprintf(f, "%s[\"--%s\",", given++ ? "," : "[", s[i].option);
		write_json_text(f, s[i].value);
		fputc(']', f);
	}
	if (given) {
		fputc(']', f);
		return attach_text(sink, "selection", f, &text, &len);
	}
	kt_memory_close(f);
	free(text);
	return 0;
}

/* Check the trace, and attach what ktape verify --json prints. */
static int attach_ledger(struct ktape_sink *sink, const char *trace)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = kt_memory_open(&text, &len);
	int err, written;

	if (!f)
		return -ENOMEM;
	err = verify_put_json(f, trace);
	written = attach_text(sink, "ledger", f, &text, &len);
	return err ? err : written;
}

/**
 * page_end() - finish the statistics, and write the texts into the output
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
	if (!err && p->of_rtos)
		err = ktape_rtos_finish(p->rtos.rtos);
	if (!err && p->of_rtos)
		err = attach_rtos(p, sink);
	return err || !trace ? err : attach_ledger(sink, trace);
}

void page_release(struct page *p)
{
	ktape_linux_free(p->stats.linux_stats);
	stats_rtos_release(&p->rtos);
}
