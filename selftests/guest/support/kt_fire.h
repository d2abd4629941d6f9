/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cause events in known numbers with the helper module kt_fire, and collect
 * from all rings what a session recorded of them.
 */
#ifndef _KT_FIRE_H
#define _KT_FIRE_H

#include <dirent.h>
#include <sys/types.h>

#include "grow.h"
#include "kt_load.h"
#include "kt_module.h"
#include "kt_registry.h"

/* ---- the helper ---------------------------------------------------------- */

/* Modules of the kernel, whose file names begin with their place in the order of loading. */
#define KT_MODULES   "/lib/test-modules"
#define KT_FIRE_PATH "/sys/module/kt_fire/parameters/fire"

static inline int kt_fire_load(void)
{
	const char *tests = getenv("KTAPE_TESTS");
	char path[200];

	/* Remove what a test that died has left behind. */
	kt_rmmod("kt_fire");
	snprintf(path, sizeof(path), "%s/kt_fire.ko", tests ? tests : "/tests");
	return kt_insmod(path, "");
}

/*
 * Load all modules of KT_MODULES with @part in their file names, a module after those that
 * it needs. Return: 0, or the -errno of the last; -ENOENT: no such module.
 */
static inline int kt_modprobe(const char *part)
{
	struct dirent **all;
	int nr = scandir(KT_MODULES, &all, NULL, alphasort), ret = -ENOENT;
	char path[300];

	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), KT_MODULES "/%s", all[i]->d_name);
		if (strstr(all[i]->d_name, part))
			ret = kt_insmod(path, "");
		free(all[i]);
	}
	if (nr >= 0)
		free(all);
	return ret;
}

/*
 * Cause an event @n times. Return: 0 or -errno; -ENOENT: kt_fire cannot cause
 * it.
 */
static inline int kt_fire(const char *name, int n)
{
	int fd = open(KT_FIRE_PATH, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	while (n-- > 0 && !ret)
		ret = pwrite(fd, name, strlen(name), 0) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Return the value that kt_fire stored for the last event. */
static inline unsigned long long kt_fire_number(void)
{
	FILE *f = fopen(KT_FIRE_PATH, "r");
	unsigned long long n = 0;

	if (f && fscanf(f, "%llu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* ---- what was recorded ---------------------------------------------------- */

/**
 * struct kt_hit - a copy of a record
 * @ts: time
 * @cpu: CPU of its ring
 * @kind: kind of its ring
 * @op: opcode
 * @dat20: 20 bits
 * @nargs: words in @args
 * @size: bytes of its blob, -1 = no blob
 * @args: argument words
 * @text: first bytes of the blob, NUL-terminated
 */
struct kt_hit {
	uint64_t ts;
	int cpu, kind;
	uint32_t op, dat20, nargs;
	int size;
	uint32_t args[KTAPE_NARGS_MAX];
	char text[1100];
};

/**
 * struct kt_hits - records in order of time, without those of class control
 * @hit: the records
 * @nr: number of records
 * @room: entries that fit in @hit
 * @lost: number of lost events, and one for each ring that was overwritten
 * @cpu: CPU of the ring that is being walked
 * @kind: kind of the ring that is being walked
 */
struct kt_hits {
	struct kt_hit *hit;
	int nr, room;
	uint64_t lost;
	int cpu, kind;
};

static inline void kt_hits_add(const struct kt_rec *r, void *arg)
{
	struct kt_hits *h = arg;
	struct kt_hit *hit;

	if (r->op < KTAPE_EV_EXCEPTION || r->op == KTAPE_TIME_EXTEND)
		return;
	GROW(h->hit, h->nr, h->room);
	hit = &h->hit[h->nr++];
	memset(hit, 0, sizeof(*hit));
	hit->ts = r->ts;
	hit->cpu = h->cpu;
	hit->kind = h->kind;
	hit->op = r->op;
	hit->dat20 = r->dat20;
	hit->nargs = r->nargs;
	hit->size = r->blob ? (int)r->size : -1;
	memcpy(hit->args, r->args, r->nargs * 4);
	if (r->blob)
		memcpy(hit->text, r->blob,
		       r->size < sizeof(hit->text) ? r->size :
						     sizeof(hit->text) - 1);
}

static inline int kt_hits_by_time(const void *a, const void *b)
{
	const struct kt_hit *x = a, *y = b;

	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

/* Collect the records of a stopped session, and what it has lost. Return: 0 or -errno. */
static inline int kt_hits_take(struct kt_hits *h, int fd)
{
	struct kt_map m;
	long ret;

	memset(h, 0, sizeof(*h));
	for (h->cpu = 0; h->cpu < 64; h->cpu++)
		for (h->kind = 0; h->kind < 2; h->kind++) {
			ret = kt_map_ring(fd, h->cpu, h->kind, &m);
			if (ret == -ENOENT)
				continue;
			if (ret)
				return ret;
			ret = kt_walk(&m, kt_hits_add, h);
			for (int i = 0; i < KTAPE_LOST_REASONS; i++)
				h->lost += kt_sum(m.page->lost[i]);
			h->lost += m.page->tail != 0;
			kt_unmap_ring(&m);
			if (ret < 0)
				return ret;
		}
	qsort(h->hit, h->nr, sizeof(*h->hit), kt_hits_by_time);
	return 0;
}

static inline void kt_hits_free(struct kt_hits *h)
{
	free(h->hit);
	memset(h, 0, sizeof(*h));
}

/* Create and start a session for @ops. Return: its descriptor or -errno. */
static inline int kt_start_recording(const unsigned char *ops)
{
	int fd = kt_session(KTAPE_MODE_DISCARD, 4 << 20, 65536, ops), ret;

	if (fd < 0)
		return fd;
	ret = kt_control(fd, KTAPE_IOC_START);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* Stop the session, collect its records, close it. */
static inline int kt_stop_and_take_hits(struct kt_hits *h, int fd)
{
	int ret = kt_control(fd, KTAPE_IOC_STOP) ?: kt_hits_take(h, fd);

	close(fd);
	return ret;
}

/* Return the 64-bit value in two argument words. */
static inline uint64_t kt_wide(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

/*
 * Return the state of an event on this kernel: enum ktape_event_state or
 * -errno.
 */
static inline int kt_event_state(unsigned int opcode)
{
	struct ktape_event_info e = { .size = sizeof(e), .opcode = opcode };
	int fd = kt_open(O_RDONLY), ret;

	if (fd < 0)
		return fd;
	ret = kt_ioctl(fd, KTAPE_IOC_EVENT_INFO, &e);
	close(fd);
	return ret ? ret : (int)e.state;
}

/*
 * Does the kernel itself say that it has this tracepoint, with this text in the
 * description of its fields?  Not asked of ktape, which is under test.
 */
static inline bool kt_tracefs_has(const char *tracepoint, const char *text)
{
	char path[128], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/format",
		 tracepoint);
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, text);
	if (f)
		fclose(f);
	return found;
}

#endif /* _KT_FIRE_H */
