// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files and folders under temporary names.  Those of this process are in a table, so
 * that a signal handler removes them and nothing else: a name does not tell whose it
 * is, since processes of two containers may have one number and write to one folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "temp.h"

#define MODE_DIR	0777
#define ENTRIES		2048U		/* bytes of entries at a time */
#define SLOTS		16		/* outputs at a time; others are not swept */

/* As getdents64(2) has it, which has no declaration. */
struct entry {
	uint64_t ino;
	int64_t off;
	uint16_t len;
	uint8_t type;
	char name[];
};

enum { SLOT_FREE, SLOT_TAKEN, SLOT_FILLED };

/**
 * struct slot - a temporary name
 * @state: FILLED: the rest is valid
 * @owner: who made it: a child does not sweep what its parent writes
 * @folder: where it is
 * @name: the name in there
 */
struct slot {
	int state;
	pid_t owner;
	int folder;
	char name[KT_TEMP_NAME];
};

static struct slot slots[SLOTS];

/**
 * kt_temp_is_name() - is it a temporary name, of any process?
 * @name: the name
 *
 * Return: true if it is.
 */
bool kt_temp_is_name(const char *name)
{
	return !strncmp(name, KT_TEMP_PREFIX, strlen(KT_TEMP_PREFIX));
}

static void fill_slot(int folder, const char *name)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *s = &slots[i];
		int want = SLOT_FREE;

		if (!__atomic_compare_exchange_n(&s->state, &want, SLOT_TAKEN,
						 false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		s->owner = getpid();
		s->folder = folder;
		memcpy(s->name, name, KT_TEMP_NAME);
		/* Pairs with the acquire in kt_temp_sweep(). */
		__atomic_store_n(&s->state, SLOT_FILLED, __ATOMIC_RELEASE);
		return;
	}
}

/* Return: a descriptor, or negative errno. */
static int make(int folder, const char *name, bool is_folder, unsigned int mode)
{
	const int flags = O_CLOEXEC | O_NOFOLLOW;
	int fd, err;

	if (!is_folder) {
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | flags,
			    mode);
		return fd < 0 ? -errno : fd;
	}
	if (mkdirat(folder, name, mode))
		return -errno;
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | flags);
	if (fd < 0) {
		err = -errno;
		unlinkat(folder, name, AT_REMOVEDIR);
		return err;
	}
	return fd;
}

static int make_any(int folder, char name[KT_TEMP_NAME], bool is_folder,
		    unsigned int mode)
{
	sigset_t before;
	int fd = -EEXIST;

	/* A signal finds it in the table as soon as it is there. */
	kt_temp_hold(&before);
	for (unsigned int nr = 0; fd == -EEXIST; nr++) {
		memset(name, 0, KT_TEMP_NAME);
		snprintf(name, KT_TEMP_NAME, KT_TEMP_PREFIX "%ld-%u",
			 (long)getpid(), nr);
		fd = make(folder, name, is_folder, mode);
	}
	if (fd >= 0)
		fill_slot(folder, name);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

/**
 * kt_temp_file() - make a file of a new temporary name
 * @folder: where; it stays open until kt_temp_forget()
 * @name: set to its name in there
 * @mode: as in open(2)
 *
 * Return: its descriptor, to be written to, or negative errno.
 */
int kt_temp_file(int folder, char name[KT_TEMP_NAME], unsigned int mode)
{
	return make_any(folder, name, false, mode);
}

/**
 * kt_temp_folder() - make a folder of a new temporary name
 * @folder: where; it stays open until kt_temp_forget()
 * @name: set to its name in there
 *
 * Return: its descriptor, or negative errno.
 */
int kt_temp_folder(int folder, char name[KT_TEMP_NAME])
{
	return make_any(folder, name, true, MODE_DIR);
}

/**
 * kt_temp_forget() - a signal no longer removes it
 * @folder: where it is or was
 * @name: its temporary name
 */
void kt_temp_forget(int folder, const char *name)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *s = &slots[i];

		/* Pairs with the release in fill_slot(), by another thread. */
		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) ==
			    SLOT_FILLED &&
		    s->folder == folder && !strcmp(s->name, name))
			__atomic_store_n(&s->state, SLOT_FREE,
					 __ATOMIC_RELEASE);
	}
}

/**
 * kt_temp_hold() - let signals wait, so that none ends us between two renames
 * @before: filled, for sigprocmask(2) behind them
 */
void kt_temp_hold(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, before);
}

/* The files in a folder: folders in it are not ours and stay. */
static void remove_files(int folder)
{
	_Alignas(struct entry) char data[ENTRIES];
	long size, at;

	while ((size = syscall(SYS_getdents64, folder, data, sizeof(data))) >
	       0) {
		for (at = 0; at < size;) {
			const struct entry *e = (const void *)(data + at);

			at += e->len;
			unlinkat(folder, e->name, 0);
		}
	}
}

static void remove_slot(const struct slot *s)
{
	int inner;

	if (!unlinkat(s->folder, s->name, 0))
		return;
	inner = openat(s->folder, s->name,
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (inner < 0)
		return;
	remove_files(inner);
	close(inner);
	unlinkat(s->folder, s->name, AT_REMOVEDIR);
}

/**
 * kt_temp_sweep() - remove all that this process has under a temporary name
 *
 * It may be called from a signal handler.
 */
void kt_temp_sweep(void)
{
	int saved = errno;

	for (size_t i = 0; i < SLOTS; i++) {
		/* Pairs with the release in fill_slot(). */
		if (__atomic_load_n(&slots[i].state, __ATOMIC_ACQUIRE) ==
			    SLOT_FILLED &&
		    slots[i].owner == getpid())
			remove_slot(&slots[i]);
	}
	errno = saved;
}
