// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a trace as LTTng's kernel tracer would (CTF 1.8, or 2 by option), for Trace Compass and
 * babeltrace2: the directory, its streams and packets.  The events are in map.c,
 * call.c and user.c, the metadata in meta.c.
 *
 *	DIR/metadata
 *	DIR/channel0_N	stream of CPU N: packets of up to 64 KiB, or of one larger event
 *
 *	packet	| magic 32 | uuid 128 | stream id 32 | instance 64 |	header
 *		| begin 64 | end 64 | content 64 | size 64 |		context
 *		| sequence 64 | discarded 64 | cpu 32 |
 *		| event | event | ...
 *	event	| id 32 | time 64, ns | tid 32 | fields |
 *
 * An event that LTTng has as well is written with LTTng's name and fields; all others
 * are ktape_NAME with the fields of the event table.  Times are nanoseconds of
 * CLOCK_MONOTONIC.
 * Threads that existed before the first event become a state dump; later ones are
 * known from fork events.  Other names of the registry are in the events
 * themselves.
 *
 * Not written: LTTng's fields that ktape does not record.  A loss with a count raises
 * discarded of the next packet; a loss without a count skips a sequence number.  At the end of
 * a stream that packet has no events.  After damage a reader continues with the next packet:
 * the context has the size of each.  The metadata is written last, because only then is it
 * known which event classes (each system call is one) it has to declare.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#include "internal.h"
#include "lttng.h"

#define PACKET	     (64U << 10)
#define PACKET_SMALL (4U << 10) /* with more than MANY CPUs */
#define MANY	     512U
#define HEADER	     84U /* packet header and context */
#define EVENT_HEAD   16U /* id, time, tid */
#define MODE_DIR     0777
#define MODE_FILE    0666
#define CTF_MAGIC    0xc1fc1fc1U
#define CHILD_TID    1U /* argument of process_fork */

/**
 * struct lt_cpu - stream of a CPU
 * @fd: file; negative: it could not be made
 * @data: packet under construction
 * @size: bytes allocated for @data
 * @len: bytes used of @data; 0: no packet is begun
 * @written: bytes of whole packets in the file
 * @seq: number of the next packet
 * @discarded: events lost so far
 * @first: time at which the packet begins: of its first event, or of the end of its loss, in ns
 * @last: time of the last event, or of that end, in ns: no later time is earlier
 * @owed: a loss came that no packet counts yet: the next one does
 * @lost_to: its end, in ticks; valid if @owed
 */
struct lt_cpu {
	int fd;
	char *data;
	size_t size;
	size_t len;
	uint64_t written;
	uint64_t seq;
	uint64_t discarded;
	uint64_t first;
	uint64_t last;
	bool owed;
	uint64_t lost_to;
};

/* ---- the directory --------------------------------------------------------------- */

/* Check whether a name is that of a file of such a trace. */
static bool is_lttng_file(const char *name)
{
	return !strcmp(name, "metadata") || !strncmp(name, "channel0_", 9);
}

/*
 * Check that the directory is empty or, with @force, has only files of such a trace.
 *
 * Return: 0; -ENOTEMPTY: it is not empty; -EEXIST: with @force it has other files; or
 * another negative errno.
 */
static int check_lttng_empty(int dir, bool force)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int err = 0;

	if (!d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    kt_temp_is_name(e->d_name))
			continue;
		if (!force)
			err = -ENOTEMPTY;
		else if (!is_lttng_file(e->d_name))
			err = -EEXIST;
	}
	closedir(d);
	return err;
}

static const struct ktape_codec_option out_options[] = {
	{ "ctf", "1.8|2",
	  "version of the metadata: 1.8, or 2 for babeltrace2 from 2.1 on and Trace Compass (default 1.8)" },
	{ .key = NULL },
};

/* Take the option ctf.  Return: false if it has another value. */
static bool take_version(struct kt_sink *s)
{
	const char *ctf = kt_codec_option(&s->options, "ctf");
	struct lttng *t = s->state;

	t->ctf2 = ctf && !strcmp(ctf, "2");
	if (!ctf || t->ctf2 || !strcmp(ctf, "1.8"))
		return true;
	kt_sink_fail(s, "option ctf of the format lttng is 1.8 or 2, not \"%.20s\"",
		     ctf);
	return false;
}

