/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Make the kernel fail on demand in this thread: the nth allocation, by the kernel's
 * fault injection, or the nth access to the program's memory, by the module kt_copy.
 */
#ifndef _KT_FAIL_H
#define _KT_FAIL_H

#include "kt.h"
#include "kt_module.h"

#define KT_FAULTS "/sys/kernel/debug/"

/*
 * The file that takes n. Reading it returns how many allocations or accesses are left until
 * that one, 0: it has failed.
 */
static const char *kt_fail_path = "/proc/self/fail-nth";

/* Make the @nth allocation or access of this thread from here on fail; 0: none. */
static inline int kt_fail_nth(int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", nth);
	return kt_write_text(kt_fail_path, text);
}

/*
 * Return true if the call that was tested ended before its nth allocation or access.  Then
 * the failure hits open() or read() here, or some are still left.
 */
static inline bool kt_fail_not_reached(void)
{
	int f = open(kt_fail_path, O_RDONLY | O_CLOEXEC);
	char text[16] = "";
	ssize_t n;

	if (f < 0)
		return true;
	n = read(f, text, sizeof(text) - 1);
	close(f);
	return n < 0 || atoi(text) > 0;
}

/*
 * Let allocations fail, also those that may sleep, pages as well as slabs.
 * Return: false if the kernel cannot do that.
 */
static inline bool kt_fail_allocations(void)
{
	if (access(kt_fail_path, W_OK))
		return false;
	kt_write_text(KT_FAULTS "failslab/ignore-gfp-wait", "N");
	kt_write_text(KT_FAULTS "fail_page_alloc/ignore-gfp-wait", "N");
	kt_write_text(KT_FAULTS "fail_page_alloc/min-order", "0");
	return true;
}

#define KT_COPY "/sys/module/kt_copy/parameters/"

/* Let accesses fail instead.  Return: false if that cannot be done here. */
static inline bool kt_fail_accesses(void)
{
	const char *folder = getenv("KTAPE_TESTS");
	char path[256];

	snprintf(path, sizeof(path), "%s/kt_copy.ko", folder ? folder : "/tests");
	if (kt_insmod(path, ""))
		return false;
	kt_fail_path = KT_COPY "nth";
	return true;
}

/* Get how many accesses of each kind have failed, "2 get_user, 1 copy_to_user". */
static inline void kt_fail_kinds(char *text, size_t size)
{
	int f = open(KT_COPY "failed", O_RDONLY | O_CLOEXEC);
	ssize_t n = f < 0 ? -1 : read(f, text, size - 1);

	text[n > 0 ? n - 1 : 0] = '\0';
	if (f >= 0)
		close(f);
}

#endif /* _KT_FAIL_H */
