// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write closed blocks from the mapping to files, without copying all of them.
 *
 * The first page of each block is copied and its header patched; the rest is written
 * from the mapping.  In overwrite mode, the kernel may overwrite a block before the
 * write has finished.  This is detected after the write.  The place of this dropped block in
 * the file then becomes an empty packet that counts the loss, and the loss counters
 * of all later packets of the file are raised.
 */
#include <unistd.h>

#include "util/file.h"

#include "record/internal.h"

/*
 * Allocate the batches of writes, which a pipe does not need.
 * Return: 0, -EPROTO if the module's page size cannot be used for direct writes, or -ENOMEM; the
 * caller calls kt_record_free() in any case.
 */
int kt_record_alloc(struct ktape_recorder *rec)
{
	size_t page = ktape_device_features(rec->device)->page_size;
	void *p;

	rec->page_size = page;
	if (page < KT_DIRECT_ALIGN || page > KT_PACKET_MAX || page & (page - 1))
		return -EPROTO;
	if (rec->pipe)
		return 0;
	rec->batches = calloc(KT_WRITES, sizeof(*rec->batches));
	if (!rec->batches)
		return -ENOMEM;
	for (unsigned int i = 0; i < KT_WRITES; i++) {
		struct kt_batch *b = &rec->batches[i];

		if (posix_memalign(&p, page, page * KT_BATCH_BLOCKS))
			return -ENOMEM;
		b->pages = p;
		b->next = rec->free;
		rec->free = b;
	}
	return 0;
}

void kt_record_free(struct ktape_recorder *rec)
{
	for (unsigned int i = 0; rec->batches && i < KT_WRITES; i++)
		free(rec->batches[i].pages);
	for (unsigned int i = 0; i < rec->nr_outs; i++)
		free(rec->outs[i].dropped);
	free(rec->batches);
	free(rec->outs);
	free(rec->block);
	free(rec->positions);
	free(rec->names);
	free(rec->cgroups);
	free(rec->remark);
}

static void add_recorded_piece(struct kt_write *w, const void *data, size_t len)
{
	if (!len)
		return;
	w->left.iov[w->left.nr].iov_base = (void *)data;
	w->left.iov[w->left.nr].iov_len = len;
	w->left.nr++;
	w->size += len;
}

/*
 * Fill a batch with the closed blocks of a ring, as many as one write takes.
 * Return: 1; 0 if there is none; -EAGAIN if a part of the next block is delivered already, so
 * that it has to be copied; or another negative errno.  Behind a block, the next call finds the
 * error.
 */
static int fill_batch(struct ktape_recorder *rec, struct kt_ring *r,
		      struct kt_batch *b)
{
	int ret = 0;

	b->nr = 0;
	b->write.left.iov = b->iov;
	b->write.left.nr = 0;
	b->write.size = 0;
	while (b->nr < KT_BATCH_BLOCKS &&
	       (!b->nr || b->write.size + r->block_size <= KT_BATCH_BYTES)) {
		uint8_t *page = b->pages + b->nr * rec->page_size;

		ret = kt_ring_view(rec->reader, r, page, rec->page_size,
				   &b->views[b->nr]);
		if (ret <= 0)
			break;
		add_recorded_piece(&b->write, page, rec->page_size);
		add_recorded_piece(&b->write, b->views[b->nr].rest,
				   b->views[b->nr].rest_len);
		b->nr++;
	}
	return b->nr ? 1 : ret;
}

/*
 * Begin the write of a batch, at the end of the ring's file; before the first one of the trace,
 * write the names.  Return: 0 or negative errno; that of the write itself is b->write.result.
 */
static int submit_batch(struct ktape_recorder *rec, struct kt_out *out,
			struct kt_batch *b)
{
	int err = 0;

	if (!out->file) {
		err = kt_record_start(rec, b->pages);
		if (!err)
			err = kt_ctf_file(rec->ctf, b->pages, &out->file);
		if (err)
			return err;
	}
	b->offset = out->file->size;
	b->write.left.offset = b->offset;
	b->write.fd = out->file->fd;
	out->file->size += b->write.size;
	rec->ctf->written += b->write.size;
	b->next = NULL;
	if (out->first)
		out->last->next = b;
	else
		out->first = b;
	out->last = b;
	if (rec->ctf->flags & KTAPE_CTF_DIRECT && !out->file->direct) {
		/* Direct writes do not work here: write through the page cache. */
		b->write.result = kt_ctf_write(rec->ctf, out->file, &b->write.left);
		b->write.done = true;
		return 0;
	}
	kt_queue_submit(&rec->queue, &b->write);
	return 0;
}

