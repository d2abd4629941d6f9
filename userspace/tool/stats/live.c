// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape stats --prom: read a trace or a session, and write its metrics every so often
 * until the trace or a signal ends.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#include "tool/report/report.h"
#include "tool/session/session.h"
#include "tool/shared/clock.h"
#include "tool/shared/message.h"
#include "tool/shared/signals.h"
#include "tool/stats/live.h"
#include "tool/stats/prom.h"

#define CHECK_EVENTS 4096U /* read the clock after this many events */

/**
 * stats_live_session() - make a session the standard input
 * @session: name or number; NULL: session 0
 * @device: set to the session, for ktape_device_close()
 *
 * Return: 0 or the exit code.
 */
int stats_live_session(const char *session, struct ktape_device **device)
{
	if (open_named(NULL, session, false, device))
		return EXIT_FAILED;
	if (dup2(ktape_device_fd(*device), STDIN_FILENO) < 0)
		return fail("standard input: %s", strerror(errno));
	return 0;
}

/* Add the interval to the metrics, and write them. */
static int write_metrics(struct stats_live *live)
{
	int err = ktape_linux_finish(live->t->linux_stats);

	if (!err)
		err = prom_add(live->prom, live->t->linux_stats);
	if (!err)
		ktape_linux_restart(live->t->linux_stats);
	if (err)
		return err;
	live->error = prom_write(live->prom);
	return live->error;
}

/**
 * stats_live_write_due() - write the metrics if it is time
 * @live: the run
 *
 * Also called while there are no events.
 */
void stats_live_write_due(struct stats_live *live)
{
	const uint64_t now = monotonic_ns();
	int err;

	if (!live->prom || !live->every || now < live->next || live->failed)
		return;
	/* After a pause of the machine the next file is not at once due again. */
	live->next = now + live->every;
	err = write_metrics(live);
	if (err)
		live->failed = err;
}

/**
 * stats_live_measure() - read the trace to its end or until a signal, and write the metrics
 * @live: the run; its trace is open
 * @path: file of the metrics
 *
 * Return: 0 or negative errno: of writing the file if @live->error is set, else of the trace.
 */
int stats_live_measure(struct stats_live *live, const char *path)
{
	struct stats_trace *t = live->t;
	const struct ktape_event *e;
	unsigned int events = 0;
	int ret;

	t->info = ktape_trace_info(t->trace);
	ret = ktape_linux_new(t->info, ktape_trace_registry(t->trace),
			      &t->linux_stats);
	live->prom = ret ? NULL : prom_new(path, t->info);
	live->next = monotonic_ns() + live->every;
	if (!ret && !live->prom)
		ret = -ENOMEM;
	while (!ret && !signals_came() &&
	       (ret = ktape_trace_next(t->trace, &e)) > 0) {
		ret = ktape_linux_take(t->linux_stats, e);
		if (!(++events % CHECK_EVENTS))
			stats_live_write_due(live);
		if (live->failed)
			ret = live->failed;
	}
	if (!ret)
		ret = live->failed ? live->failed : write_metrics(live);
	prom_free(live->prom);
	live->prom = NULL;
	return ret;
}
