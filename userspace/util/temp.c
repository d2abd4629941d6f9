// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Create files and folders with temporary names, and remove them from a signal handler.
 *
 * The names of this process are kept in a table, so that the handler removes these and
 * nothing else.  The name alone does not identify the process: two containers may have
 * processes with the same number that write to the same folder.
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

#define MODE_DIR 0777
#define ENTRIES	 2048U /* bytes of directory entries read at a time */
#define SLOTS \
	16 /* most outputs at a time; others are not removed by a signal */

/* Entry of getdents64(2), which has no declaration in libc. */
struct entry {
	uint64_t ino;
	int64_t off;
	uint16_t len;
	uint8_t type;
	char name[];
};

/* TAKEN: a thread is filling it. */
enum { SLOT_FREE, SLOT_TAKEN, SLOT_FILLED };

/**
 * struct slot - a temporary name
 * @state: SLOT_FILLED = the other members are valid
 * @owner: process that created the name; a forked child must not remove it
 * @folder: descriptor of the folder
 * @name: name in the folder
 */
struct slot {
	int state;
	pid_t owner;
	int folder;
	char name[KT_TEMP_NAME];
};

static struct slot slots[SLOTS];

/**
 * kt_temp_is_name() - Check for a temporary name of any process
 * @name: the name
 *
 * Return: true if it is a temporary name.
 */
bool kt_temp_is_name(const char *name)
{
	return !strncmp(name, KT_TEMP_PREFIX, strlen(KT_TEMP_PREFIX));
}

/* Put a name into the table.  If that is full, no signal removes what has the name. */
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

/* Create a file or folder.  Return: descriptor, or negative errno. */
static int make_entry(int folder, const char *name, bool is_folder, unsigned int mode)
{
	const int flags = O_CLOEXEC | O_NOFOLLOW;
	int fd, err;

	if (!is_folder) {
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | flags, mode);
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

/*
 * Create a file or folder with the first temporary name of this process that is free, and put the
 * name into the table.  Return: descriptor, or negative errno.
 */
static int make_temp(int folder, char name[KT_TEMP_NAME], bool is_folder,
		     unsigned int mode)
{
	sigset_t before;
	int fd = -EEXIST;

	/* No signal between creating it and adding it to the table. */
	kt_temp_hold(&before);
	for (unsigned int nr = 0; fd == -EEXIST; nr++) {
		memset(name, 0, KT_TEMP_NAME);
		snprintf(name, KT_TEMP_NAME, KT_TEMP_PREFIX "%ld-%u",
			 (long)getpid(), nr);
		fd = make_entry(folder, name, is_folder, mode);
	}
	if (fd >= 0)
		fill_slot(folder, name);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

/**
 * kt_temp_file() - Create a file with a temporary name
 * @folder: descriptor of the folder; must stay open until kt_temp_forget()
 * @name: set to the name in the folder
 * @mode: permissions, as in open(2)
 *
 * Return: descriptor for writing, or negative errno.
 */
int kt_temp_file(int folder, char name[KT_TEMP_NAME], unsigned int mode)
{
	return make_temp(folder, name, false, mode);
}

/**
 * kt_temp_folder() - Create a folder with a temporary name
 * @folder: descriptor of the folder around it; must stay open until kt_temp_forget()
 * @name: set to the name in @folder
 *
 * Return: descriptor, or negative errno.
 */
int kt_temp_folder(int folder, char name[KT_TEMP_NAME])
{
	return make_temp(folder, name, true, MODE_DIR);
}

/**
 * kt_temp_forget() - Take a name out of the table, so that no signal removes it
 * @folder: descriptor of the folder
 * @name: the temporary name
 */
void kt_temp_forget(int folder, const char *name)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *s = &slots[i];

		/* Pairs with the release in fill_slot(), by another thread. */
		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == SLOT_FILLED &&
		    s->folder == folder && !strcmp(s->name, name))
			__atomic_store_n(&s->state, SLOT_FREE, __ATOMIC_RELEASE);
	}
}

/**
 * kt_temp_hold() - Block signals, for example between two renames
 * @before: set to the previous mask, to be restored with sigprocmask(2)
 */
void kt_temp_hold(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, before);
}

/* Remove the files in a folder, but no folders: ktape creates none inside it. */
static void remove_files(int folder)
{
	_Alignas(struct entry) char data[ENTRIES];
	long size, at;

	while ((size = syscall(SYS_getdents64, folder, data, sizeof(data))) > 0) {
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
 * kt_temp_sweep() - Remove all temporary files and folders of this process
 *
 * May be called from a signal handler.
 */
void kt_temp_sweep(void)
{
	int saved = errno;

	for (size_t i = 0; i < SLOTS; i++) {
		/* Pairs with the release in fill_slot(). */
		if (__atomic_load_n(&slots[i].state, __ATOMIC_ACQUIRE) == SLOT_FILLED &&
		    slots[i].owner == getpid())
			remove_slot(&slots[i]);
	}
	errno = saved;
}
