// SPDX-License-Identifier: GPL-2.0-only
/* ktape snapshot: save the records that are in a session's rings; the session goes on. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#include "tool/record/record.h"
#include "tool/session/session.h"
#include "tool/shared/clock.h"
#include "tool/shared/message.h"
#include "tool/shared/output.h"
#include "tool/shared/signals.h"

struct snapshot_options {
	const char *out;
	bool force;
	bool wait;
	uint64_t time;
	const char *device;
};

#define CHECK_MS 100 /* --wait: between two looks at the state of the session */

static const struct kt_option options[] = {
	{ "output", 'o', KT_OPT_TEXT, offsetof(struct snapshot_options, out),
	  "DIR|-", "directory to write; -: pipe form on standard output" },
	{ "force", 'f', KT_OPT_FLAG, offsetof(struct snapshot_options, force),
	  NULL, "replace the trace in DIR" },
	{ "wait", 'w', KT_OPT_FLAG, offsetof(struct snapshot_options, wait),
	  NULL, "wait until the session stops, as by a trigger" },
	{ "time", 'd', KT_OPT_TIME, offsetof(struct snapshot_options, time),
	  "TIME", "wait at most this long" },
	{ "device", 0, KT_OPT_TEXT, offsetof(struct snapshot_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

/* Wait until the session has stopped.  Return: 0 or the exit code. */
static int wait_for_stop(struct ktape_device *session, uint64_t time)
{
	struct ktape_layout layout;
	uint64_t began = monotonic_ns();
	int err;

	signals_catch();
	for (;;) {
		err = session_layout(session, &layout);
		if (err)
			return fail("cannot read the state of the session: %s",
				    strerror(-err));
		if (!layout.running)
			return 0;
		if (signals_came())
			return fail("snapshot: interrupted; nothing was saved");
		if (time != NOT_GIVEN && monotonic_ns() - began >= time)
			return fail("snapshot: the session is still recording after --time; nothing was saved");
		/* Poll with a pause: waiting on the device would wake for every block. */
		poll(NULL, 0, CHECK_MS);
	}
}

/* Print why saving failed, and where the partial trace is.  Return: the exit code. */
static int report_snapshot_failure(const char *out, const char *kept, int err)
{
	if (!strcmp(out, "-"))
		return fail("%s: %s", out, recording_error(err));
	if (!kept)
		return fail("%s: %s; the earlier trace is still there", out,
			    recording_error(err));
	return fail("%s: %s; the trace up to this point is in %s", out,
		    recording_error(err), kept);
}

static int save_rings(struct ktape_device *session, const struct snapshot_options *o)
{
	const bool pipe = !strcmp(o->out, "-");
	const struct ktape_recorder_options how = {
		.dir = pipe ? NULL : o->out,
		.fd = STDOUT_FILENO,
		.flags = KTAPE_RECORD_ATTACHED | KTAPE_RECORD_STAGED |
			 (o->force ? KTAPE_RECORD_FORCE : 0),
	};
	struct ktape_recorder_stats stats;
	struct ktape_recorder *recorder;
	int err, ret = EXIT_OK;

	/* Saving is short: ignore a first signal, end on a second one. */
	signals_catch();
	err = signals_sweep(o->out);
	if (err)
		return fail("%s: %s", o->out, strerror(-err));
	err = ktape_recorder_open(session, &how, &recorder);
	if (err == -ENOTEMPTY || err == -EEXIST)
		return fail("%s already exists: use --force to replace the trace in it",
			    o->out);
	if (err)
		return fail("%s: %s", o->out, recorder_error(err));
	err = ktape_recorder_finish(recorder);
	ktape_recorder_stats(recorder, &stats);
	if (err)
		ret = report_snapshot_failure(o->out,
					      ktape_recorder_kept(recorder), err);
	ktape_recorder_close(recorder);
	if (ret)
		return ret;
	note("%llu events, %llu bytes, %llu lost, %llu overwritten",
	     (unsigned long long)stats.records, (unsigned long long)stats.bytes,
	     (unsigned long long)stats.lost,
	     (unsigned long long)(stats.missed + stats.overwritten));
	return EXIT_OK;
}

static int take_snapshot(struct ktape_device *session,
			 const struct snapshot_options *o)
{
	struct ktape_layout layout;
	int err;

	if (o->wait) {
		err = wait_for_stop(session, o->time);
		if (err)
			return err;
	}
	err = session_layout(session, &layout);
	if (err)
		return fail("cannot read the state of the session: %s",
			    strerror(-err));
	if (layout.mode == KTAPE_MODE_SNAPSHOT && layout.running)
		return fail("session %u is still recording, and nothing was saved: \"ktape stop %u && ktape snapshot %u -o %s\" saves it, --wait waits until a trigger stops it",
			    layout.session, layout.session, layout.session, o->out);
	return save_rings(session, o);
}

static int cmd_snapshot(int argc, char **argv)
{
	struct snapshot_options o = { .time = NOT_GIVEN };
	struct ktape_device *session;
	int first, ret;

	ret = kt_options(&command_snapshot, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (!o.out)
		return misuse(&command_snapshot,
			      "missing output: use -o DIR, or -o - for standard output");
	if (o.force && !strcmp(o.out, "-"))
		return misuse(&command_snapshot,
			      "--force needs -o DIR: standard output replaces nothing");
	if (o.time != NOT_GIVEN && !o.wait)
		return misuse(&command_snapshot, "--time needs --wait");
	if (argc - first > 1)
		return misuse(&command_snapshot,
			      "too many operands: give at most one NAME");
	ret = output_check_place(o.out);
	if (ret)
		return ret;
	if (open_named(o.device, first < argc ? argv[first] : NULL,
		       may_control(o.device), &session))
		return EXIT_FAILED;
	ret = take_snapshot(session, &o);
	ktape_device_close(session);
	return ret;
}

const struct kt_command command_snapshot = {
	.name = "snapshot",
	.operands = "[NAME]",
	.help = "save the records that a session has in its rings",
	.options = options,
	.run = KT_RUN(cmd_snapshot),
};
