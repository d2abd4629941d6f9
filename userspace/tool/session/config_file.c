// SPDX-License-Identifier: GPL-2.0-only
/* Load and save the configuration of a session.  Its text form is the library's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "util/file.h"

#include "tool/session/filters.h"
#include "tool/shared/message.h"

#define CONFIG_MAX \
	(1U << 20) /* bytes; a file of this size or a larger one is refused */
#define MODE_USUAL 0666

/**
 * config_load() - read a configuration from a file
 * @path: path of the file
 * @config: filled; to be released with ktape_config_release(), also after an error
 *
 * Return: 0 or the exit code.
 */
int config_load(const char *path, struct ktape_config *config)
{
	struct ktape_error error = { .text = "" };
	FILE *f = fopen(path, "re");
	char *text;
	size_t len;
	int err;

	memset(config, 0, sizeof(*config));
	if (!f)
		return fail("%s: %s", path, strerror(errno));
	text = malloc(CONFIG_MAX);
	len = text ? fread(text, 1, CONFIG_MAX, f) : 0;
	err = !text		? -ENOMEM :
	      ferror(f)		? -EIO :
	      len == CONFIG_MAX ? -EFBIG :
				  0;
	fclose(f);
	if (!err)
		err = ktape_config_parse(text, len, config, &error);
	free(text);
	/* The offset is the number of the line. */
	if (err == -EBADMSG)
		return fail("%s:%llu: %s", path,
			    (unsigned long long)error.offset, error.text);
	return err ? fail("%s: %s", path, strerror(-err)) : 0;
}

/* Write a new file beside the old one and rename it when it is on disk. */
static int replace_file(const char *path, const char *text, mode_t mode)
{
	size_t room = strlen(path) + sizeof(".XXXXXX");
	char *name = malloc(room);
	int fd, err;

	if (!name)
		return -ENOMEM;
	snprintf(name, room, "%s.XXXXXX", path);
	fd = mkostemp(name, O_CLOEXEC);
	err = fd < 0 ? -errno : kt_write_all(fd, text, strlen(text));
	if (!err && (fchmod(fd, mode) || fsync(fd)))
		err = -errno;
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && rename(name, path))
		err = -errno;
	if (fd >= 0 && err)
		unlink(name);
	free(name);
	return err;
}

/* Write to a device or pipe, which cannot be replaced by a new file. */
static int write_through(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : kt_write_all(fd, text, strlen(text));

	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	return err;
}

static int write_config_file(const char *path, const char *text)
{
	mode_t mask = umask(0);
	char *target;
	struct stat st;
	int err;

	umask(mask); /* it can only be read by setting it */
	if (stat(path, &st)) {
		return errno != ENOENT ?
			       -errno :
			       replace_file(path, text, MODE_USUAL & ~mask);
	}
	if (!S_ISREG(st.st_mode))
		return write_through(path, text);
	/* Replace the file itself, not a symbolic link to it. */
	target = realpath(path, NULL);
	if (!target)
		return -errno;
	err = access(target, W_OK) ?
		      -errno :
		      replace_file(target, text, st.st_mode & 07777);
	free(target);
	return err;
}

/**
 * config_save() - write a configuration to a file
 * @path: path of the file, unchanged after an error; "-": standard output
 * @config: configuration; only what is given is written
 *
 * Return: 0 or the exit code.
 */
int config_save(const char *path, const struct ktape_config *config)
{
	struct ktape_config named = *config;
	char *text = NULL;
	int err;

	/* Opcodes 1 to 15 are control events, which are always recorded: do not name them. */
	for (unsigned int i = 0; i < KTAPE_OP_EXCEPTION; i++)
		named.mask[0] &= ~(1ULL << i);
	err = ktape_config_format(&named, &text);
	if (err)
		return fail("%s: %s", path, strerror(-err));
	if (strcmp(path, "-"))
		err = write_config_file(path, text);
	else if (fputs(text, stdout) < 0 || fflush(stdout))
		err = -errno;
	free(text);
	return err ? fail("%s: %s", path, strerror(-err)) : 0;
}
