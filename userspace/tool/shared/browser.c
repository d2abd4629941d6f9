// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open a page in the user's browser, by xdg-open.
 *
 * All users of a machine can see the arguments of its processes.  An address with a
 * token is therefore not one: the browser gets the path of a file that only the user
 * can read, and that leads to the address.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/shared/browser.h"
#include "tool/shared/message.h"

extern char **environ;

/**
 * browser_open() - open a file in the browser
 * @path: the file
 *
 * Return: the process of xdg-open, for browser_failed(); 0, after a message, if there is none.
 */
pid_t browser_open(const char *path)
{
	char command[] = "xdg-open", *words[] = { command, (char *)path, NULL };
	posix_spawnattr_t how;
	pid_t pid;
	int err;

	/* It may become the browser, which Ctrl-C must not end. */
	err = posix_spawnattr_init(&how);
	if (!err) {
		posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
		err = posix_spawnp(&pid, command, NULL, &how, words, environ);
		posix_spawnattr_destroy(&how);
	}
	if (err)
		note("xdg-open cannot be run: open it yourself in a browser");
	return err ? 0 : pid;
}

/**
 * browser_failed() - say if no browser has opened the file
 * @pid: what browser_open() has returned; set to 0 once the process has ended
 *
 * Return: true, after a message, if xdg-open has ended and has found no browser.
 */
bool browser_failed(pid_t *pid)
{
	int status;

	if (!*pid || waitpid(*pid, &status, WNOHANG) != *pid)
		return false;
	*pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return false;
	note("xdg-open has found no browser: open it yourself");
	return true;
}

/* Make a path of a temporary file or folder, for mkstemps(3) or mkdtemp(3). */
static void temporary_path(char path[BROWSER_PATH], const char *suffix)
{
	const char *dir = getenv("TMPDIR");

	if (!dir || *dir != '/' || strlen(dir) > BROWSER_PATH / 2)
		dir = "/tmp";
	snprintf(path, BROWSER_PATH, "%s/ktape-XXXXXX%s", dir, suffix);
}

/**
 * browser_folder() - make a folder that only the user can read
 * @path: set to its path
 *
 * Return: false, after a message, if it cannot be made.
 */
bool browser_folder(char path[BROWSER_PATH])
{
	temporary_path(path, "");
	if (mkdtemp(path))
		return true;
	fail("%s: %s", path, strerror(errno));
	return false;
}

/**
 * browser_open_url() - open an address in the browser
 * @url: the address, without characters that HTML gives a meaning
 * @file: set to the path of a file that the caller removes at its end
 *
 * Return: false, after a message, if that file cannot be written.
 */
bool browser_open_url(const char *url, char file[BROWSER_PATH])
{
	static const char suffix[] = ".html";
	FILE *f;
	int fd;

	temporary_path(file, suffix);
	fd = mkstemps(file, (int)sizeof(suffix) - 1);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f) {
		fail("%s: %s", file, strerror(errno));
		return false;
	}
	fprintf(f,
		"<!DOCTYPE html>\n<title>ktape</title>\n"
		"<meta http-equiv=refresh content=\"0;url=%s\">\n"
		"<p><a href=\"%s\">ktape serve</a>\n",
		url, url);
	if (fclose(f)) {
		fail("%s: %s", file, strerror(errno));
		unlink(file);
		return false;
	}
	browser_open(file);
	return true;
}
