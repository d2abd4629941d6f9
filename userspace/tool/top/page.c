// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape top: write a page (format html) of what is read.
 *
 * The records in the rings of a session are saved in a folder, which is removed when the page
 * is written; of a trace, its file or folder is taken.  A process of its own, ktape
 * convert, writes the page, so that the screen goes on.  Its messages come through a
 * pipe: on the terminal they would destroy the screen.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/shared/self.h"
#include "tool/top/top.h"

extern char **environ;

/* Start ktape convert, with its messages to @errors.  Return: 0 or an errno. */
static int start_convert(struct top_page *p, const char *trace, int errors)
{
	char *const argv[] = { (char *)"ktape", (char *)"convert",
			       (char *)"-q",	(char *)"--to",
			       (char *)"html",	(char *)"-o",
			       p->name,		(char *)"--",
			       (char *)trace,	NULL };
	posix_spawn_file_actions_t files;
	char path[SELF_PATH];
	int err = -self_path(path);

	if (!err)
		err = posix_spawn_file_actions_init(&files);
	if (err)
		return err;
	err = posix_spawn_file_actions_addopen(&files, STDIN_FILENO,
					       "/dev/null", O_RDWR, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, STDIN_FILENO,
						       STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, errors,
						       STDERR_FILENO);
	if (!err)
		err = posix_spawn(&p->pid, path, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return err;
}

static void release_page(struct top_page *p)
{
	free(p->name);
	free(p->saved);
	*p = (struct top_page){ .errors = -1 };
}

/* Remove the records that were saved for the page. */
static void remove_saved(struct top_page *p)
{
	if (p->saved)
		page_remove_trace(p->saved);
}

/* Set what is converted.  Return: true, or false with the reason in @said. */
static bool choose_trace(struct top_page *p, const struct top_page_source *from,
			 char *said, size_t size)
{
	struct stat st;

	if (from->device) {
		p->saved = page_trace_path(p->name);
		return p->saved &&
		       top_device_save(from->device, p->saved, said, size);
	}
	if (from->path && !stat(from->path, &st) &&
	    (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
		return true;
	snprintf(said, size,
		 "a page needs a session, a file or a folder: this input cannot be read again");
	return false;
}

/**
 * top_page_begin() - begin to write a page
 * @p: the page
 * @from: what is converted
 * @said: set to what is done, or why not
 * @size: bytes of @said
 */
void top_page_begin(struct top_page *p, const struct top_page_source *from,
		    char *said, size_t size)
{
	int ends[2], err;

	if (p->pid) {
		snprintf(said, size, "%s is being written", p->name);
		return;
	}
	if (!page_can_write()) {
		snprintf(said, size, "format html is not built in");
		return;
	}
	/* What is said if the next functions fail without a reason of their own. */
	snprintf(said, size, "%s", strerror(ENOMEM));
	p->name = page_usual_name();
	if (!p->name || !choose_trace(p, from, said, size)) {
		release_page(p);
		return;
	}
	err = pipe2(ends, O_CLOEXEC) ? errno : 0;
	if (!err) {
		err = start_convert(p, p->saved ? p->saved : from->path, ends[1]);
		close(ends[1]);
		if (err)
			close(ends[0]);
	}
	if (err) {
		snprintf(said, size, "cannot run ktape convert: %s", strerror(err));
		remove_saved(p);
		release_page(p);
		return;
	}
	p->errors = ends[0];
	p->len = 0;
	snprintf(said, size, "writing %s", p->name);
}

/* Say how the conversion has ended. */
static void say_end(const struct top_page *p, int status, char *said, size_t size)
{
	static const char prefix[] = "ktape: ";
	const char *text = *p->text ? p->text : "ktape convert failed";

	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		snprintf(said, size, "%s is written", p->name);
		return;
	}
	if (!strncmp(text, prefix, sizeof(prefix) - 1))
		text += sizeof(prefix) - 1;
	snprintf(said, size, "%s is not written: %.*s%s%s", p->name,
		 (int)strcspn(text, "\n"), text,
		 p->saved ? "; the records are in " : "", p->saved ? p->saved : "");
}

/**
 * top_page_read() - take messages of the conversion, or its end
 * @p: the page, whose @errors can be read
 * @said: set when the page is there, or why it is not
 * @size: bytes of @said
 *
 * If the conversion fails, the saved records are kept, and @said names their folder.
 */
void top_page_read(struct top_page *p, char *said, size_t size)
{
	char rest[256];
	ssize_t n = read(p->errors, rest, sizeof(rest));
	size_t room = sizeof(p->text) - 1 - p->len;
	int status = 0;

	if (n < 0 && errno == EINTR)
		return;
	if (n > 0) {
		room = (size_t)n < room ? (size_t)n : room;
		memcpy(p->text + p->len, rest, room);
		p->len += room;
		return;
	}
	p->text[p->len] = '\0';
	close(p->errors);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	say_end(p, status, said, size);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		remove_saved(p);
	release_page(p);
}

/**
 * top_page_end() - stop the conversion of a page; one that is not complete is not written
 * @p: the page
 * @said: set if one was being written: whether it is there
 * @size: bytes of @said
 *
 * The saved records are removed in any case.
 *
 * Return: true if one was being written.
 */
bool top_page_end(struct top_page *p, char *said, size_t size)
{
	int status = 0;
	pid_t pid;

	if (!p->pid)
		return false;
	kill(p->pid, SIGTERM);
	/* A stopped process takes the signal only when it goes on. */
	kill(p->pid, SIGCONT);
	close(p->errors);
	while ((pid = waitpid(p->pid, &status, 0)) < 0 && errno == EINTR)
		;
	/* It may have ended before the signal arrived. */
	if (pid == p->pid && WIFEXITED(status) && !WEXITSTATUS(status))
		snprintf(said, size, "%s is written", p->name);
	else
		snprintf(said, size,
			 "the page was not complete, and is not written");
	remove_saved(p);
	release_page(p);
	return true;
}
