/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fragment the memory of the machine: pipes hold all of it, then every other pipe gives back
 * its pages, which lie between those of the others.  So hardly any piece of memory is as
 * large as a block of a ring.
 *
 * A run is the number of pages that one pipe takes before the other one does.  With runs of
 * one page even pieces of two are rare.  Then no process can be made: the kernel needs
 * pieces of several pages for it, and kills others until it gets them.  With runs of 8 there
 * are enough of these.
 */
#ifndef _KT_FRAGMENT_H
#define _KT_FRAGMENT_H

#include <fcntl.h>
#include <sys/resource.h>

#include "kt.h"

#define KTG_PIPE_PAGES 256 /* pages that a pipe holds */
#define KTG_RUN	       8   /* pages, for tests that start processes */
#define KTG_PIPES_MAX  8192
#define KTG_LEFT_KIB   (32 * 1024) /* memory that the pipes leave */

/* @nr pipes that hold pages, and @nr pipes that held those between them. */
struct ktg_pipes {
	int kept[KTG_PIPES_MAX][2];
	int freed[KTG_PIPES_MAX][2];
	int nr;
};

/* Return the free memory in pieces of at least @block KiB, in KiB. */
static inline long ktg_whole_kib(unsigned long block)
{
	FILE *f = fopen("/proc/buddyinfo", "re");
	unsigned long kib = 0, n;
	char line[512], *p;
	int order, used;

	while (f && fgets(line, sizeof(line), f)) {
		p = strstr(line, "zone");
		if (!p || sscanf(p, "zone %*s%n", &used) < 0)
			continue;
		p += used;
		for (order = 0; sscanf(p, "%lu%n", &n, &used) == 1; order++) {
			if (4UL << order >= block)
				kib += n * (4UL << order);
			p += used;
		}
	}
	if (f)
		fclose(f);
	return (long)kib;
}

static inline int ktg_make_pipe(int p[2])
{
	/* O_DIRECT: each write takes a page. */
	if (pipe2(p, O_NONBLOCK | O_DIRECT | O_CLOEXEC))
		return -errno;
	if (fcntl(p[1], F_SETPIPE_SZ, KTG_PIPE_PAGES * 4096) < 0)
		return -errno;
	return 0;
}

static inline void ktg_close(int p[][2], int nr)
{
	for (int i = 0; i < nr; i++) {
		if (p[i][0] <= 0)
			continue;
		close(p[i][0]);
		close(p[i][1]);
		p[i][0] = 0;
	}
}

/* Write @nr pages into a pipe. Return: 0 or -errno. */
static inline int ktg_fill(int fd, int nr)
{
	for (int i = 0; i < nr; i++)
		if (write(fd, "k", 1) != 1)
			return -errno;
	return 0;
}

/*
 * Take all memory but KTG_LEFT_KIB by single pages, then free every other run of @run
 * pages. Return: 0, or -errno; then some pipes may stay open until the process ends.
 */
static inline int ktg_fragment(struct ktg_pipes *g, int run)
{
	const struct rlimit files = { 4 * KTG_PIPES_MAX, 4 * KTG_PIPES_MAX };

	if (setrlimit(RLIMIT_NOFILE, &files))
		return -errno;
	while (g->nr < KTG_PIPES_MAX && kt_meminfo("MemFree") > KTG_LEFT_KIB) {
		int ret = ktg_make_pipe(g->kept[g->nr]) ?:
				  ktg_make_pipe(g->freed[g->nr]);

		for (int i = 0; !ret && i < KTG_PIPE_PAGES; i += run)
			ret = ktg_fill(g->kept[g->nr][1], run) ?:
				      ktg_fill(g->freed[g->nr][1], run);
		if (ret)
			return ret;
		g->nr++;
	}
	ktg_close(g->freed, g->nr);
	return 0;
}

static inline void ktg_release(struct ktg_pipes *g)
{
	ktg_close(g->kept, g->nr);
	g->nr = 0;
}

#endif /* _KT_FRAGMENT_H */
