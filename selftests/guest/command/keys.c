// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command on a terminal and type keys, step by step as standard input says:
 *
 *	shows TEXT	wait until the screen has the text
 *	type TEXT	type it; \r is Enter
 *	end		wait for the end of the command
 *
 * usage: keys COMMAND [ARGUMENT...]
 *
 * A program draws only what changes, so a text may come in pieces.  While a text is
 * waited for, the terminal is resized again and again, and all is drawn anew.
 *
 * Exit status: 0 if all steps were taken, the command exited with 0, and the terminal
 * has the settings that it had before.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define ROWS	   24
#define COLUMNS	   100
#define DRAW_MS	   300 /* without output for so long, all is drawn */
#define READS	   20  /* at most, of one drawing */
#define TRIES	   400 /* drawings until a text has to be there */
#define SCREEN_MAX 65536

static struct {
	int terminal; /* our side of the pseudo-terminal: the master */
	int keeps; /* the command's side, kept open to compare its settings */
	pid_t command;
	struct termios before;	 /* settings before the command */
	char screen[SCREEN_MAX]; /* output since the terminal was resized */
	size_t len;
	bool over; /* the command has closed the terminal */
} keys;

static void resize(unsigned int rows)
{
	const struct winsize size = { .ws_row = (unsigned short)rows,
				      .ws_col = COLUMNS };

	ioctl(keys.terminal, TIOCSWINSZ, &size);
}

static bool screen_has(const char *text)
{
	return text && memmem(keys.screen, keys.len, text, strlen(text));
}

/* Read what the command draws within @ms.  Return: false if it draws nothing. */
static bool read_drawing(int ms)
{
	struct pollfd p = { .fd = keys.terminal, .events = POLLIN };
	char rest[4096];
	ssize_t n;

	if (keys.over || poll(&p, 1, ms) <= 0)
		return false;
	n = read(keys.terminal, rest, sizeof(rest));
	if (n <= 0) {
		keys.over = true;
		return false;
	}
	if (keys.len + (size_t)n >= SCREEN_MAX)
		keys.len = 0;
	memcpy(keys.screen + keys.len, rest, (size_t)n);
	keys.len += (size_t)n;
	return true;
}

/*
 * Read until the command has drawn @text, or draws nothing for a while.  It may draw all the
 * time.
 */
static void read_screen(const char *text)
{
	unsigned int i = 0;

	while (!screen_has(text) && i++ < READS)
		if (!read_drawing(DRAW_MS))
			return;
}

/* Forget what was drawn before, and have all drawn anew. */
static void draw_anew(unsigned int rows)
{
	unsigned int i = 0;

	while (i++ < READS && read_drawing(0))
		;
	keys.len = 0;
	resize(rows);
}

static bool has_ended(int *status)
{
	return waitpid(keys.command, status, WNOHANG) == keys.command;
}

/* Wait until the screen has a text.  Return: false if it does not come. */
static bool wait_for_text(const char *text)
{
	for (unsigned int i = 0; i < TRIES && !keys.over; i++) {
		draw_anew(ROWS + i % 2);
		read_screen(text);
		if (screen_has(text))
			return true;
	}
	printf("the screen does not show \"%s\":\n%.*s\n", text, (int)keys.len,
	       keys.screen);
	return false;
}

static bool type_text(const char *text)
{
	for (; *text; text++) {
		bool enter = text[0] == '\\' && text[1] == 'r';

		text += enter;
		if (write(keys.terminal, enter ? "\r" : text, 1) != 1)
			return false;
	}
	return true;
}

/* Wait for the end of the command, and compare the settings of the terminal. */
static bool await_command_end(void)
{
	struct termios now = { .c_iflag = 0 };
	int status = -1;

	for (unsigned int i = 0; i < TRIES && !has_ended(&status); i++)
		read_screen(NULL);
	if (status) {
		printf("the command has not ended with 0: %d\n%.*s\n", status,
		       (int)keys.len, keys.screen);
		return false;
	}
	tcgetattr(keys.keeps, &now);
	if (now.c_iflag == keys.before.c_iflag && now.c_oflag == keys.before.c_oflag &&
	    now.c_cflag == keys.before.c_cflag && now.c_lflag == keys.before.c_lflag)
		return true;
	puts("the terminal has other settings than before");
	return false;
}

static bool run_script_line(char *line)
{
	line[strcspn(line, "\n")] = '\0';
	if (!strncmp(line, "shows ", 6))
		return wait_for_text(line + 6);
	if (!strncmp(line, "type ", 5))
		return type_text(line + 5);
	return !strcmp(line, "end") && await_command_end();
}

static void run_command(char **argv)
{
	setsid();
	ioctl(keys.keeps, TIOCSCTTY, 0);
	for (int fd = 0; fd < 3; fd++)
		dup2(keys.keeps, fd);
	execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	char line[256];

	keys.terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (argc < 2 || keys.terminal < 0 || grantpt(keys.terminal) ||
	    unlockpt(keys.terminal))
		return 2;
	keys.keeps = open(ptsname(keys.terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (keys.keeps < 0 || tcgetattr(keys.keeps, &keys.before))
		return 2;
	resize(ROWS);
	keys.command = fork();
	if (!keys.command)
		run_command(argv + 1);
	while (fgets(line, sizeof(line), stdin)) {
		if (run_script_line(line))
			continue;
		printf("failed: %s\n", line);
		kill(keys.command, SIGKILL);
		return 1;
	}
	return 0;
}