static int lttng_begin(struct kt_sink *s)
{
	struct lttng *t = s->state;
	int folder, err;

	t->s = s;
	t->dir = -1;
	kt_user_event_init(&t->user_event);
	if (!strcmp(s->path, "-"))
		return kt_sink_fail(
			s, "lttng writes a directory, which cannot go to standard output: use -o DIR");
	if (!take_version(s) || !lt_check(t))
		return -EBADMSG;
	t->made = !mkdir(s->path, MODE_DIR);
	if (!t->made && errno != EEXIST)
		return -errno;
	folder = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	err = check_lttng_empty(folder, s->flags & KTAPE_SINK_FORCE);
	/* In place only into an empty folder: other files stay until the new ones are whole. */
	t->in_place = !err && s->flags & KTAPE_SINK_IN_PLACE &&
		      !check_lttng_empty(folder, false);
	if (t->in_place)
		t->dir = folder;
	else if (!err)
		err = kt_stage_folder(&s->stage, folder, is_lttng_file);
	if (err)
		close(folder);
	else if (!t->in_place)
		t->dir = s->stage.inner;
	return err;
}

static int commit_lttng_folder(struct lttng *t)
{
	struct kt_sink *s = t->s;
	int err;

	if (t->in_place)
		return 0;
	err = check_lttng_empty(s->stage.folder, s->flags & KTAPE_SINK_FORCE);
	return err ? err : kt_stage_commit(&s->stage);
}

/* ---- packets --------------------------------------------------------------------- */

/*
 * Get the stream of a CPU, made if needed.  If its file cannot be made, the sink's error is set.
 * Return: the stream, or NULL without memory.
 */
static struct lt_cpu *get_stream(struct lttng *t, uint32_t cpu)
{
	struct lt_cpu **more;
	char name[32];

	if (cpu >= t->nr_cpus) {
		more = realloc(t->cpus, (cpu + 1ULL) * sizeof(*more));
		if (!more)
			return NULL;
		t->cpus = more;
		while (t->nr_cpus <= cpu)
			more[t->nr_cpus++] = NULL;
	}
	if (t->cpus[cpu])
		return t->cpus[cpu];
	t->cpus[cpu] = calloc(1, sizeof(**t->cpus));
	if (!t->cpus[cpu])
		return NULL;
	snprintf(name, sizeof(name), "channel0_%u", cpu);
	t->cpus[cpu]->fd = openat(
		t->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE_FILE);
	if (t->cpus[cpu]->fd < 0)
		t->s->error = -errno;
	return t->cpus[cpu];
}

static void put_packet_head(const struct lttng *t, const struct lt_cpu *c,
			    uint32_t cpu)
{
	uint8_t *p = (uint8_t *)c->data;

	kt_set32(p, CTF_MAGIC);
	memcpy(p + 4, t->s->info->uuid, 16);
	kt_set32(p + 20, 0);
	kt_set64(p + 24, cpu);
	kt_set64(p + 32, c->first);
	kt_set64(p + 40, c->last);
	kt_set64(p + 48, c->len * 8);
	kt_set64(p + 56, c->len * 8);
	kt_set64(p + 64, c->seq);
	kt_set64(p + 72, c->discarded);
	kt_set32(p + 80, cpu);
}

/* Return the usual packet size: small with many CPUs, whose packets are in memory. */
static size_t lttng_packet_size(const struct lttng *t)
{
	return t->nr_cpus > MANY ? PACKET_SMALL : PACKET;
}

/*
 * End the packet of a CPU and write it.  If that fails the file is cut to the packets before, and
 * this one is gone.
 */
static int flush_packet(struct lttng *t, struct lt_cpu *c, uint32_t cpu)
{
	int err = 0;

	if (!c->len)
		return 0;
	put_packet_head(t, c, cpu);
	err = c->fd < 0 ? t->s->error : kt_write_all(c->fd, c->data, c->len);
	if (!err)
		c->written += c->len;
	else if (c->fd >= 0 && ftruncate(c->fd, (off_t)c->written))
		err = -errno;
	t->s->offset += c->len;
	c->seq++;
	c->len = 0;
	if (c->size > lttng_packet_size(t)) {
		free(c->data);
		c->data = NULL;
		c->size = 0;
	}
	return err;
}

