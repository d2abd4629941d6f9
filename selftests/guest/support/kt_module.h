/* SPDX-License-Identifier: GPL-2.0-only */
/* Load and unload modules by system calls, without starting a process. */
#ifndef _KT_MODULE_H
#define _KT_MODULE_H

#include "kt.h"

/* Return: 0 or -errno. */
static inline int kt_insmod(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

/* Return: 0 or -errno. */
static inline int kt_rmmod(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

/* Load ktape.ko. Return: 0 or -errno. */
static inline int kt_insmod_ktape(const char *parameters)
{
	const char *path = getenv("KTAPE_MODULE");

	return kt_insmod(path ? path : "/ktape.ko", parameters);
}

/*
 * Unload ktape. Probes that are about to be detached, and files that are being closed,
 * still hold the module. Return: 0 or -errno.
 */
static inline int kt_rmmod_ktape(void)
{
	int ret;

	for (int i = 0; i < 100 * kt_scale(); i++) {
		ret = kt_rmmod("ktape");
		if (ret != -EAGAIN && ret != -EBUSY)
			break;
		usleep(50000);
	}
	return ret;
}

/* Return how many references to ktape there are, of open files and of other modules, or -1. */
static inline long kt_module_users(void)
{
	FILE *f = fopen("/sys/module/ktape/refcnt", "r");
	long n = -1;

	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

/* Expedite RCU grace periods: loading and unloading a module takes several. */
static inline void kt_expedite(bool on)
{
	kt_write_text("/sys/kernel/rcu_expedited", on ? "1" : "0");
}

#endif /* _KT_MODULE_H */
