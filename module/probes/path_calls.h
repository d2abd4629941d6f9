/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system calls that are given a path, by table.  Its test holds the numbers to
 * those of x86, arm64 and riscv, so it needs none of the module's headers.
 */
#ifndef _KT_PATH_CALLS_H
#define _KT_PATH_CALLS_H

#include <linux/types.h>

/**
 * struct kt_path_call - a system call that is given a path
 * @nr: its number
 * @arg: which argument is the path
 */
struct kt_path_call {
	__u16 nr;
	__u16 arg;
};

/* Not every architecture has the older ones. */
static const struct kt_path_call kt_path_native[] = {
	{ __NR_execve, 0 },
	{ __NR_execveat, 1 },
	{ __NR_openat, 1 },
	{ __NR_openat2, 1 },
#ifdef __NR_open
	{ __NR_open, 0 },
#endif
#ifdef __NR_creat
	{ __NR_creat, 0 },
#endif
};

#if defined(CONFIG_X86)
/* The numbers of x32 that differ. */
static const struct kt_path_call kt_path_x32[] = {
	{ 520, 0 },	/* execve */
	{ 545, 1 },	/* execveat */
};
#endif

/*
 * The table of 32-bit programs under a 64-bit kernel.  Where such programs have the
 * native numbers, as by the generic table of riscv and the one table of powerpc,
 * it is the native one.  On other architectures (mips has two such tables) these
 * programs' paths are not recorded: a wrong number would take any word for a path.
 */
#if defined(CONFIG_X86)
#define KT_PATH_COMPAT		kt_path_compat
static const struct kt_path_call kt_path_compat[] = {
	{ 5, 0 },	/* open */
	{ 8, 0 },	/* creat */
	{ 11, 0 },	/* execve */
	{ 295, 1 },	/* openat */
	{ 358, 1 },	/* execveat */
	{ 437, 1 },	/* openat2 */
};
#elif defined(CONFIG_ARM64)
#define KT_PATH_COMPAT		kt_path_compat
static const struct kt_path_call kt_path_compat[] = {
	{ 5, 0 },	/* open */
	{ 8, 0 },	/* creat */
	{ 11, 0 },	/* execve */
	{ 322, 1 },	/* openat */
	{ 387, 1 },	/* execveat */
	{ 437, 1 },	/* openat2 */
};
#elif defined(CONFIG_RISCV) || defined(CONFIG_PPC)
#define KT_PATH_COMPAT		kt_path_native
#endif

#endif /* _KT_PATH_CALLS_H */
