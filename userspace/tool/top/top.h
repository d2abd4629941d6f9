/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape top: statistics of a trace by intervals.
 *
 * In the order in which to read them:
 *	model.c		events to intervals
 *	order.c		which threads are shown, and in which order
 *	lines.c		an interval as lines of text or as JSON
 *	device.c	session: cost, profile, snapshot
 *	feed.c		read a trace, hand over its intervals
 *	page.c		a page (HTML) of what is read
 *	tty.c		the terminal's state, signals
 *	draw.c		what is on the screen
 *	screen.c	the screen and its keys, with a thread that reads
 *	top.c		command line
 *
 * screen.c, draw.c and tty.c are built only with ncurses.
 */
#ifndef _KT_TOOL_TOP_H
#define _KT_TOOL_TOP_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <ktape.h>

#include "tool/shared/message.h"
#include "tool/shared/opt.h"

#ifndef KT_NCURSES
#define KT_NCURSES 0
#endif

#define TOP_HISTORY 120U  /* intervals that curves show */
#define TOP_THREADS 4096U /* most threads of an interval */
#define TOP_SERIES  256U  /* most series of single interrupts */
#define TOP_SHARES  3U	  /* number of percentiles */

/* What the curves show. */
enum top_curve {
	TOP_EVENTS,
	TOP_CPU,
	TOP_IRQ,
	TOP_SOFTIRQ,
	TOP_RUN_QUEUE,
	TOP_WAKEUP,
	TOP_CURVES
};

/* Percentiles that are shown, and their names. */
extern const struct top_share {
	const char *name;
	uint32_t millionth;
} top_shares[TOP_SHARES];

/**
 * struct top_cost - time that recording took in an interval
 * @known: it is known.  It is not if the trace is read from a file, in the first interval, or if
 *	the module has timed too few events
 * @ns: nanoseconds of all CPUs
 */
struct top_cost {
	bool known;
	uint64_t ns;
};

/**
 * struct top_view - one interval
 * @number: number of the interval, from 1
 * @from: monotonic time of its begin, in ns
 * @span: its length, in ns
 * @events: number of events
 * @classes: number of events of each class
 * @lost: lost events, as far as counted
 * @lost_total: lost events of all intervals
 * @unknown: some losses of the interval have no count
 * @cost: time that recording took
 * @cpus: the CPUs
 * @nr_cpus: entries of @cpus
 * @threads: threads that ran or waited, the one that ran longest first
 * @nr_threads: entries of @threads
 * @more_threads: threads beyond TOP_THREADS
 * @series: all of each kind, then single ones, as ktape_linux_series()
 * @nr_series: entries of @series
 * @shares: percentiles of each kind that has values
 * @curves: the last intervals, the newest last: events in a second, shares of the time of all CPUs
 *	(0 to 1), or 99th percentiles in ns
 * @nr_points: points of each curve
 */
struct top_view {
	uint64_t number;
	int64_t from;
	uint64_t span;
	uint64_t events;
	uint64_t classes[KTAPE_CLASSES];
	uint64_t lost;
	uint64_t lost_total;
	bool unknown;
	struct top_cost cost;
	struct ktape_linux_cpu *cpus;
	size_t nr_cpus;
	struct ktape_linux_thread *threads;
	size_t nr_threads;
	uint64_t more_threads;
	struct ktape_series *series;
	size_t nr_series;
	struct ktape_quantile shares[KTAPE_SERIES_KINDS][TOP_SHARES];
	double curves[TOP_CURVES][TOP_HISTORY];
	unsigned int nr_points;
};

/* model.c: events and notices in order of time, then top_model_end(). */
struct top_model;

/* Takes an interval, which the callee frees.  Return: 0 or negative errno. */
typedef int top_take(void *arg, struct top_view *view);

int top_model_new(const struct ktape_info *info,
		  const struct ktape_registry *names, uint64_t interval,
		  top_take *take, void *arg, struct top_model **model);
int top_model_event(struct top_model *m, const struct ktape_event *e);
void top_model_notice(struct top_model *m, const struct ktape_notice *n);
int top_model_end(struct top_model *m);
void top_model_free(struct top_model *m);
void top_view_free(struct top_view *v);
double top_share_of(const struct top_view *v, enum top_curve curve);

/* Return how many percent of @all are @part. */
static inline double top_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0.0;
}

/* order.c */

