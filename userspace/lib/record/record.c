// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The recorder: write the rings and the registry of a session to a CTF directory, a
 * pipe-form file or a pipe.
 *
 * Closed blocks are written from the mapping where possible (write.c); everything
 * else is copied (kt_record_copy()).  The recorder reports written positions to the
 * session, which can then reuse the blocks in discard mode.  names.c writes the
 * registry, rotate.c continues a log in a new piece.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/tmpfs.h"

#include "stream/metadata.h"
#include "record/internal.h"

#define BOOT_ID 36 /* characters of a UUID */

/*
 * Begin writing a ring.  @out starts at the position that the session has stored for
 * this consumer, because reported positions must only grow.  The reader may start
 * earlier, in blocks that the session does not keep for this consumer.
 */
static int begin_out(struct ktape_recorder *rec, const struct kt_ring *r,
		     struct kt_out *out)
{
	struct ktape_reader_info info;
	int err = ktape_device_reader(rec->device, r->cpu, r->kind, &info);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	out->position = info.position;
	out->reported = out->position;
	return 0;
}

/*
 * Begin writing the rings that are new, and allocate what depends on the number of rings.
 * Return: 0 or negative errno.
 */
static int adopt_rings(struct ktape_recorder *rec)
{
	unsigned int nr = rec->reader->nr_rings;
	struct ktape_position *positions;
	struct kt_out *outs;
	void *block;
	int err;

	if (nr == rec->nr_outs)
		return 0;
	outs = realloc(rec->outs, nr * sizeof(*outs));
	if (!outs)
		return -ENOMEM;
	rec->outs = outs;
	positions = realloc(rec->positions, nr * sizeof(*positions));
	if (!positions)
		return -ENOMEM;
	rec->positions = positions;
	for (; rec->nr_outs < nr; rec->nr_outs++) {
		const struct kt_ring *r = rec->reader->rings[rec->nr_outs];
		size_t size = kt_max(r->block_size, KT_NAMES_PACKET);

		err = begin_out(rec, r, &outs[rec->nr_outs]);
		if (err)
			return err;
		if (rec->block_size >= size)
			continue;
		if (posix_memalign(&block, KT_DIRECT_ALIGN, size))
			return -ENOMEM;
		free(rec->block);
		rec->block = block;
		rec->block_size = size;
	}
	return 0;
}

/*
 * Add the number of this boot of the machine, which the kernel does not export to modules.  It
 * is left out if it cannot be read.  Return: 0 or negative errno.
 */
static int add_boot_id(char **text, size_t *len)
{
	char id[BOOT_ID + 1] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : kt_read_some(fd, id, BOOT_ID);

	if (fd >= 0)
		close(fd);
	if (n != BOOT_ID || strspn(id, "0123456789abcdef-") != BOOT_ID)
		return 0;
	return ktape_metadata_add(text, len, "boot_id", id);
}

/* Make the metadata with CPUs, boot and remark.  Return: 0 or negative errno. */
static int make_recorder_metadata(struct ktape_recorder *rec, char **text,
				  size_t *len)
{
	uint64_t cpus[KTAPE_CPU_WORDS] = { 0 };
	int err = ktape_device_metadata(rec->device, text, len);

	if (err)
		return err;
	for (unsigned int i = 0; i < rec->reader->nr_rings; i++) {
		uint32_t cpu = kt_reader_ring(rec->reader, i)->cpu;

		if (cpu < KT_CPUS_MAX)
			cpus[cpu / 64] |= 1ULL << (cpu % 64);
	}
	err = ktape_metadata_cpus(text, len, cpus);
	if (!err)
		err = add_boot_id(text, len);
	if (!err && rec->remark)
		err = kt_metadata_remark(text, len, rec->remark);
	if (err)
		free(*text);
	return err;
}

/* Write the metadata of a trace again if more CPUs have rings than when it was written. */
int kt_record_redescribe(struct ktape_recorder *rec)
{
	char *text;
	size_t len;
	int err;

	if (!rec->ctf || rec->ctf->dir < 0 || rec->ctf->rings == rec->reader->nr_rings)
		return 0;
	err = make_recorder_metadata(rec, &text, &len);
	if (err)
		return err;
	err = kt_ctf_redescribe(rec->ctf, text, len);
	free(text);
	if (!err)
		rec->ctf->rings = rec->reader->nr_rings;
	return err;
}

/*
 * Adopt the rings of CPUs that came online since, and list these CPUs in the metadata at
 * once: a recorder that is killed before it writes a packet of them leaves a trace that
 * does not claim to have all CPUs.  If the list cannot be written, what is in the rings comes
 * first: it is tried again, and the end of the trace fails with the error.
 * Return: 0 or negative errno.
 */
int kt_record_refresh(struct ktape_recorder *rec)
{
	int err = ktape_reader_refresh(rec->reader);

	if (err >= 0)
		err = adopt_rings(rec);
	if (!err)
		kt_record_redescribe(rec);
	return err;
}

