/* SPDX-License-Identifier: GPL-2.0-only */
/* Compare two traces by the lines of their events. */
#ifndef _LIB_GATHER_H
#define _LIB_GATHER_H

#include "lib_codec.h"
#include "tap.h"

#define GOLDEN	   "../../../shared/golden/"
#define GATHER_MAX 2048

/* A trace: its lines, their number, and the number of lost events. */
struct gathered {
	char *lines[GATHER_MAX];
	unsigned int nr;
	uint64_t lost;
};

/* Return what is compared of an event: a text to be freed, or NULL. */
typedef char *gather_keep(struct ktape_trace *t, const struct ktape_event *e);

/*
 * Read the whole trace, and format each event as text: that must not crash.
 * Return: number of user events that the input's format can show as JSON
 * (ktape_trace_source()).
 */
__attribute__((unused)) static unsigned int
codec_read_all(const char *path, const char *format, uint32_t flags,
	       struct codec_reports *reported)
{
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = reported,
		.format = format,
		.flags = flags,
	};
	const struct ktape_event *e;
	struct ktape_trace *t;
	unsigned int nr = 0;
	size_t len;

	memset(reported, 0, sizeof(*reported));
	if (ktape_trace_open(path, &how, &t, NULL))
		return 0;
	while (ktape_trace_next(t, &e) > 0) {
		free(codec_line(t, e));
		nr += ktape_trace_source(t, &len) &&
		      e->opcode == KTAPE_EV_USER_EVENT;
	}
	ktape_trace_close(t);
	return nr;
}

/* Read the rest of a trace. */
static void gather_events(struct ktape_trace *t, gather_keep *keep,
			  struct gathered *g)
{
	const struct ktape_event *e;
	char *line;

	while (ktape_trace_next(t, &e) > 0) {
		line = keep(t, e);
		if (!line)
			continue;
		if (g->nr == GATHER_MAX) {
			check(false, "too many events");
			free(line);
			return;
		}
		g->lines[g->nr++] = line;
	}
}

static void gather(const char *path, gather_keep *keep, struct gathered *g)
{
	struct codec_reports reported = { 0 };
	struct ktape_trace_options how = {
		.notice = codec_notice,
		.arg = &reported,
		.flags = KTAPE_TRACE_SORTED,
	};
	struct ktape_trace *t;

	g->nr = 0;
	if (ktape_trace_open(path, &how, &t, NULL))
		return;
	gather_events(t, keep, g);
	ktape_trace_close(t);
	g->lost = reported.lost;
}

static int gather_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void gather_compare(const struct gathered *a, const struct gathered *b)
{
	for (unsigned int i = 0; i < a->nr && i < b->nr; i++)
		check(!strcmp(a->lines[i], b->lines[i]), "%.150s, not %.150s",
		      b->lines[i], a->lines[i]);
	check_equal(b->nr, a->nr);
	check_equal(b->lost, a->lost);
}

/*
 * Check that two traces have the same events and losses. Within one tick events of
 * different CPUs may be in any order, so lines are sorted before they are compared.
 * Return: number of events of @a.
 */
__attribute__((unused)) static unsigned int
same_events(const char *a, const char *b, gather_keep *keep)
{
	static struct gathered first, second;

	gather(a, keep, &first);
	gather(b, keep, &second);
	qsort(first.lines, first.nr, sizeof(*first.lines), gather_order);
	qsort(second.lines, second.nr, sizeof(*second.lines), gather_order);
	gather_compare(&first, &second);
	for (unsigned int i = 0; i < first.nr; i++)
		free(first.lines[i]);
	for (unsigned int i = 0; i < second.nr; i++)
		free(second.lines[i]);
	return first.nr;
}

/*
 * Check whether there are golden files: traces that the real RKH, TraceX and tband tools
 * recorded, which are not in the repository. Return: false if not; the test is then
 * skipped.
 */
__attribute__((unused)) static bool has_golden(void)
{
	if (!access(GOLDEN, F_OK))
		return true;
	tap_skip("there is no ../shared/golden beside the project");
	return false;
}

/*
 * Write a seed file for the fuzzer: a stream behind @first, the byte by which the fuzzer
 * chooses format and options. Return: 0, or 1 if writing failed.
 */
__attribute__((unused)) static int write_seed(const char *dir, const char *name,
					      unsigned char first,
					      const void *data, size_t len)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s-%02x", dir, name, first);
	f = fopen(path, "w");
	return !f || fputc(first, f) == EOF || fwrite(data, len, 1, f) != 1 ||
	       fclose(f);
}

#endif /* _LIB_GATHER_H */
