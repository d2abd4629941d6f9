// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape recover: write the trace that survived a reset in memory, from the module or
 * from an image of the memory.  Finding and checking it is the library's work
 * (lib/recover/).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/parse.h"

#include "tool/record/record.h"
#include "tool/session/session.h"
#include "tool/shared/message.h"
#include "tool/shared/output.h"
#include "tool/shared/signals.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"

/* Exit code if parts of the trace were found but could not be recovered. */
enum { EXIT_PARTLY = 3 };

#define PLACES_MAX 64U /* regions of memory that may have a trace */

struct recover_options {
	const char *dir;
	const char *image;
	const char *at;
	const char *device;
	bool force;
	bool drop;
	bool json;
	bool quiet;
};

static const struct kt_option options[] = {
	{ "output", 'o', KT_OPT_TEXT, offsetof(struct recover_options, dir),
	  "DIR", "directory to write the trace to" },
	{ "image", 'i', KT_OPT_TEXT, offsetof(struct recover_options, image),
	  "FILE", "read an image of the memory instead of the module" },
	{ "at", 0, KT_OPT_TEXT, offsetof(struct recover_options, at), "OFFSET",
	  "which region, if several (default: the newest)" },
	{ "force", 'f', KT_OPT_FLAG, offsetof(struct recover_options, force),
	  NULL, "replace the trace in DIR" },
	{ "drop", 0, KT_OPT_FLAG, offsetof(struct recover_options, drop), NULL,
	  "afterwards, make the module forget the trace" },
	{ "json", 'j', KT_OPT_FLAG, offsetof(struct recover_options, json),
	  NULL, "print the summary as JSON" },
	{ "quiet", 'q', KT_OPT_FLAG, offsetof(struct recover_options, quiet),
	  NULL, "no progress, and no list of what was left out" },
	{ "device", 0, KT_OPT_TEXT, offsetof(struct recover_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

static const char *const kinds[] = { "event", "control" };

/* What ended the recording, by the state of the region that it has left. */
static const char *const states[] = {
	[KTAPE_PERSIST_RECORDING] = "reset",
	[KTAPE_PERSIST_STOPPED] = "stopped",
	[KTAPE_PERSIST_PANIC] = "panic",
	[KTAPE_PERSIST_REBOOT] = "reboot",
};

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
	interrupted = number;
}

/**
 * struct job - a recovery
 * @o: options
 * @input: memory to recover from
 * @hooks: callbacks for progress and findings
 * @place: region that was chosen
 * @ctf: the output
 * @result: what was recovered
 * @at: offset of --at
 * @shown: percentage shown last
 * @tty: show progress
 * @partly: something was left out
 */
struct job {
	const struct recover_options *o;
	struct ktape_recover_input input;
	struct ktape_recover_hooks hooks;
	struct ktape_recover_place place;
	struct ktape_ctf *ctf;
	struct ktape_recovered result;
	uint64_t at;
	uint64_t shown;
	bool tty;
	bool partly;
};

static void report_left_out_part(void *arg, const struct ktape_error *what)
{
	struct job *job = arg;

	job->partly = true;
	if (job->o->quiet)
		return;
	note("%s0x%" PRIx64 ": %s", job->tty ? "\r" : "", what->offset, what->text);
}

/*
 * Show progress whenever the percentage changes.  @all: bytes to recover; 0 while the memory is
 * searched for regions.  Return: 0, or -EINTR after a signal.
 */
static int show_recover_progress(void *arg, uint64_t done, uint64_t all)
{
	struct job *job = arg;
	uint64_t whole = all ? all : job->input.size;
	uint64_t percent = whole ? done * 100 / whole : 100;

	if (job->tty && percent != job->shown) {
		fprintf(stderr, "\r%s %" PRIu64 " %% ",
			all ? "recovering" : "scanning", kt_min(percent, 100));
		job->shown = percent;
	}
	return interrupted ? -EINTR : 0;
}

static int begin_trace(void *arg, const char *metadata, size_t len)
{
	struct job *job = arg;

	return ktape_ctf_create(job->o->dir,
				KTAPE_CTF_STAGED |
					(job->o->force ? KTAPE_CTF_FORCE : 0),
				metadata, len, &job->ctf);
}

static int write_recovered_packet(void *arg, const void *data, size_t len)
{
	struct job *job = arg;

	return ktape_ctf_append(job->ctf, data, len);
}

/*
 * Return true if the module can have a region at @offset.  Its memory has one region, or
 * one in each half.  A region header at any other offset is recorded data.
 */
static bool is_module_region(const struct job *job, uint64_t offset)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return !offset || offset == job->input.size / 2 / page * page;
}

/* Return true if region @p was set up after region @other. */
static bool is_newer(const struct ktape_recover_place *p,
		     const struct ktape_recover_place *other)
{
	const struct ktape_persist *a = &p->super, *b = &other->super;
	uint64_t apart = p->offset > other->offset ? p->offset - other->offset :
						     other->offset - p->offset;

	/* Compare the sequence numbers of two halves: the clock may have been set. */
	if (a->size == b->size && apart == a->size && a->sequence && b->sequence)
		return (int32_t)(a->sequence - b->sequence) > 0;
	return a->start_real_ns > b->start_real_ns;
}

/* Choose the region of --at, or the one that was set up last. */
static int choose_region(struct job *job,
			 const struct ktape_recover_place *places, int nr)
{
	const struct ktape_recover_place *best = NULL;

	for (int i = 0; i < nr; i++) {
		const struct ktape_recover_place *p = &places[i];

		if (job->o->at && p->offset != job->at)
			continue;
		if (!job->o->at && !job->o->image &&
		    !is_module_region(job, p->offset))
			continue;
		if (!best || is_newer(p, best))
			best = p;
	}
	if (!best)
		return fail("%s: no trace found%s%s",
			    job->o->image ? job->o->image : "the module",
			    job->o->at ? " at " : "", job->o->at ? job->o->at : "");
	for (int i = 0; i < nr && nr > 1 && !job->o->quiet; i++)
		note("found a region at 0x%" PRIx64 "%s", places[i].offset,
		     &places[i] == best ? ": recovering this one" : "");
	job->place = *best;
	return EXIT_OK;
}

static int find_region(struct job *job)
{
	struct ktape_recover_place *places = calloc(PLACES_MAX, sizeof(*places));
	int nr, ret;

	if (!places)
		return fail("%s", strerror(ENOMEM));
	nr = ktape_recover_scan(&job->input, &job->hooks, places, PLACES_MAX);
	if (job->tty)
		fputc('\r', stderr);
	ret = nr < 0 ? fail("%s: %s", job->o->image ? job->o->image : "the module",
			    strerror(-nr)) :
		       choose_region(job, places, nr);
	free(places);
	return ret;
}

static const char *region_state_name(const struct job *job)
{
	uint32_t state = job->place.super.state;

	return state < KT_ARRAY_SIZE(states) && states[state] ? states[state] :
								"unknown";
}

static void print_recovered_json(const struct job *job,
				 const struct ktape_recovered *r)
{
	const struct ktape_persist *p = &job->place.super;
	const char *comma = "";

	printf("{\"uuid\":\"");
	for (unsigned int i = 0; i < sizeof(p->uuid); i++)
		printf("%02x", p->uuid[i]);
	printf("\",\"offset\":%" PRIu64 ",\"size\":%" PRIu64
	       ",\"ended\":\"%s\",\"metadata_made\":%s,\"names\":%" PRIu64
	       ",\"names_discarded\":%" PRIu64 ",\"complete\":%s,\"rings\":[",
	       job->place.offset, (uint64_t)p->size, region_state_name(job),
	       r->metadata_made ? "true" : "false", r->names,
	       r->names_discarded, job->partly ? "false" : "true");
	for (unsigned int i = 0; i < r->nr_rings; i++, comma = ",") {
		const struct ktape_recover_ring *g = &r->rings[i];

		printf("%s\n{\"cpu\":%u,\"ring\":\"%s\",\"capacity\":%" PRIu64
		       ",\"checked\":%" PRIu64 ",\"unchecked\":%" PRIu64
		       ",\"open\":%" PRIu64 ",\"cut\":%" PRIu64
		       ",\"discarded\":%" PRIu64 ",\"events\":%" PRIu64
		       ",\"first\":\"%" PRId64 "\",\"last\":\"%" PRId64 "\"}",
		       comma, g->cpu, kinds[g->kind], g->capacity, g->checked,
		       g->unchecked, g->open, g->cut, g->discarded, g->events,
		       ktape_epoch_ns(&r->info, g->first_ts),
		       ktape_epoch_ns(&r->info, g->last_ts));
	}
	puts("]}");
}

static void print_recovered_text(const struct job *job,
				 const struct ktape_recovered *r)
{
	struct ktape_recover_ring all = { .cpu = 0 };

	for (unsigned int i = 0; i < r->nr_rings; i++) {
		all.checked += r->rings[i].checked;
		all.unchecked += r->rings[i].unchecked;
		all.open += r->rings[i].open;
		all.cut += r->rings[i].cut;
		all.discarded += r->rings[i].discarded;
		all.events += r->rings[i].events;
	}
	put_shown(stdout, job->o->dir);
	printf(": %" PRIu64 " events, %" PRIu64 " names; ended by: %s\n",
	       all.events, r->names, region_state_name(job));
	printf("blocks: %" PRIu64 " checked, %" PRIu64 " UNCHECKED, %" PRIu64
	       " open (%" PRIu64 " of these cut), %" PRIu64 " discarded\n",
	       all.checked, all.unchecked, all.open, all.cut, all.discarded);
	if (r->names_discarded)
		printf("names discarded: %" PRIu64 "\n", r->names_discarded);
}

static int recover_trace(struct job *job)
{
	const struct ktape_recover_output output = {
		.begin = begin_trace,
		.packet = write_recovered_packet,
		.arg = job,
	};
	struct ktape_error error = { .offset = 0 };
	int ret, err;

	ret = find_region(job);
	if (ret)
		return ret;
	err = ktape_recover(&job->input, &job->place, &output, &job->hooks,
			    &job->result, &error);
	if (job->tty)
		fputc('\r', stderr);
	ret = err ? 0 : ktape_ctf_commit(job->ctf);
	err = err ? err : ret;
	/* Without the commit, this removes what was written. */
	ret = ktape_ctf_close(job->ctf);
	if (err == -EBADMSG)
		return fail("0x%" PRIx64 ": %s", error.offset, error.text);
	if (err == -EINTR)
		return fail("interrupted: %s was not written", job->o->dir);
	if (err || ret)
		return fail("%s: %s", job->o->dir, strerror(err ? -err : -ret));
	job->partly |= job->result.names_discarded > 0;
	if (job->o->json)
		print_recovered_json(job, &job->result);
	else
		print_recovered_text(job, &job->result);
	ret = finish_stdout();
	return ret ? ret : job->partly ? EXIT_PARTLY : EXIT_OK;
}

static int recover_from_image(struct job *job)
{
	int fd = open(job->o->image, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err = fd < 0 ? -errno : ktape_recover_from_fd(&fd, &job->input);
	int ret;

	ret = err ? fail("%s: %s", job->o->image,
			 err == -EINVAL ? "not a regular file or block device" :
					  strerror(-err)) :
		    recover_trace(job);
	if (fd >= 0)
		close(fd);
	return ret;
}

static int recover_from_module(struct job *job, const char *path)
{
	struct ktape_device *device;
	int ret, err;

	if (open_device(path, job->o->drop, &device))
		return EXIT_FAILED;
	err = ktape_recover_from_device(device, &job->input);
	if (err)
		ret = fail("%s", err == -ENODATA ?
					 "nothing to recover: the module was loaded without persist=, found no trace, or was made to forget it" :
					 strerror(-err));
	else
		ret = recover_trace(job);
	if (job->o->drop && (ret == EXIT_OK || ret == EXIT_PARTLY)) {
		err = ktape_device_persist_drop(device);
		if (err)
			ret = fail("cannot make the module forget the trace: %s",
				   strerror(-err));
	}
	ktape_device_close(device);
	return ret;
}

static int cmd_recover(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = note_signal };
	struct recover_options o = { .dir = NULL };
	struct job job = {
		.o = &o,
		.hooks = { report_left_out_part, show_recover_progress, &job },
		.shown = UINT64_MAX,
	};
	int first, ret;

	ret = kt_options(&command_recover, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (!o.dir)
		return misuse(&command_recover, "missing output: use -o DIR");
	if (first != argc)
		return misuse(&command_recover, "recover takes no operands");
	if (o.image && o.device)
		return misuse(&command_recover,
			      "--image and --device exclude each other");
	if (o.image && o.drop)
		return misuse(&command_recover,
			      "--drop works on the module and cannot be used with --image");
	if (o.at && kt_parse_u64(o.at, &job.at))
		return misuse(&command_recover, "--at: \"%s\" is not an offset",
			      o.at);
	job.tty = !o.quiet && isatty(STDERR_FILENO);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ret = output_check(o.dir, (char *const *)&o.image, o.image ? 1 : 0);
	if (!ret)
		ret = output_check_place(o.dir);
	if (!ret && signals_sweep(o.dir))
		ret = fail("%s: %s", o.dir, strerror(ENOMEM));
	if (ret)
		return ret;
	ret = o.image ? recover_from_image(&job) :
			recover_from_module(&job, o.device);
	ktape_recovered_release(&job.result);
	return ret;
}

const struct kt_command command_recover = {
	.name = "recover",
	.operands = "",
	.help = "recover the trace that survived a reset in memory",
	.more = "exit status: 0 complete, 1 failed or nothing found, 2 usage error, 3 parts were\n"
		"left out, which are listed on standard error\n",
	.options = options,
	.run = KT_RUN(cmd_recover),
};
