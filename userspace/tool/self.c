// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a page from a trace that was just recorded, by running ktape convert.  A new
 * process has no signals of the recording pending, and a Ctrl-C ends only it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "self.h"
#include "tool.h"

#define ENDING	".html"
#define TRACE	".trace"
#define HOST_MAX	64

extern char **environ;

/* Return true if the format html is built in. */
bool page_can_write(void)
{
	const struct ktape_codec *c = ktape_codec_find("html");

	return c && c->out;
}

/* Return true if a path is that of a page. */
bool page_is_name(const char *path)
{
	size_t len = strlen(path);

	return len > strlen(ENDING) &&
	       !strcmp(path + len - strlen(ENDING), ENDING);
}

/* Return the folder that the trace of a page is recorded to, or NULL: no memory. */
char *page_trace(const char *page)
{
	char *path;

	return asprintf(&path, "%s%s", page, TRACE) < 0 ? NULL : path;
}

/**
 * page_usual_name() - return the name of a page that the user gave none
 *
 * Return: "ktape-HOST-DATE.html", which the caller frees, or NULL: no memory.
 */
char *page_usual_name(void)
{
	char host[HOST_MAX] = "", date[32];
	time_t now = time(NULL);
	struct tm tm;
	char *name;

	gethostname(host, sizeof(host) - 1);
	for (char *p = host; *p; p++)
		*p = *p == '/' || *p == ' ' ? '_' : *p;
	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	return asprintf(&name, "ktape-%s-%s" ENDING, *host ? host : "host",
			date) < 0 ?
		       NULL :
		       name;
}

/**
 * run_program() - run a program and wait for its end
 * @path: the program, searched in PATH unless it has a slash
 * @argv: its arguments
 *
 * Return: its exit status, or negative errno if it cannot be run or was killed.
 */
int run_program(const char *path, char *const argv[])
{
	int status, err;
	pid_t pid;

	err = posix_spawnp(&pid, path, NULL, NULL, argv, environ);
	if (err)
		return -err;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

/**
 * self_path() - find the path of this command
 * @path: set to it
 *
 * It is run again by this path, so that the process has its name in traces.
 *
 * Return: 0 or negative errno.
 */
int self_path(char path[SELF_PATH])
{
	ssize_t len = readlink("/proc/self/exe", path, SELF_PATH - 1);

	if (len < 0)
		return -errno;
	path[len] = '\0';
	return 0;
}

/**
 * run_self() - run this command again
 * @argv: its arguments
 *
 * Return: as run_program().
 */
int run_self(char *const argv[])
{
	char path[SELF_PATH];
	int err = self_path(path);

	return err ? err : run_program(path, argv);
}

/**
 * page_remove_trace() - remove a folder and the files in it
 * @path: the folder
 *
 * Return: 0 or negative errno.
 */
int page_remove_trace(const char *path)
{
	const struct dirent *e;
	DIR *dir = opendir(path);

	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		if (e->d_type != DT_DIR)
			unlinkat(dirfd(dir), e->d_name, 0);
	}
	closedir(dir);
	return rmdir(path) ? -errno : 0;
}

/**
 * page_write() - convert a trace to a page, and remove the trace
 * @page: path of the page
 * @trace: folder of the trace
 *
 * If that fails, the trace is kept.
 *
 * Return: 0 or the exit code.
 */
int page_write(const char *page, const char *trace)
{
	char *const argv[] = { (char *)"ktape",	  (char *)"convert",
			       (char *)"-q",	  (char *)"--to",
			       (char *)"html",	  (char *)"-o",
			       (char *)page,	  (char *)"--",
			       (char *)trace,	  NULL };
	int ret = run_self(argv);

	if (ret < 0)
		fail("cannot run ktape convert: %s", strerror(-ret));
	if (ret) {
		note("the trace is kept: ktape convert --to html -o %s %s",
		     page, trace);
		return EXIT_FAILED;
	}
	ret = page_remove_trace(trace);
	return ret ? fail("%s: cannot be removed: %s", trace, strerror(-ret)) :
		     EXIT_OK;
}
