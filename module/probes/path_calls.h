/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system calls that are given a path, one list for each system call table.
 *
 * selftests/unit/module/probes/t_path_calls.sh compares the numbers with those of
 * x86, arm64 and riscv.  It includes this header alone, so the header uses none of
 * the module's.
 */
#ifndef _KT_PATH_CALLS_H
#define _KT_PATH_CALLS_H

#include <linux/types.h>

/**
 * struct kt_path_call - a system call that is given a path
 * @nr: number of the system call
 * @arg: number of the argument that is the path, from 0
 */
struct kt_path_call {
	__u16 nr;
	__u16 arg;
};

/* Newer architectures lack the older system calls. */
static const struct kt_path_call kt_path_native[] = {
	{ __NR_execve, 0 }, { __NR_execveat, 1 },
	{ __NR_openat, 1 }, { __NR_openat2, 1 },
#ifdef __NR_open
	{ __NR_open, 0 },
#endif
#ifdef __NR_creat
	{ __NR_creat, 0 },
#endif
};

#if defined(CONFIG_X86)
/* x32: only the numbers that differ from the native ones. */
static const struct kt_path_call kt_path_x32[] = {
	{ 520, 0 }, /* execve */
	{ 545, 1 }, /* execveat */
};
#endif

/*
 * Compat: 32-bit programs under a 64-bit kernel.  On riscv (generic table) and
 * powerpc (one table) they use the native numbers.  On architectures that are not
 * listed (mips has two compat tables) their paths are not recorded, because with
 * a wrong number any argument would be taken for a path.
 */
#if defined(CONFIG_X86)
#define KT_PATH_COMPAT kt_path_compat
static const struct kt_path_call kt_path_compat[] = {
	{ 5, 0 },   /* open */
	{ 8, 0 },   /* creat */
	{ 11, 0 },  /* execve */
	{ 295, 1 }, /* openat */
	{ 358, 1 }, /* execveat */
	{ 437, 1 }, /* openat2 */
};
#elif defined(CONFIG_ARM64)
#define KT_PATH_COMPAT kt_path_compat
static const struct kt_path_call kt_path_compat[] = {
	{ 5, 0 },   /* open */
	{ 8, 0 },   /* creat */
	{ 11, 0 },  /* execve */
	{ 322, 1 }, /* openat */
	{ 387, 1 }, /* execveat */
	{ 437, 1 }, /* openat2 */
};
#elif defined(CONFIG_RISCV) || defined(CONFIG_PPC)
#define KT_PATH_COMPAT kt_path_native
#endif

#endif /* _KT_PATH_CALLS_H */