/* What threads are sorted by. */
enum top_key {
	TOP_BY_RUN,
	TOP_BY_WAIT,
	TOP_BY_LONGEST,
	TOP_BY_SWITCHES,
	TOP_BY_TID,
	TOP_BY_NAME,
	TOP_KEYS
};

/**
 * struct top_order - which threads are shown, and in which order
 * @key: what they are sorted by
 * @filter: text that the name has, or the thread or process id; "" = all
 */
struct top_order {
	enum top_key key;
	char filter[64];
};

extern const char *const top_keys[TOP_KEYS];

int top_key_parse(const char *name, enum top_key *key);
size_t top_order_apply(const struct top_order *o, const struct top_view *v,
		       const struct ktape_linux_thread **threads);

/* lines.c */
void top_print_head(FILE *out);
void top_print_line(FILE *out, const struct top_view *v,
		    const struct top_order *o, uint64_t threads);
void top_print_json(FILE *out, const struct top_view *v,
		    const struct top_order *o, uint64_t threads);

/* device.c.  @said: set to what was done, or why not, for the user. */
struct top_device;

int top_device_open(const char *path, const char *session,
		    struct top_device **device);
int top_device_input(const struct top_device *d);
bool top_device_runs(const struct top_device *d);
const char *top_device_name(const struct top_device *d);
void top_device_cost(struct top_device *d, struct top_cost *cost);
void top_device_profile(struct top_device *d, const char *list, char *said,
			size_t size);
bool top_device_save(struct top_device *d, const char *dir, char *said, size_t size);
void top_device_snapshot(struct top_device *d, char *said, size_t size);
void top_device_close(struct top_device *d);

/* feed.c */
struct top_feed;

/**
 * struct top_feed_options - what a feed reads
 * @command: ktape top, for messages
 * @input: path of a trace; "-": standard input
 * @interval: length of an interval, in ns
 * @device: session that the trace comes from, or NULL
 * @wake: descriptor; the trace ends when it becomes readable
 * @take: takes each interval, in the thread that reads
 * @arg: first argument of @take
 */
struct top_feed_options {
	const struct kt_command *command;
	const char *input;
	uint64_t interval;
	struct top_device *device;
	int wake;
	top_take *take;
	void *arg;
};

/*
 * top_feed_read() returns at the end of the trace.  Another thread can end it by top_feed_stop()
 * and by making @wake readable, and closes the feed when it has returned.
 */
int top_feed_open(const struct top_feed_options *o, struct top_feed **feed);
int top_feed_read(struct top_feed *f);
void top_feed_stop(struct top_feed *f);
void top_feed_close(struct top_feed *f);

/* page.c */

/**
 * struct top_page - a page that is being written
 * @pid: process that writes it, or 0
 * @errors: its messages, or -1
 * @name: path of the page
 * @saved: folder with records of the session, removed when the page is written; or NULL
 * @text: the first messages
 * @len: bytes of @text
 */
struct top_page {
	pid_t pid;
	int errors;
	char *name;
	char *saved;
	char text[256];
	size_t len;
};

/**
 * struct top_page_source - what becomes a page
 * @device: session, or NULL
 * @path: trace that is read, or NULL: it comes from a pipe.  Not used if there is a session
 */
struct top_page_source {
	struct top_device *device;
	const char *path;
};

/*
 * A page that is not being written has @errors -1, and the rest zero; top_page_begin() refuses one
 * that is.  Poll @errors, and call top_page_read() for messages and for the end.  top_page_end()
 * stops what is still being written.
 */
void top_page_begin(struct top_page *p, const struct top_page_source *from,
		    char *said, size_t size);
void top_page_read(struct top_page *p, char *said, size_t size);
bool top_page_end(struct top_page *p, char *said, size_t size);

/* screen.c */

/**
 * struct top_screen_options - what the screen shows
 * @title: what is read
 * @order: the order to begin with
 * @feed: what is read
 * @trace: path of the trace that is read, or NULL
 */
struct top_screen_options {
	const char *title;
	struct top_order order;
	struct top_feed_options feed;
	const char *trace;
};

#if KT_NCURSES
int top_screen(const struct top_screen_options *o);
#else
static inline int top_screen(const struct top_screen_options *o)
{
	(void)o;
	return EXIT_FAILED;
}
#endif

extern const struct kt_command command_top;

#endif /* _KT_TOOL_TOP_H */
