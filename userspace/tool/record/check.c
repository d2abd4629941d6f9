// SPDX-License-Identifier: GPL-2.0-only
/* ktape record: which options go together, and what follows from them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool/record/record.h"
#include "tool/shared/ctf2.h"
#include "tool/shared/message.h"
#include "tool/shared/output.h"
#include "tool/shared/self.h"

/* Return true if an option sets up the session. */
static bool has_setup_options(const struct record_options *o)
{
	return o->events || o->profile || o->mode || o->config || o->save ||
	       filter_options_given(&o->filters) || o->ring_size != NOT_GIVEN ||
	       o->block_size != NOT_GIVEN;
}

/* Return true if there is an option that --split cannot be combined with. */
static bool has_recording_options(const struct record_options *o)
{
	return has_setup_options(o) || o->session || o->device || o->no_uring ||
	       o->zstd || o->activate || o->time != NOT_GIVEN;
}

/* Check the options around -l.  Return: 0 or the exit code. */
static int check_log(struct record *r, int operands)
{
	const struct record_options *o = &r->o;
	int ret;

	if (!o->log && (o->rotate || o->keep != NOT_GIVEN || o->to ||
			o->daemon || o->pidfile || o->logfile))
		return misuse(r->command,
			      "--rotate, --keep, --to, --daemon, --pidfile and --logfile need -l");
	if (o->max && !o->to)
		return misuse(r->command, "--max needs --to");
	if (o->zstd && record_to_pipe(r))
		return misuse(r->command,
			      "--zstd needs a directory: compress a pipe with zstd(1)");
	if (o->force && record_to_pipe(r))
		return misuse(r->command,
			      "--force needs a directory: standard output replaces nothing");
	if (!o->log)
		return 0;
	if (o->output || o->split || o->force)
		return misuse(r->command,
			      "-l cannot be combined with -o, --split or -f");
	if (o->daemon && operands)
		return misuse(r->command, "--daemon cannot run a command");
	if (o->to && o->keep != NOT_GIVEN)
		return misuse(r->command,
			      "--to removes each piece when it is converted: give --max SIZE instead of --keep");
	if (!o->keep)
		return misuse(r->command, "--keep has to be at least 1");
	if (o->rotate && log_parse_rotate(&r->log, o->rotate))
		return misuse(r->command,
			      "--rotate needs a size (100M) or a time (1h)");
	if (o->keep != NOT_GIVEN)
		r->log.keep = o->keep;
	r->daemon.on = o->daemon;
	ret = log_prepare(&r->log, o->log, o->zstd);
	if (!ret)
		ret = output_check_place(r->log.pattern);
	return ret || !o->to ? ret : record_ship_prepare(r);
}

/*
 * For a page, record into a folder beside it, which is converted at the end.
 * Return: 0 or the exit code.
 */
static int check_page(struct record *r)
{
	if (!r->o.output || r->o.split || !page_is_name(r->o.output))
		return 0;
	if (!page_can_write())
		return fail("%s: format html is not built in: use -o DIR, and convert the trace on another machine",
			    r->o.output);
	r->page = r->o.output;
	r->trace = page_trace_path(r->page);
	if (!r->trace)
		return fail("%s", strerror(ENOMEM));
	if (output_check_place(r->page))
		return EXIT_FAILED;
	r->o.output = r->trace;
	return 0;
}

/**
 * record_check() - check all options, and make the configuration
 * @r: recording whose options are parsed
 * @operands: number of operands
 *
 * Return: 0 or the exit code.
 */
int record_check(struct record *r, int operands)
{
	const struct record_options *o = &r->o;
	int ret = check_log(r, operands);

	if (!ret)
		ret = check_page(r);
	if (ret)
		return ret;
	if (!o->output && !o->log && (!o->save || o->split))
		return misuse(r->command,
			      "missing output: use -o DIR, -o - for standard output, or -l NAME for a rotating log");
	if (o->session && has_setup_options(o))
		return misuse(r->command,
			      "-S records an existing session: options that set up a session cannot be given with it");
	if (o->split && (operands || record_to_pipe(r) || has_recording_options(o)))
		return misuse(r->command,
			      "--split can only be combined with -o DIR and -f");
	ret = ctf_version(r->command, o->ctf, &r->ctf2);
	if (ret)
		return ret;
	if (o->ctf && (!o->output || record_to_pipe(r) || r->page || o->zstd))
		return misuse(r->command,
			      "--ctf is of a folder (-o DIR) without --zstd");
	if (o->activate && !o->output && !o->log)
		return misuse(r->command,
			      "--activate is of a recording, and --save alone records nothing");
	if (o->activate)
		ret = record_activate_parse(r->command, &r->activation, o->activate);
	if (!ret && o->output)
		ret = output_check_place(o->output);
	return ret || o->split ? ret : record_configure(r);
}
