/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run scenes of hostile input, each in a process of its own, and measure memory
 * (peak RSS, reported by the kernel) and work (branches in libktape, which is
 * compiled to call __sanitizer_cov_trace_pc() at each).
 */
#ifndef _LIB_BOUNDS_H
#define _LIB_BOUNDS_H

#include <sys/resource.h>
#include <sys/wait.h>

#include <ktape/formats.h>

#include "lib_codec.h"
#include "tap.h"

#define MIB (1U << 10) /* in KiB */

void __sanitizer_cov_trace_pc(void);

static uint64_t work;

void __sanitizer_cov_trace_pc(void)
{
	work++;
}

/*
 * Cost of a scene; @left is the number of things that libktape reported as left
 * out.
 */
struct took {
	uint64_t work;
	uint64_t left;
	long kib;
	int status;
};

typedef uint64_t scene_fn(uint64_t n);

static struct took run_scene(scene_fn *scene, uint64_t n)
{
	struct took took = { .status = -1 };
	uint64_t reported[2] = { 0, 0 };
	struct rusage usage;
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		return took;
	pid = fork();
	if (!pid) {
		work = 0;
		reported[1] = scene(n);
		reported[0] = work;
		_exit(write(fds[1], reported, sizeof(reported)) != sizeof(reported));
	}
	close(fds[1]);
	if (read(fds[0], reported, sizeof(reported)) != sizeof(reported))
		reported[0] = 0;
	close(fds[0]);
	wait4(pid, &took.status, 0, &usage);
	took.work = reported[0];
	took.left = reported[1];
	took.kib = usage.ru_maxrss;
	return took;
}

/* Check that a scene takes at most @kib; @reported: and that libktape left something out. */
static void check_scene_memory(const char *what, scene_fn *scene, uint64_t n,
			       long kib, bool reported)
{
	struct took took = run_scene(scene, n);

	check(!took.status, "%s: status %x", what, took.status);
	check(took.kib <= kib, "%s: %ld KiB, not %ld", what, took.kib, kib);
	check(!reported || took.left, "%s: no omission is reported", what);
}

/*
 * Check that work grows with the input, not with its square: twice the input may take up to
 * three times the work, because tables grow by doubling, and not four times.
 */
static void check_work(const char *what, scene_fn *scene, uint64_t n)
{
	struct took one = run_scene(scene, n), two = run_scene(scene, 2 * n);

	check(!one.status && !two.status, "%s: status %x, %x", what, one.status,
	      two.status);
	check(one.work > n, "%s: %llu branches are counted", what,
	      (unsigned long long)one.work);
	check(two.work <= one.work * 3,
	      "%s: %llu branches, and of twice as much %llu", what,
	      (unsigned long long)one.work, (unsigned long long)two.work);
}

static void must_succeed(int err)
{
	if (err < 0)
		abort();
}

static const struct ktape_info bounds_info = {
	.freq = 1000000000,
	.machine = "x86_64",
};

/* ---- events ------------------------------------------------------------------------ */

static struct ktape_event event_of(uint8_t opcode, uint8_t nargs,
				   const uint32_t *args, uint64_t ts)
{
	return (struct ktape_event){
		.ts = ts,
		.args = args,
		.nargs = nargs,
		.opcode = opcode,
		.known = true,
		.tid = 1,
		.size = 8 + nargs * 4U,
	};
}

__attribute__((unused)) static struct ktape_event
name_event_of(const uint32_t args[7], uint32_t type, uint64_t ts)
{
	struct ktape_event e = event_of(KTAPE_EV_REGISTRY, 7, args, ts);

	e.dat20 = type;
	e.blob = "name";
	e.blob_size = 4;
	e.kind = KTAPE_RING_REGISTRY;
	e.tid = -1;
	return e;
}

#endif /* _LIB_BOUNDS_H */
