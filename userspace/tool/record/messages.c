// SPDX-License-Identifier: GPL-2.0-only
/* Messages of a recording that runs without a terminal: to a file or the system log. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "tool/record/daemon.h"
#include "tool/shared/message.h"

#define TIME_TEXT 32

static FILE *log_stream;

static void print_to_file(bool failed, const char *text)
{
	char when[TIME_TEXT] = "";
	time_t now = time(NULL);
	struct tm tm;

	(void)failed;
	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S%z", &tm);
	fprintf(log_stream, "%s ktape[%ld]: %s\n", when, (long)getpid(), text);
	fflush(log_stream);
}

static void print_to_syslog(bool failed, const char *text)
{
	syslog(failed ? LOG_ERR : LOG_NOTICE, "%s", text);
}

/**
 * redirect_messages() - send messages to a file or the system log from now on
 * @logfile: file to append them to, but no symbolic link: root may write it into a folder
 *	that another user may change; NULL: the system log
 *
 * Return: 0 or the exit code.
 */
int redirect_messages(const char *logfile)
{
	int fd;

	if (!logfile) {
		openlog("ktape", LOG_PID, LOG_DAEMON);
		set_message_printer(print_to_syslog);
		return 0;
	}
	fd = open(logfile,
		  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY,
		  0666);
	log_stream = fd < 0 ? NULL : fdopen(fd, "a");
	if (!log_stream)
		return fail("%s: %s", logfile, strerror(errno));
	set_message_printer(print_to_file);
	return 0;
}
