/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the calls of kt_calls.h use: descriptors, and the module with persistent memory in
 * which an earlier load has left a trace.  selftests/guest/suite reserves that memory.
 * Where there is none, the module refuses the calls that need it, and that refusal counts as
 * success.
 */
#ifndef _KT_CALLS_OPEN_H
#define _KT_CALLS_OPEN_H

#include "kt_persist.h"

static int call_dev, call_fd, call_mark;
static bool call_old; /* calls_load() has loaded the module with an earlier trace */

/* Return 0, or -errno if a system call has returned @ret < 0. */
static int or_errno(long ret)
{
	return ret < 0 ? -errno : 0;
}

/* Close the descriptor that a call has returned. Return: 0, or @ret if that is an error. */
static int close_it(int ret)
{
	if (ret >= 0)
		close(ret);
	return ret < 0 ? ret : 0;
}

/* Return the lowest free descriptor. */
static inline int next_descriptor(void)
{
	int n = dup(call_dev);

	close(n);
	return n;
}

/* Open what the calls use. */
static inline bool calls_open(void)
{
	call_dev = kt_open(O_RDWR);
	call_fd = kt_create(call_dev, KTAPE_MODE_DISCARD, 65536, 4096);
	call_mark = open("/dev/ktape_mark", O_WRONLY | O_CLOEXEC);
	return call_dev >= 0 && call_fd >= 0 && call_mark >= 0;
}

static inline void calls_close(void)
{
	close(call_mark);
	close(call_fd);
	close(call_dev);
}

/*
 * Load the module with an earlier trace, which a first load records, or without if there
 * is no memory for it.  Session 0 of the second load is in ordinary memory, so that
 * do_persist_create() finds the persistent memory free.  Return: 0 or -errno.
 */
static inline int calls_load(void)
{
	int ret = load_ktape(REGION " persist_drop=1");

	if (!ret)
		ret = unload_ktape();
	if (!ret)
		ret = load_ktape(REGION " mode=overwrite");
	call_old = !ret;
	return ret == -EBUSY || ret == -EINVAL ? load_ktape("") : ret;
}

/* ---- calls of persistent memory --------------------------------------------- */

/* Return @ret, but 0 if it is @none because there is no such memory. */
static inline int unless_none(int ret, int none)
{
	return ret == none && !call_old ? 0 : ret;
}

static inline int do_persist_info(void)
{
	struct ktape_persist_info i = { .size = sizeof(i) };

	return kt_ioctl(call_dev, KTAPE_IOC_PERSIST_INFO, &i);
}

static inline int do_persist_read(void)
{
	char bytes[PAGE];
	long ret = read_old(call_dev, 0, bytes, sizeof(bytes));

	return unless_none(ret < 0 ? ret : 0, -ENODATA);
}

static inline int do_persist_create(void)
{
	int ret = kt_create(call_dev, KTAPE_MODE_PERSISTENT, 4 * PAGE, PAGE);

	return unless_none(close_it(ret), -ENODEV);
}

/* Load the module again if its earlier trace was dropped, to have another one. */
static inline void before_drop(void)
{
	struct ktape_persist_info i = { .size = sizeof(i) };

	if (!call_old || kt_ioctl(call_dev, KTAPE_IOC_PERSIST_INFO, &i) || i.old_size)
		return;
	calls_close();
	if (unload_ktape() || calls_load() || !calls_open())
		printf("# the module cannot be loaded again\n");
}

static inline int do_persist_drop(void)
{
	return unless_none(kt_control(call_dev, KTAPE_IOC_PERSIST_DROP), -ENODATA);
}

#endif /* _KT_CALLS_OPEN_H */