/* Make room for @need bytes in the packet.  Return: 0 or negative errno. */
static int make_lttng_room(struct lttng *t, struct lt_cpu *c, uint32_t cpu,
			   size_t need)
{
	size_t size = kt_max(lttng_packet_size(t), HEADER + need);
	char *more;
	int err;

	if (c->len && c->size - c->len < need) {
		err = flush_packet(t, c, cpu);
		if (err)
			return err;
	}
	if (c->size < size) {
		more = realloc(c->data, size);
		if (!more)
			return -ENOMEM;
		c->data = more;
		c->size = size;
	}
	return 0;
}

/* Let the packet of a CPU last up to a time, but not less than before.  Begin it if needed. */
static void extend_packet(struct lttng *t, struct lt_cpu *c, uint64_t ts)
{
	int64_t ns = ktape_mono_ns(t->s->info, ts);

	c->last = kt_max(ns > 0 ? (uint64_t)ns : 0, c->last);
	if (c->len)
		return;
	c->len = HEADER;
	c->first = c->last;
	c->owed = false;
}

/*
 * Begin an event with id, time and tid, in the room of make_lttng_room().
 * Return: where its fields go; the caller sets @c->len to their end.
 */
static char *open_lttng_event(struct lttng *t, struct lt_cpu *c, uint32_t id,
			      const struct ktape_event *e)
{
	uint8_t *p;

	extend_packet(t, c, e->ts);
	p = (uint8_t *)c->data + c->len;
	kt_set32(p, id);
	kt_set64(p + 4, c->last);
	kt_set32(p + 12, (uint32_t)e->tid);
	return (char *)p + EVENT_HEAD;
}

/* Write an event of the state dump, which LTTng begins a trace with. */
static int put_dump(struct lttng *t, struct lt_cpu *c, uint32_t id,
		    const struct ktape_event *e)
{
	int err = make_lttng_room(t, c, e->cpu, EVENT_HEAD + LT_FIXED);
	char *p;

	if (err)
		return err;
	p = open_lttng_event(t, c, id, e);
	if (id == LT_DUMP_THREAD)
		p = lt_put_thread(p, e);
	c->len = (size_t)(p - c->data);
	return 0;
}

/*
 * Write a thread that existed before the first event; forks report later ones.  In dat20 the
 * registry has the kind of the object, and in bit 8 whether it is gone; its arguments 3 and 4 are
 * the time of its birth.
 */
static int put_thread_state(struct lttng *t, struct lt_cpu *c,
			    const struct ktape_event *e)
{
	uint64_t born = ktape_event_arg(e, 3) | (uint64_t)ktape_event_arg(e, 4)
							<< 32;
	int err = 0;

	if ((e->dat20 & 0xff) != KTAPE_OBJ_THREAD || e->dat20 >> 8 & 1 ||
	    (t->begun && born > t->first) || !kt_event_fits(e) ||
	    kt_map_find(&t->forked, 0, ktape_event_arg(e, 0)))
		return 0;
	if (!t->dumped)
		err = put_dump(t, c, LT_DUMP_START, e);
	t->dumped = true;
	return err ? err : put_dump(t, c, LT_DUMP_THREAD, e);
}

static int lttng_event(struct kt_sink *s, const struct ktape_event *e)
{
	const struct kt_line l = kt_line_of(s->info, s->registry, e, false);
	struct lttng *t = s->state;
	struct lt_cpu *c;
	uint32_t id;
	int err;

	if (e->opcode == KTAPE_TIME_EXTEND || e->cpu >= KT_CPUS_MAX)
		return 0;
	/* Only names are there, so what else a damaged stream of names has is no event. */
	if (e->kind == KTAPE_RING_REGISTRY && e->opcode != KTAPE_EV_REGISTRY)
		return 0;
	c = get_stream(t, e->cpu);
	if (!c || s->error)
		return s->error ? s->error : -ENOMEM;
	if (e->opcode == KTAPE_EV_REGISTRY)
		return put_thread_state(t, c, e);
	if (!t->begun)
		t->first = e->ts;
	t->begun = true;
	if (e->opcode == KTAPE_EV_PROCESS_FORK && kt_event_fits(e) &&
	    !kt_map_put(&t->forked, 0, ktape_event_arg(e, CHILD_TID)))
		return -ENOMEM;
	err = lt_id(t, &l, &id);
	/* Times two, because a 4-byte value of a blob may become one of 8. */
	if (!err)
		err = make_lttng_room(
			t, c, e->cpu,
			EVENT_HEAD + LT_FIXED + e->blob_size * 2ULL +
				(id >= LT_USERS ? lt_user_size(t, &l) : 0));
	if (err)
		return err;
	c->len = (size_t)(lt_put(open_lttng_event(t, c, id, e), t, &l, id) - c->data);
	return 0;
}

