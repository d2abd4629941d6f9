// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Temporary names carry the number of the process, so that a signal handler finds
 * those of its own process without a list of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "temp.h"

#define ENTRIES		2048U		/* bytes of entries at a time */

/* As getdents64(2) has it, which has no declaration. */
struct entry {
	uint64_t ino;
	int64_t off;
	uint16_t len;
	uint8_t type;
	char name[];
};

/**
 * kt_temp_name() - a name that no other process uses
 * @name: filled
 * @nr: another number, another name
 */
void kt_temp_name(char name[KT_TEMP_NAME], unsigned int nr)
{
	snprintf(name, KT_TEMP_NAME, KT_TEMP_PREFIX "%ld-%u", (long)getpid(),
		 nr);
}

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

/* Names of this process begin so; snprintf() is not for signal handlers. */
static size_t put_prefix(char text[KT_TEMP_NAME])
{
	size_t len = strlen(KT_TEMP_PREFIX), digits = 0;
	long pid = getpid();

	memcpy(text, KT_TEMP_PREFIX, len);
	for (long v = pid; v; v /= 10)
		digits++;
	for (size_t i = digits; i; i--, pid /= 10)
		text[len + i - 1] = (char)('0' + pid % 10);
	text[len + digits] = '-';
	return len + digits + 1;
}

static void remove_entry(int folder, const char *name);

/* Remove what begins with @prefix; only in the outermost folder is there one. */
static void remove_entries(int folder, const char *prefix, size_t len)
{
	_Alignas(struct entry) char data[ENTRIES];
	long size, at;

	while ((size = syscall(SYS_getdents64, folder, data, sizeof(data))) >
	       0) {
		for (at = 0; at < size;) {
			const struct entry *e = (const void *)(data + at);

			at += e->len;
			if (!strcmp(e->name, ".") || !strcmp(e->name, ".."))
				continue;
			if (!strncmp(e->name, prefix, len))
				remove_entry(folder, e->name);
		}
	}
}

/* A file, or a folder of files: there are none with folders in them. */
static void remove_entry(int folder, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int inner;

	if (!unlinkat(folder, name, 0))
		return;
	inner = openat(folder, name, flags);
	if (inner < 0)
		return;
	remove_entries(inner, "", 0);
	close(inner);
	unlinkat(folder, name, AT_REMOVEDIR);
}

/**
 * kt_temp_sweep() - remove all temporary files and folders of this process
 * @folder: where they are; nothing happens if there is no such folder
 *
 * It may be called from a signal handler.
 */
void kt_temp_sweep(const char *folder)
{
	int saved = errno;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char prefix[KT_TEMP_NAME];

	if (fd >= 0) {
		remove_entries(fd, prefix, put_prefix(prefix));
		close(fd);
	}
	errno = saved;
}