/* Create a trace or the next piece of a log, with its metadata.  Return: 0 or negative errno. */
int kt_record_create(struct ktape_recorder *rec, const char *path,
		     struct ktape_ctf **ctf)
{
	static const struct {
		unsigned int ours;
		unsigned int theirs;
	} flags[] = {
		{ KTAPE_RECORD_FORCE, KTAPE_CTF_FORCE },
		{ KTAPE_RECORD_PIECES, KTAPE_CTF_NEW },
		{ KTAPE_RECORD_FILE, KTAPE_CTF_FILE },
		{ KTAPE_RECORD_ZSTD, KTAPE_CTF_ZSTD },
		{ KTAPE_RECORD_STAGED, KTAPE_CTF_STAGED },
	};
	unsigned int how = KTAPE_CTF_DIRECT;
	char *text;
	size_t len;
	int err;

	for (size_t i = 0; i < KT_ARRAY_SIZE(flags); i++)
		how |= rec->flags & flags[i].ours ? flags[i].theirs : 0;
	if (how & (KTAPE_CTF_FILE | KTAPE_CTF_ZSTD))
		how &= ~KTAPE_CTF_DIRECT;
	err = make_recorder_metadata(rec, &text, &len);
	if (err)
		return err;
	err = ktape_ctf_create(path, how, text, len, ctf);
	if (!err) {
		(*ctf)->rings = rec->reader->nr_rings;
		/* Direct writes save nothing there. */
		if (how & KTAPE_CTF_DIRECT && kt_is_on_tmpfs((*ctf)->dir))
			(*ctf)->plain = -EOPNOTSUPP;
	}
	free(text);
	return err;
}

static int open_recorder_output(struct ktape_recorder *rec,
				const struct ktape_recorder_options *o)
{
	const uint8_t *uuid = ktape_device_features(rec->device)->uuid;
	char *text;
	size_t len;
	int err;

	if (o->dir)
		return kt_record_create(rec, o->dir, &rec->ctf);
	err = make_recorder_metadata(rec, &text, &len);
	if (err)
		return err;
	err = ktape_pipe_metadata(o->fd, uuid, text, len);
	free(text);
	return err;
}

/* Return the number of records written in all rings. */
uint64_t kt_record_count(struct ktape_recorder *rec)
{
	uint64_t nr = 0;

	for (unsigned int i = 0; i < rec->nr_outs; i++)
		nr += kt_reader_ring(rec->reader, i)->records;
	return nr;
}

int ktape_recorder_open(struct ktape_device *device,
			const struct ktape_recorder_options *options,
			struct ktape_recorder **recorder)
{
	struct ktape_recorder *rec = calloc(1, sizeof(*rec));
	int err = 0;

	if (!rec)
		return -ENOMEM;
	rec->device = device;
	rec->flags = options->flags;
	rec->fd = options->fd;
	rec->pipe = !options->dir;
	rec->attached = options->flags & KTAPE_RECORD_ATTACHED;
	rec->wait = options->wait;
	rec->arg = options->arg;
	kt_queue_open(&rec->queue,
		      options->dir && !(options->flags & KTAPE_RECORD_NO_URING));
	if (options->remark) {
		rec->remark = strdup(options->remark);
		err = rec->remark ? 0 : -ENOMEM;
	}
	if (!err)
		err = ktape_reader_open(device, &rec->reader);
	if (!err)
		err = adopt_rings(rec);
	if (!err) {
		rec->nr_names = ktape_reader_checkpoint(rec->reader, &rec->names);
		err = rec->nr_names < 0 ? rec->nr_names : 0;
	}
	if (!err)
		err = kt_record_find_cgroups(rec, false);
	if (!err)
		err = kt_record_alloc(rec);
	/* Open the output last, because this may replace an earlier trace. */
	if (!err)
		err = open_recorder_output(rec, options);
	if (err) {
		ktape_recorder_close(rec);
		return err;
	}
	*recorder = rec;
	return 0;
}

int ktape_recorder_step(struct ktape_recorder *recorder)
{
	kt_record_step(recorder);
	if (recorder->error)
		return recorder->error;
	return recorder->progress || recorder->queue.in_flight;
}

int ktape_recorder_refresh(struct ktape_recorder *recorder)
{
	/* Readers of a pipe also get what open blocks have, once at each call. */
	recorder->parts = recorder->pipe;
	return kt_record_refresh(recorder);
}

/*
 * Write everything up to the ends of the rings, what is in open blocks included, and the
 * losses that no packet has reported.  @stopped: the counts are exact.
 */
void kt_record_to_ends(struct ktape_recorder *rec, bool stopped)
{
	const unsigned int flags = KTAPE_READ_OPEN |
				   (stopped ? KTAPE_READ_STOPPED : 0);
	int64_t len;

	rec->parts = false;
	do {
		kt_record_step(rec);
	} while (rec->queue.in_flight || (rec->progress && !rec->error));
	for (unsigned int i = 0; i < rec->nr_outs && !rec->error; i++) {
		do {
			len = kt_record_copy(rec, i, flags);
		} while (len > 0);
		if (len < 0)
			kt_record_fail(rec, (int)len);
	}
}