/* Begin a packet for which there may be no event; one that is open goes on to this time. */
static int begin_lttng_packet(struct lttng *t, struct lt_cpu *c, uint32_t cpu,
			      uint64_t ts)
{
	int err = make_lttng_room(t, c, cpu, 0);

	if (!err)
		extend_packet(t, c, ts);
	return err;
}

/*
 * End the packet at a loss.  A loss without a count skips a sequence number, which readers see only
 * between two packets, so one without events comes before it if the stream has none.
 */
static int lttng_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct lttng *t = s->state;
	struct lt_cpu *c;
	int err = 0;

	if (n->cpu >= KT_CPUS_MAX)
		return 0;
	c = get_stream(t, n->cpu);
	if (!c || s->error)
		return s->error ? s->error : -ENOMEM;
	if (!n->count && !c->seq && !c->len)
		err = begin_lttng_packet(t, c, n->cpu, n->from);
	if (!err)
		err = flush_packet(t, c, n->cpu);
	c->discarded += n->count;
	c->seq += !n->count;
	c->lost_to = c->owed ? kt_max(c->lost_to, n->to) : n->to;
	c->owed = true;
	return err;
}

/*
 * End the state dump, in the stream of the first CPU that has one, and all packets.  The time of 0
 * becomes that of the last event or loss there.
 */
static int lttng_end(struct kt_sink *s)
{
	struct lttng *t = s->state;
	int err = 0, ret;

	for (uint32_t i = 0; i < t->nr_cpus; i++) {
		struct lt_cpu *c = t->cpus[i];
		const struct ktape_event last = { .cpu = i, .tid = -1, .ts = 0 };

		if (c && c->owed && !err)
			err = begin_lttng_packet(t, c, i, c->lost_to);
		if (c && t->dumped && !err) {
			t->dumped = false;
			err = put_dump(t, c, LT_DUMP_END, &last);
		}
		if (c && !err)
			err = flush_packet(t, c, i);
	}
	/* In place, the metadata makes the packets before a failure readable. */
	ret = err && !t->in_place ? 0 : lt_metadata(t);
	if (!err)
		err = ret;
	return err ? err : commit_lttng_folder(t);
}

/* As kt_codec_out.move: go to a folder that is empty or has a trace of this kind to replace. */
static int lttng_move(struct kt_sink *s, int folder)
{
	struct lttng *t = s->state;
	int err = check_lttng_empty(folder, true);

	if (!err)
		err = kt_stage_move(&s->stage, folder);
	if (err)
		return err;
	s->flags |= KTAPE_SINK_FORCE; /* commit_lttng_folder() replaces the trace in it */
	t->dir = s->stage.inner;
	return 0;
}

static void lttng_close(struct kt_sink *s)
{
	struct lttng *t = s->state;

	for (uint32_t i = 0; i < t->nr_cpus; i++) {
		if (!t->cpus[i])
			continue;
		if (t->cpus[i]->fd >= 0)
			close(t->cpus[i]->fd);
		free(t->cpus[i]->data);
		free(t->cpus[i]);
	}
	free(t->cpus);
	free(t->call_list);
	kt_map_free(&t->calls);
	lt_free_users(t);
	kt_map_free(&t->forked);
	if (kt_stage_is_open(&s->stage)) {
		kt_stage_drop(&s->stage);
		if (t->made)
			rmdir(s->path);
	}
	if (t->in_place)
		close(t->dir);
}

const struct kt_codec_out kt_lttng_out = {
	.options = out_options,
	.size = sizeof(struct lttng),
	.extra = true,
	.switches = true,
	.own_files = true,
	.begin = lttng_begin,
	.event = lttng_event,
	.notice = lttng_notice,
	.end = lttng_end,
	.move = lttng_move,
	.close = lttng_close,
};
