/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record what modules and programs emit: a session with only these events, its
 * records as read() returns them, and the helper modules.
 */
#ifndef _KT_EMIT_H
#define _KT_EMIT_H

#include <ktape_mark.h>

#include "kt_load.h"
#include "kt_module.h"
#include "kt_stream.h"

#define KT_EMIT_MAX   8192
#define KT_EMIT_BYTES 1100

/**
 * struct kt_emit_rec - a record of read(), or one that is expected
 * @op: opcode
 * @dat20: 20 bits
 * @nargs: words in @args
 * @args: argument words
 * @size: bytes at @blob
 * @blob: bytes after the argument words
 */
struct kt_emit_rec {
	uint32_t op, dat20, nargs, args[7], size;
	char blob[KT_EMIT_BYTES];
};

/**
 * struct kt_emit_recs - records in the order of their ring
 * @nr: number of records
 * @v: the records
 * @error: first error of the stream's parser, "" = none
 */
struct kt_emit_recs {
	size_t nr;
	struct kt_emit_rec v[KT_EMIT_MAX];
	char error[200];
};

/* All events that modules and programs emit: opcodes 16 to 25. */
#define KT_EMITTED                                                         \
	KT_OPS(KTAPE_EV_EXCEPTION, KTAPE_EV_MARK, KTAPE_EV_MARK_BEGIN,     \
	       KTAPE_EV_MARK_END, KTAPE_EV_MARK_VALUE, KTAPE_EV_ISR_ENTER, \
	       KTAPE_EV_ISR_EXIT, KTAPE_EV_USER_EVENT, KTAPE_EV_TEXT,      \
	       KTAPE_EV_TRACE_EVENT)

/* Create and start a session that records KT_EMITTED. */
static inline int kt_emit_session(uint64_t ring)
{
	int fd = kt_session(KTAPE_MODE_OVERWRITE, ring, 0, KT_EMITTED);
	int ret = fd < 0 ? fd : kt_control(fd, KTAPE_IOC_START);

	if (fd >= 0 && ret)
		close(fd);
	return ret ? ret : fd;
}

static inline void kt_emit_record(const struct ktape_block *b,
				  const struct kt_rec *r, void *arg)
{
	struct kt_emit_recs *s = arg;
	struct kt_emit_rec *to = &s->v[s->nr];

	if (r->op < KTAPE_OP_EXCEPTION || r->op >= KTAPE_OP_KERNEL ||
	    s->nr == KT_EMIT_MAX)
		return;
	memset(to, 0, sizeof(*to));
	to->op = r->op;
	to->dat20 = r->dat20;
	to->nargs = r->nargs;
	to->size = r->size;
	memcpy(to->args, r->args, r->nargs * 4);
	if (r->size <= sizeof(to->blob))
		memcpy(to->blob, r->blob, r->size);
	s->nr++;
}

/*
 * Stop session @fd and read its records: the first KT_EMIT_MAX, without blobs of more than
 * KT_EMIT_BYTES. An error of the parse is in @s->error only. Return: 0 or -errno.
 */
static inline int kt_emit_collect(int fd, struct kt_emit_recs *s)
{
	static struct kts t;
	struct kt_buf b = { 0 };
	ssize_t ret = kt_control(fd, KTAPE_IOC_STOP);

	s->nr = 0;
	if (!ret)
		ret = kt_slurp(&b, fd, 1 << 20);
	memset(&t, 0, sizeof(t));
	t.record = kt_emit_record;
	t.arg = s;
	if (!ret && kts_feed(&t, b.p, b.len) != b.len && !t.error[0])
		ret = -EBADMSG;
	memcpy(s->error, t.error, sizeof(s->error));
	kt_buf_free(&b);
	return ret;
}

/*
 * Compare the exceptions, or all other records, with the table @want, which ends with
 * opcode 0. Return: number of records, or -1 - the index of the first that differs or is
 * missing.
 */
static inline int kt_emit_compare(const struct kt_emit_recs *s, bool exceptions,
				  const struct kt_emit_rec *want)
{
	int n = 0;

	for (size_t i = 0; i < s->nr; i++) {
		const struct kt_emit_rec *v = &s->v[i];

		if ((v->op == KTAPE_EV_EXCEPTION) != exceptions)
			continue;
		if (memcmp(v, &want[n], sizeof(*v))) {
			printf("# record %d: opcode %u dat20 %x nargs %u args %x %x %x size %u, wanted %u %x %u %x %x %x %u\n",
			       n, v->op, v->dat20, v->nargs, v->args[0],
			       v->args[1], v->args[2], v->size, want[n].op,
			       want[n].dat20, want[n].nargs, want[n].args[0],
			       want[n].args[1], want[n].args[2], want[n].size);
			return -1 - n;
		}
		n++;
	}
	return want[n].op ? -1 - n : n;
}

/* Count the records of opcode @op, with id @id unless that is 0. */
static inline int kt_emit_count(const struct kt_emit_recs *s, uint32_t op,
				uint32_t id)
{
	int n = 0;

	for (size_t i = 0; i < s->nr; i++)
		n += s->v[i].op == op && (!id || s->v[i].args[0] == id);
	return n;
}

/*
 * Add up a session's counts of class user over all CPUs: emitted events, and those lost by
 * the rate limit. Return: 0 or -errno.
 */
static inline int kt_emit_counts(int fd, uint64_t *emitted, uint64_t *rate)
{
	struct ktape_stats st;
	int ret = 0;

	*emitted = 0;
	*rate = 0;
	for (int cpu = 0; cpu < kt_online_cpus() && !ret; cpu++) {
		ret = kt_stats(fd, cpu, KTAPE_RING_EVENT, &st);
		*emitted += st.emitted[KTAPE_CLASS_USER];
		*rate += st.lost[KTAPE_LOST_RATE][KTAPE_CLASS_USER];
	}
	return ret;
}

/* ---- the helper modules ----------------------------------------------------- */

/* Return a counter of a helper module, or a negative errno. */
static inline int kt_parameter(const char *module, const char *name)
{
	char path[96], text[16] = "";
	int fd, n;

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", module, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n < 0 ? -errno : atoi(text);
}

/* ---- names ------------------------------------------------------------------ */

/* Copy the live object's entry from the mapped registry. Return: false: @to has no such entry. */
static inline bool kt_copy_object(int fd, uint32_t type, uint32_t id,
				  struct ktape_object_entry *to)
{
	struct ktape_layout_entry e;
	bool found = false;
	const struct ktape_object_entry *v;

	if (kt_region(fd, -1, KTAPE_RING_REGISTRY, &e))
		return false;
	v = mmap(NULL, e.data_size, PROT_READ, MAP_SHARED, fd, e.offset);
	if (v == MAP_FAILED)
		return false;
	for (size_t i = 0; i < e.data_size / sizeof(*v) && !found; i++) {
		*to = v[i];
		found = to->type == type && to->id == id && !to->died;
	}
	munmap((void *)v, e.data_size);
	return found;
}

#endif /* _KT_EMIT_H */
