// SPDX-License-Identifier: GPL-2.0-only
/* Open a serial line in raw mode with a speed, and look up its frame format. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "util/bits.h"

#include "tool/serial/serial.h"

static const struct {
	uint64_t baud;
	speed_t speed;
} speeds[] = {
	{ 1200, B1200 },       { 2400, B2400 },	      { 4800, B4800 },
	{ 9600, B9600 },       { 19200, B19200 },     { 38400, B38400 },
	{ 57600, B57600 },     { 115200, B115200 },   { 230400, B230400 },
	{ 460800, B460800 },   { 921600, B921600 },   { 1000000, B1000000 },
	{ 2000000, B2000000 }, { 4000000, B4000000 },
};

static const struct serial_frame frames[] = {
	{ "rkh", "rkh", NULL },
	{ "cobs", "tband", "check=1" },
};

/**
 * serial_frame() - look up a frame format
 * @name: its name; NULL: the default
 *
 * Return: the frame format, or NULL if the name is unknown.
 */
const struct serial_frame *serial_frame(const char *name)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(frames); i++) {
		if (!name || !strcmp(frames[i].name, name))
			return &frames[i];
	}
	return NULL;
}

/* Put a terminal into raw mode, with a speed; 0: leave the speed.  Other files need nothing. */
static int set_speed(int fd, uint64_t baud)
{
	struct termios t;
	size_t i = 0;

	while (baud && i < KT_ARRAY_SIZE(speeds) && speeds[i].baud != baud)
		i++;
	if (i == KT_ARRAY_SIZE(speeds))
		return -EINVAL;
	if (!isatty(fd))
		return 0;
	if (tcgetattr(fd, &t))
		return -errno;
	cfmakeraw(&t);
	t.c_cflag |= CLOCAL | CREAD;
	if (baud)
		cfsetspeed(&t, speeds[i].speed);
	return tcsetattr(fd, TCSANOW, &t) ? -errno : 0;
}

/**
 * serial_open() - open a line
 * @path: path; files and pipes are opened without line settings
 * @flags: for open(2)
 * @baud: speed; 0: leave it unchanged
 *
 * Return: descriptor; -EINVAL if no line has that speed; or other negative errno.
 */
int serial_open(const char *path, int flags, uint64_t baud)
{
	struct stat st;
	int fd, err;

	/* Without O_NONBLOCK, open() waits for the carrier of a modem. */
	if (!stat(path, &st) && S_ISCHR(st.st_mode))
		flags |= O_NONBLOCK;
	fd = open(path, flags | O_NOCTTY | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	err = fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) ? -errno :
							set_speed(fd, baud);
	if (err)
		close(fd);
	return err ? err : fd;
}
