// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read files below the root of a run.  Their content is not trusted: it is read up to
 * a limit, NULs end it, and only words of harmless characters get into commands.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/file.h"
#include "util/parse.h"
#include "internal.h"

#define PATH_ROOM 4096U

extern char **environ;

static bool path_of(const struct ktape_doctor *d, char path[PATH_ROOM],
		    const char *format, va_list args)
{
	int root = snprintf(path, PATH_ROOM, "%s", d->root);
	int rest;

	if (root < 0 || (unsigned int)root >= PATH_ROOM)
		return false;
	rest = vsnprintf(path + root, PATH_ROOM - (unsigned int)root, format, args);
	return rest >= 0 && (unsigned int)(root + rest) < PATH_ROOM;
}

/* Put the root before a path.  Return: false if the result is too long. */
bool kt_doctor_path(const struct ktape_doctor *d, char path[PATH_ROOM],
		    const char *format, ...)
{
	va_list args;
	bool fits;

	va_start(args, format);
	fits = path_of(d, path, format, args);
	va_end(args);
	return fits;
}

/* Is there a file or folder of this name?  A path that is too long has none. */
bool kt_doctor_exists(const struct ktape_doctor *d, const char *format, ...)
{
	char path[PATH_ROOM];
	va_list args;
	bool fits;

	va_start(args, format);
	fits = path_of(d, path, format, args);
	va_end(args);
	return fits && !access(path, F_OK);
}

/* Open a file for reading, without waiting for the writer of a FIFO. */
static int open_doctor_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	/* The kernel log is a character device. */
	if (!fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))
		return fd;
	close(fd);
	return -EINVAL;
}

#define ROOM_FIRST 32768U /* bytes of the first buffer */
#define ROOM_LEAST \
	16384U /* free for each read: a record of the kernel log has less */

/*
 * Read up to @max bytes; what the file has beyond them is left out.  Files of /proc do not say
 * how long they are.
 * Return: the bytes, followed by a NUL, with their number in @len; or NULL: the file cannot be
 * read to its end, or there is no memory.
 */
static char *read_all(int fd, size_t max, size_t *len)
{
	size_t room = 0, done = 0;
	char *text = NULL, *more;
	ssize_t n;

	do {
		if (room - done < ROOM_LEAST) {
			room = room ? room * 2 : ROOM_FIRST;
			more = realloc(text, room + 1);
			if (!more)
				goto err;
			text = more;
		}
		n = kt_read_some(fd, text + done, room - done);
		/* A record of the kernel log was overwritten: the next follows. */
		if (n == -EPIPE)
			continue;
		/* The kernel log ends with EAGAIN. */
		if (!n || n == -EAGAIN)
			break;
		if (n < 0)
			goto err;
		done += (size_t)n;
	} while (done < max);
	if (done > max)
		done = max;
	text[done] = '\0';
	*len = done;
	return text;

err:
	free(text);
	return NULL;
}

/*
 * Read a text, of which only the first KT_DOCTOR_TEXT bytes count.  Return: it, which the caller
 * frees, "" if the file is empty; NULL if the file is not there or cannot be read, or there is no
 * memory.
 */
char *kt_doctor_text(const struct ktape_doctor *d, const char *format, ...)
{
	char path[PATH_ROOM];
	va_list args;
	bool fits;
	size_t len;
	char *text;
	int fd;

	va_start(args, format);
	fits = path_of(d, path, format, args);
	va_end(args);
	fd = fits ? open_doctor_file(path) : -1;
	if (fd < 0)
		return NULL;
	text = read_all(fd, KT_DOCTOR_TEXT, &len);
	close(fd);
	return text;
}

/* Programs that unpack files, by the end of their names. */
static const struct {
	const char *end;
	const char *program;
} packers[] = {
	{ ".gz", "gzip" },
	{ ".xz", "xz" },
	{ ".zst", "zstd" },
};

static const char *packer_of(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++) {
		size_t end = strlen(packers[i].end);

		if (len > end && !strcmp(name + len - end, packers[i].end))
			return packers[i].program;
	}
	return NULL;
}

/* Start "PROGRAM -dc" with @in as its input.  Return: its output or negative errno. */
static int start_packer(const char *program, int in, pid_t *pid)
{
	char name[16], option[] = "-dc", *argv[] = { name, option, NULL };
	posix_spawn_file_actions_t actions;
	int out[2], err;

	snprintf(name, sizeof(name), "%s", program);
	if (pipe2(out, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	err = posix_spawnp(pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	if (!err)
		return out[0];
	close(out[0]);
	return -err;
}

/*
 * Read a file, which may be compressed.  Return: its content, which the caller frees, with its
 * bytes in @len; or NULL if it cannot be read or unpacked, has more than @max bytes, or there is no
 * memory.
 */
void *kt_doctor_unpacked(const struct ktape_doctor *d, const char *name,
			 size_t max, size_t *len)
{
	const char *program = packer_of(name);
	char path[PATH_ROOM], *data;
	int fd, out, status = 0;
	pid_t pid = 0;

	fd = kt_doctor_path(d, path, "%s", name) ? open_doctor_file(path) : -1;
	if (fd < 0)
		return NULL;
	out = program ? start_packer(program, fd, &pid) : fd;
	data = out < 0 ? NULL : read_all(out, max + 1, len);
	if (out >= 0)
		close(out);
	if (program) {
		close(fd);
		while (out >= 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (data && (status || *len > max)) {
		free(data);
		data = NULL;
	}
	return data;
}

/* Has a word only characters that a shell does not interpret? */
bool kt_text_plain(const char *word)
{
	if (!*word || *word == '-' || *word == '~')
		return false;
	for (; *word; word++) {
		if (!isascii(*word) ||
		    (!isalnum(*word) && !strchr("+,-./:=@_~", *word)))
			return false;
	}
	return true;
}

/* Take the first word of a text.  Return: false, and "", if it is not a plain one. */
bool kt_text_word(const char *text, char word[KT_DOCTOR_WORD])
{
	size_t len;

	text += strspn(text, " \t\n");
	len = strcspn(text, " \t\n");
	if (len >= KT_DOCTOR_WORD)
		len = 0;
	memcpy(word, text, len);
	word[len] = '\0';
	if (kt_text_plain(word))
		return true;
	word[0] = '\0';
	return false;
}

/* Read the first word of a file.  Return: false, and "", if it is not a plain one. */
bool kt_doctor_word(const struct ktape_doctor *d, const char *path,
		    char word[KT_DOCTOR_WORD])
{
	char *text = kt_doctor_text(d, "%s", path);
	bool is_word = kt_text_word(text ? text : "", word);

	free(text);
	return is_word;
}

/* Read a file that has one number.  Return: false if it has not. */
bool kt_doctor_number(const struct ktape_doctor *d, const char *path, uint64_t *value)
{
	char word[KT_DOCTOR_WORD];

	return kt_doctor_word(d, path, word) && !kt_parse_u64(word, value);
}

/* Find a line that begins with @begin.  Return: the text behind it, or NULL. */
const char *kt_text_line(const char *text, const char *begin)
{
	size_t len = strlen(begin);

	while (text && *text) {
		if (!strncmp(text, begin, len))
			return text + len;
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}
