// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulate a serial line between two terminals, for t_serial.sh: it loses, changes
 * and inserts bytes, and prints how many. The faults depend on the seed only.
 *
 * usage: line [OPTION...] SENDER RECEIVER
 *   SENDER, RECEIVER	links to the terminals, which are created
 *   -e N		one fault in N bytes (default 0: none)
 *   -k N		no fault in the first N bytes
 *   -r N		seed (default 0)
 *   -s N		speed limit in bytes per second (default 0: none)
 *   -t TEXT		create the file SENDER.there when TEXT has come and the
 * 			receiver has read it
 *
 * It ends when the sender has closed its terminal and the receiver has read
 * everything; the receiver then sees a hangup. SIGTERM ends it at once, as when
 * a cable is pulled out.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "lcg.h"
#include "now.h"

#define PART	       512 /* most bytes that are copied at once */
#define PARTS_A_SECOND 50  /* at least, with a speed limit */
#define RUN_MAX	       8   /* bytes lost in one run */
#define STILL_MS       50
#define STILLS	       10 /* polls without data after which all has been read */
#define TEXT_MAX       32

enum { LOST, CHANGED, PUT_IN, FAULTS };

static struct {
	uint64_t every, keep, seed, speed; /* options -e, -k, -r, -s */
	uint64_t came, went;		   /* bytes read and written */
	uint64_t faults[FAULTS];
	unsigned int losing; /* bytes of the current run still to be lost */
	const char *text;    /* text to wait for, or NULL */
	char sign[256];	     /* file to create when it has come */
} line = { .seed = 1 };

static volatile sig_atomic_t over;

static void end_on_signal(int number)
{
	over = 1;
}

/*
 * Pass a byte through the faults. Return: number of bytes at @to, which has
 * room for 2.
 */
static size_t pass_byte(uint8_t byte, uint8_t *to)
{
	size_t n = 0;

	if (line.losing) {
		line.losing--;
		line.faults[LOST]++;
		return 0;
	}
	if (!line.every || line.came < line.keep ||
	    lcg_next(&line.seed) % line.every) {
		to[n++] = byte;
		return n;
	}
	switch (lcg_below(&line.seed, FAULTS)) {
	case LOST:
		line.losing = lcg_below(&line.seed, RUN_MAX);
		line.faults[LOST]++;
		break;
	case CHANGED:
		to[n++] = (uint8_t)(byte ^ 1U << lcg_below(&line.seed, 8));
		line.faults[CHANGED]++;
		break;
	default:
		to[n++] = byte;
		to[n++] = (uint8_t)lcg_below(&line.seed, 256);
		line.faults[PUT_IN]++;
		break;
	}
	return n;
}

/* Write all bytes, unless a signal ends the line. Return: false after an error. */
static bool write_line_bytes(int fd, const uint8_t *data, size_t len)
{
	while (len && !over) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return true;
}

/* Wait as long as the bytes take at the line's speed. Idle time is not made up for. */
static void wait_for_line(size_t bytes)
{
	static uint64_t clear;
	uint64_t now = now_ns();
	struct timespec until;

	if (!line.speed)
		return;
	clear = (clear > now ? clear : now) + bytes * NS_PER_S / line.speed;
	until.tv_sec = (time_t)(clear / NS_PER_S);
	until.tv_nsec = (long)(clear % NS_PER_S);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Wait until the receiver has read all: bytes unread at a hangup are discarded. */
static void wait_until_read(int fd)
{
	int there, still = 0;

	while (still < STILLS && !over) {
		usleep(STILL_MS * 1000);
		still = ioctl(fd, FIONREAD, &there) || there ? 0 : still + 1;
	}
}

/* Return true if the text has come, possibly across two reads. */
static bool has_come(const uint8_t *data, size_t len)
{
	static uint8_t last[TEXT_MAX + PART];
	static size_t kept;
	size_t text = strlen(line.text), keep;
	bool found;

	memcpy(last + kept, data, len);
	kept += len;
	found = memmem(last, kept, line.text, text);
	keep = kept < text ? kept : text - 1;
	memmove(last, last + kept - keep, keep);
	kept = keep;
	return found;
}

/* Create the file once. @receiver: the terminal that the receiver reads. */
static void create_sign_file(int receiver)
{
	wait_until_read(receiver);
	line.text = NULL;
	close(open(line.sign, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

/* Copy until the sender hangs up, which read() reports as EIO. */
static bool copy_until_hangup(int from, int to, int receiver)
{
	uint8_t in[PART], out[PART * 2];
	size_t part = line.speed ? line.speed / PARTS_A_SECOND + 1 : PART;

	while (!over) {
		ssize_t n = read(from, in, part < PART ? part : PART);
		size_t len = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 || errno == EIO;
		for (ssize_t i = 0; i < n; i++, line.came++)
			len += pass_byte(in[i], out + len);
		line.went += len;
		if (!write_line_bytes(to, out, len))
			return false;
		wait_for_line((size_t)n);
		if (line.text && has_come(in, (size_t)n))
			create_sign_file(receiver);
	}
	return true;
}

/* Create a raw terminal with a link to its other end. Return: the main end. */
static int create_terminal(const char *link)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios t;

	if (fd < 0 || grantpt(fd) || unlockpt(fd) || tcgetattr(fd, &t))
		return -1;
	cfmakeraw(&t);
	if (tcsetattr(fd, TCSANOW, &t) || symlink(ptsname(fd), link))
		return -1;
	return fd;
}

static bool parse_line_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "e:k:r:s:t:")) >= 0) {
		uint64_t v = c == '?' ? 0 : strtoull(optarg, NULL, 0);

		switch (c) {
		case 'e':
			line.every = v;
			break;
		case 'k':
			line.keep = v;
			break;
		case 'r':
			line.seed = v * 2 + 1; /* 0 gives the default */
			break;
		case 's':
			line.speed = v;
			break;
		case 't':
			line.text = optarg;
			if (!*optarg || strlen(optarg) > TEXT_MAX)
				return false;
			break;
		default:
			return false;
		}
	}
	return argc - optind == 2;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = end_on_signal };
	int from, to, receiver;
	bool good;

	if (!parse_line_options(argc, argv)) {
		fprintf(stderr,
			"line [-e N] [-k N] [-r N] [-s N] [-t TEXT] SENDER RECEIVER\n");
		return 2;
	}
	snprintf(line.sign, sizeof(line.sign), "%s.there", argv[optind]);
	sigaction(SIGTERM, &action, NULL);
	/*
	 * The sender's link is created last: a script that waits for it finds
	 * both.
	 */
	to = create_terminal(argv[optind + 1]);
	/* Keep the receiver's terminal open, so that receivers can come and go. */
	receiver = to < 0 ? -1 : open(ptsname(to), O_RDWR | O_NOCTTY | O_CLOEXEC);
	from = receiver < 0 ? -1 : create_terminal(argv[optind]);
	if (from < 0) {
		perror("line");
		return 1;
	}
	good = copy_until_hangup(from, to, receiver);
	if (!good)
		perror("line");
	wait_until_read(receiver);
	printf("%llu came, %llu went, %llu lost, %llu changed, %llu put in\n",
	       (unsigned long long)line.came, (unsigned long long)line.went,
	       (unsigned long long)line.faults[LOST],
	       (unsigned long long)line.faults[CHANGED],
	       (unsigned long long)line.faults[PUT_IN]);
	return !good;
}