/* Check whether the session records.  Return: 1, 0, or negative errno. */
static int is_recorder_running(struct ktape_recorder *rec)
{
	struct ktape_layout_entry *entries = NULL;
	struct ktape_layout layout;
	int err = ktape_device_layout(rec->device, &layout, &entries);

	free(entries);
	return err ? err : layout.running != 0;
}

/*
 * Set the end of the recording at the current positions.  A session that is still
 * recording, or is restarted by another process, would never run empty, because
 * writing causes new events.  Rings that have appeared until then end a little later: what
 * comes online after that has no event before the ends of the others.
 *
 * Return: true if the session was stopped, so that the counts are exact.  The caller has stopped
 * it, unless the recorder is @attached to a session that may outlive it.
 */
static bool set_recorder_end(struct ktape_recorder *rec)
{
	int before = rec->attached ? is_recorder_running(rec) : 0, after, err;
	unsigned int i = 0;

	for (; i < rec->nr_outs; i++)
		kt_ring_end_here(kt_reader_ring(rec->reader, i));
	err = kt_record_refresh(rec);
	if (err)
		kt_record_fail(rec, err);
	for (; i < rec->nr_outs; i++)
		kt_ring_end_here(kt_reader_ring(rec->reader, i));
	after = rec->attached ? is_recorder_running(rec) : 0;
	if (before < 0 || after < 0)
		kt_record_fail(rec, before < 0 ? before : after);
	return !before && !after;
}

/* Return whether the recording ends because the rings were taken away. */
static bool are_rings_taken(const struct ktape_recorder *rec)
{
	return rec->error == -ESTALE && kt_reader_is_gone(rec->reader);
}

int ktape_recorder_finish(struct ktape_recorder *recorder)
{
	struct ktape_recorder *rec = recorder;
	bool stopped = set_recorder_end(rec);
	int err;

	kt_record_to_ends(rec, stopped);
	/* Rings that were taken away are no reason to leave out the names of what was written. */
	if (!rec->error || are_rings_taken(rec))
		kt_record_last_names(rec);
	if (!rec->error || are_rings_taken(rec)) {
		err = kt_record_redescribe(rec);
		if (err)
			kt_record_fail(rec, err);
	}
	kt_record_report(rec);
	if (rec->error && rec->ctf)
		kt_ctf_cut(rec->ctf);
	/*
	 * The data of the rings cannot be read again, so a trace that an error cut
	 * short is kept, too, unless it would replace an earlier complete one.
	 */
	if (rec->ctf && (!rec->error || !rec->ctf->replaces)) {
		err = kt_ctf_settle(rec->ctf);
		if (err)
			kt_record_fail(rec, err);
		rec->kept = kt_ctf_keep(rec->ctf);
	}
	if (rec->ctf) {
		rec->plain = rec->ctf->plain;
		err = ktape_ctf_close(rec->ctf);
		rec->ctf = NULL;
		if (err)
			kt_record_fail(rec, err);
	}
	return rec->error;
}

void ktape_recorder_stats(struct ktape_recorder *recorder,
			  struct ktape_recorder_stats *stats)
{
	struct ktape_ring_info info;
	const struct kt_ring *r;

	memset(stats, 0, sizeof(*stats));
	stats->rings = recorder->reader->nr_rings;
	for (unsigned int i = 0; i < stats->rings; i++) {
		r = kt_reader_ring(recorder->reader, i);
		ktape_reader_ring(recorder->reader, i, &info);
		stats->records += info.records;
		stats->emitted += info.emitted - r->base_emitted;
		stats->filtered += info.filtered - r->base_filtered;
		stats->lost += info.lost - r->base_lost;
		stats->missed += info.missed;
		stats->overwritten += kt_ring_records_before(r);
		stats->pending += kt_ring_pending(r);
	}
	if (kt_reader_is_gone(recorder->reader))
		stats->pending = 0;
	stats->bytes = recorder->bytes;
	stats->piece_records = stats->records - recorder->piece_records;
	stats->piece_bytes = recorder->ctf ? recorder->ctf->written : 0;
	stats->plain_writes = recorder->plain;
	if (recorder->ctf)
		stats->plain_writes = recorder->ctf->plain;
	if (!stats->plain_writes)
		stats->plain_writes = recorder->queue.plain;
}

const char *ktape_recorder_kept(const struct ktape_recorder *recorder)
{
	return recorder->kept;
}

void ktape_recorder_cancel(struct ktape_recorder *recorder)
{
	struct ktape_ctf *ctf = recorder->ctf;

	while (recorder->queue.in_flight)
		kt_queue_reap(&recorder->queue, KT_REAP_MS);
	recorder->ctf = NULL;
	if (ctf)
		kt_ctf_discard(ctf);
	ktape_recorder_close(recorder);
}

void ktape_recorder_close(struct ktape_recorder *recorder)
{
	if (!recorder)
		return;
	while (recorder->queue.in_flight)
		kt_queue_reap(&recorder->queue, KT_REAP_MS);
	kt_queue_close(&recorder->queue);
	ktape_ctf_close(recorder->ctf);
	kt_record_free(recorder);
	ktape_reader_close(recorder->reader);
	free(recorder->kept);
	free(recorder);
}