/* Write a copied packet, after the names of the start if it is the first one. */
static int write_recorded_packet(struct ktape_recorder *rec,
				 const uint8_t *packet, size_t len)
{
	int err = kt_record_start(rec, packet);

	return err ? err : kt_record_output(rec, packet, len);
}

/*
 * Copy and write one packet, and learn which events and filters it has switched (@state),
 * because the next piece of a log begins with them.
 * Return: bytes of the packet, 0 if there is none, or negative errno.
 */
int64_t kt_record_copy(struct ktape_recorder *rec, unsigned int ring,
		       unsigned int flags)
{
	struct kt_ring *r = kt_reader_ring(rec->reader, ring);
	uint64_t records = r->records;
	int64_t len = ktape_reader_read(rec->reader, ring, flags, rec->block,
					rec->block_size);
	int err = len > 0 ? write_recorded_packet(rec, rec->block, (size_t)len) : 0;

	/* Records that could not be written do not count. */
	if (err)
		r->records = records;
	else if (len > 0 && r->kind == KTAPE_RING_CONTROL)
		kt_state_learn(&rec->outs[ring].state, rec->block, (size_t)len);
	return err ? err : len;
}

/*
 * Copy the rest of a block that was partly delivered, once no write of the ring is in flight:
 * the file is written in order.  Return: 0 or negative errno.
 */
static int copy_rest(struct ktape_recorder *rec, unsigned int ring)
{
	int64_t len;

	if (rec->outs[ring].first)
		return 0;
	len = kt_record_copy(rec, ring, 0);
	rec->progress |= len > 0;
	return len > 0 ? 0 : (int)len;
}

/* Do not count the records of a batch that could not be written, but for its @first blocks. */
static void uncount_batch(struct kt_ring *r, const struct kt_batch *b,
			  unsigned int first)
{
	for (unsigned int i = first; i < b->nr; i++)
		r->records -= b->views[i].records;
}

/*
 * Begin writing the closed blocks of a ring, as long as a batch is free; not before dropped blocks
 * of its file are patched.  An error fails the recording.
 */
void kt_record_drain(struct ktape_recorder *rec, unsigned int ring)
{
	struct kt_ring *r = kt_reader_ring(rec->reader, ring);
	struct kt_out *out = &rec->outs[ring];
	int ret = 0;

	while (rec->free && !out->nr_dropped && !rec->error) {
		struct kt_batch *b = rec->free;

		ret = fill_batch(rec, r, b);
		if (ret == -EAGAIN)
			ret = copy_rest(rec, ring);
		if (ret <= 0 || !b->nr)
			break;
		rec->free = b->next;
		rec->progress = true;
		ret = submit_batch(rec, out, b);
		if (ret) {
			uncount_batch(r, b, 0);
			b->next = rec->free;
			rec->free = b;
		}
	}
	if (ret < 0)
		kt_record_fail(rec, ret);
}

static int add_dropped(struct kt_out *out, uint64_t offset, uint64_t records)
{
	size_t size = (out->nr_dropped + 1) * sizeof(*out->dropped);
	struct kt_dropped *more = realloc(out->dropped, size);

	if (!more)
		return -ENOMEM;
	out->dropped = more;
	out->dropped[out->nr_dropped].offset = offset;
	out->dropped[out->nr_dropped].records = records;
	out->nr_dropped++;
	return 0;
}

/*
 * After a write, check for each block whether it was overwritten: it is before @tail.  Then note
 * how far the ring is in the file.
 */
static void check_batch(struct ktape_recorder *rec, struct kt_ring *r,
			struct kt_out *out, const struct kt_batch *b, uint64_t tail)
{
	int err;

	for (unsigned int i = 0; i < b->nr; i++) {
		const struct kt_view *v = &b->views[i];

		if (tail <= v->block)
			continue;
		kt_ring_unview(r, v);
		err = add_dropped(out, b->offset + (uint64_t)i * r->block_size,
				  v->records);
		if (err)
			kt_record_fail(rec, err);
	}
	out->position = b->views[b->nr - 1].block + r->block_size;
	rec->bytes += (uint64_t)b->nr * r->block_size;
}

/* A block of a file whose loss counter is raised by @raise; @empty: drop its records. */
struct patch {
	uint64_t offset;
	size_t size;
	uint64_t raise;
	bool empty;
};

static int patch_block(struct ktape_recorder *rec, struct kt_out *out,
		       const struct patch *p)
{
	struct iovec iov = { .iov_base = rec->block, .iov_len = p->size };
	struct kt_pieces pieces = { &iov, 1, p->offset };
	ssize_t len = kt_pread_all(out->file->fd, rec->block, p->size, p->offset);

	if (len < 0 || (size_t)len < p->size)
		return len < 0 ? (int)len : -EIO;
	if (p->empty) {
		memset(rec->block + KTAPE_BLOCK_HEADER, 0,
		       p->size - KTAPE_BLOCK_HEADER);
		KT_HEAD_SET64(rec->block, content_bits, KTAPE_BLOCK_HEADER * 8ULL);
	}
	KT_HEAD_SET64(rec->block, discarded,
		      KT_HEAD64(rec->block, discarded) + p->raise);
	ktape_packet_seal(rec->block);
	return kt_ctf_write(rec->ctf, out->file, &pieces);
}

/*
 * Patch the dropped blocks of a file and all later blocks.  No write may be in flight.  Behind a
 * dropped block are only blocks of batches, of one size: copies of packets wait until it is patched.
 */
static void patch_dropped(struct ktape_recorder *rec, struct kt_ring *r,
			  struct kt_out *out)
{
	struct patch p = {
		.offset = out->dropped[0].offset,
		.size = r->block_size,
	};
	size_t i = 0;
	int err = 0;

	for (; p.offset < out->file->size && !err; p.offset += p.size) {
		p.empty = i < out->nr_dropped && out->dropped[i].offset == p.offset;
		if (p.empty)
			p.raise += out->dropped[i++].records;
		err = patch_block(rec, out, &p);
	}
	out->nr_dropped = 0;
	r->reported += p.raise;
	if (err)
		kt_record_fail(rec, err);
}

/* Check whether a file has a block as it was when its checksum was computed. */
static bool is_block_whole(const struct ktape_recorder *rec,
			   const struct kt_out *out, uint64_t offset, size_t size)
{
	const uint8_t *uuid = ktape_device_features(rec->device)->uuid;
	ssize_t len = kt_pread_all(out->file->fd, rec->block, size, offset);
	struct ktape_packet p;

	return len >= 0 && (size_t)len == size &&
	       !ktape_packet_open(&p, rec->block, size, uuid, NULL) &&
	       !p.truncated;
}

/*
 * The ring was taken away while a batch was written: what was written may be zeros, and
 * nothing says whether a block was overwritten before.  Only the checksums do: keep the blocks
 * before the first one that is not whole.
 */
static void keep_whole(struct ktape_recorder *rec, struct kt_ring *r,
		       struct kt_out *out, const struct kt_batch *b)
{
	unsigned int n = 0;

	while (n < b->nr &&
	       is_block_whole(rec, out, b->offset + (uint64_t)n * r->block_size,
			      r->block_size))
		n++;
	uncount_batch(r, b, n);
	rec->bytes += (uint64_t)n * r->block_size;
	kt_record_fail(rec, -ESTALE);
	if (n == b->nr)
		return;
	out->failed = true;
	out->file->size = b->offset + (uint64_t)n * r->block_size;
}

/* Complete a write: count what is in the file, or take back what is not. */
static void finish_batch(struct ktape_recorder *rec, struct kt_ring *r,
			 struct kt_out *out, const struct kt_batch *b)
{
	uint64_t tail = kt_ring_tail(r);

	/* The mapping has no pages any more: a load of ours would get a bus error. */
	if (b->write.result == -EFAULT)
		kt_reader_set_gone(rec->reader);
	if (out->failed) {
		uncount_batch(r, b, 0);
	} else if (kt_reader_is_gone(rec->reader)) {
		keep_whole(rec, r, out, b);
	} else if (b->write.result) {
		kt_record_fail(rec, b->write.result);
		out->failed = true;
		out->file->size = b->offset;
		uncount_batch(r, b, 0);
	} else {
		check_batch(rec, r, out, b, tail);
	}
}

/*
 * Complete the finished writes of a ring, in order.  After the last one in flight, patch the blocks
 * that were dropped.
 */
void kt_record_complete(struct ktape_recorder *rec, unsigned int ring)
{
	struct kt_ring *r = kt_reader_ring(rec->reader, ring);
	struct kt_out *out = &rec->outs[ring];

	while (out->first && out->first->write.done) {
		struct kt_batch *b = out->first;

		out->first = b->next;
		b->next = rec->free;
		rec->free = b;
		/* The rest of a short direct write may not be aligned: use a plain write. */
		if (b->write.result == -EINVAL && out->file->direct)
			b->write.result = kt_ctf_write(rec->ctf, out->file,
						       &b->write.left);
		finish_batch(rec, r, out, b);
		rec->progress = true;
	}
	if (!out->first && out->nr_dropped)
		patch_dropped(rec, r, out);
}
