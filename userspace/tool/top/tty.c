// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape top: the terminal's state.
 *
 * The terminal gets its settings back whenever the command gives it up: by a key, by a
 * signal that ends or stops it, and after a crash.  Only SIGKILL and SIGSTOP leave
 * the settings of the screen behind (stty sane, or the reset command, helps).
 *
 * ncurses installs no handlers of its own for signals that have one already.  The
 * handlers here write the signal's number to a pipe, so that the terminal is only used
 * by the loop that draws.  After a crash the handler writes the sequences that leave
 * the screen, which were looked up before.
 */
#include <errno.h>
#include <fcntl.h>
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "util/bits.h"
#include "util/file.h"

#include "tool/shared/bus_error.h"
#include "tool/shared/message.h"
#include "tool/top/tty.h"

#define LEAVE_SIZE 128

/*
 * There is one terminal, and signal handlers can only reach static variables.
 *
 * @in: descriptor of keys, also as the stream @keys; @out: of the screen
 * @screen: the screen of ncurses
 * @saved: settings of the terminal before
 * @signals: pipe to which handlers write the numbers of signals
 * @leave: sequences of bytes that leave the screen; @leave_size: their length
 * @shown: the terminal shows the screen
 * @ending: a signal has come that ends the command
 */
static struct {
	int in;
	int out;
	FILE *keys;
	SCREEN *screen;
	struct termios saved;
	int signals[2];
	char leave[LEAVE_SIZE];
	size_t leave_size;
	volatile sig_atomic_t shown;
	volatile sig_atomic_t ending;
} tty = { .in = -1, .out = -1, .signals = { -1, -1 } };

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int crashes[] = { SIGSEGV, SIGABRT, SIGFPE, SIGILL };

/* Leave the screen with functions that a signal handler may call. */
static void leave_at_once(void)
{
	if (!tty.shown)
		return;
	tty.shown = 0;
	kt_write_all(tty.out, tty.leave, tty.leave_size);
	tcsetattr(tty.in, TCSANOW, &tty.saved);
}

static void end_at_once(int number)
{
	leave_at_once();
	signal(number, SIG_DFL);
	raise(number);
}

/*
 * A SIGBUS is a crash, unless the command was copying rings whose session has ended: the
 * module then takes the mapped pages away, and the reader of the rings notices.
 */
static void take_tty_bus_error(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (!bus_error_is_ours(info))
		end_at_once(number);
}

static void take_tty_signal(int number)
{
	const char byte = (char)number;
	int saved = errno;

	/* The second signal that ends does not wait for the loop. */
	if (tty.ending && top_tty_ends(number)) {
		end_at_once(number);
		return;
	}
	tty.ending |= top_tty_ends(number);
	kt_write_all(tty.signals[1], &byte, 1);
	errno = saved;
}

static void catch_signal(int number, void (*handler)(int), int flags)
{
	const struct sigaction action = {
		.sa_handler = handler,
		.sa_flags = flags,
	};
	struct sigaction before;

	/* Signals that were ignored at start stay ignored. */
	if (!sigaction(number, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static int catch_tty_signals(void)
{
	const struct sigaction bus = {
		.sa_sigaction = take_tty_bus_error,
		.sa_flags = SA_SIGINFO,
	};

	if (pipe2(tty.signals, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	for (size_t i = 0; i < KT_ARRAY_SIZE(ends); i++)
		catch_signal(ends[i], take_tty_signal, SA_RESTART);
	catch_signal(SIGTSTP, take_tty_signal, SA_RESTART);
	catch_signal(SIGCONT, take_tty_signal, SA_RESTART);
	catch_signal(SIGWINCH, take_tty_signal, SA_RESTART);
	for (size_t i = 0; i < KT_ARRAY_SIZE(crashes); i++)
		catch_signal(crashes[i], end_at_once, (int)SA_RESETHAND);
	sigaction(SIGBUS, &bus, NULL);
	return 0;
}

/* Add a sequence of the terminal's description to those that leave the screen. */
static void add_sequence(const char *name)
{
	const char *text = tigetstr(name);
	size_t len;

	if (!text || text == (char *)-1)
		return;
	len = strlen(text);
	if (len > LEAVE_SIZE - tty.leave_size)
		return;
	memcpy(tty.leave + tty.leave_size, text, len);
	tty.leave_size += len;
}

static void set_modes(void)
{
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25); /* ms: a lone Esc is a key; ncurses waits a second by default */
	curs_set(0);
}

/* Keys come from the terminal, also if standard input is a trace. */
static int open_keys(void)
{
	tty.in = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (tty.in < 0 && isatty(STDIN_FILENO))
		tty.in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	tty.out = STDOUT_FILENO;
	if (tty.in < 0 || tcgetattr(tty.in, &tty.saved))
		return -errno;
	tty.keys = fdopen(tty.in, "r");
	return tty.keys ? 0 : -errno;
}

/**
 * top_tty_open() - begin with the screen, or print why that does not work
 *
 * Return: 0 or the exit code.
 */
int top_tty_open(void)
{
	static const char *const sequences[] = { "rmkx", "sgr0", "cnorm", "rmcup" };
	int err = open_keys();

	if (!err)
		err = catch_tty_signals();
	if (err)
		return fail("the terminal: %s; use --lines", strerror(-err));
	tty.screen = newterm(NULL, stdout, tty.keys);
	if (!tty.screen)
		return fail("the terminal has no description (is TERM set?): use --lines");
	tty.shown = 1;
	for (size_t i = 0; i < KT_ARRAY_SIZE(sequences); i++)
		add_sequence(sequences[i]);
	set_modes();
	return 0;
}

/**
 * top_tty_keys() - return the descriptor of keys, for poll(2)
 *
 * Return: the descriptor.
 */
int top_tty_keys(void)
{
	return tty.in;
}

/**
 * top_tty_signals() - return the descriptor of signals, for poll(2)
 *
 * Return: the descriptor.
 */
int top_tty_signals(void)
{
	return tty.signals[0];
}

/**
 * top_tty_next_signal() - return the next signal that came
 *
 * Return: its number, or 0.
 */
int top_tty_next_signal(void)
{
	char byte;

	return read(tty.signals[0], &byte, 1) == 1 ? byte : 0;
}

/**
 * top_tty_ends() - does a signal end the command?
 * @number: the signal
 *
 * Return: true if it does.
 */
bool top_tty_ends(int number)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(ends); i++) {
		if (ends[i] == number)
			return true;
	}
	return false;
}

/* Leave the screen, and give the terminal its settings back. */
static void restore_tty(void)
{
	if (!tty.shown)
		return;
	endwin();
	tcsetattr(tty.in, TCSANOW, &tty.saved);
	tty.shown = 0;
}

/**
 * top_tty_stop() - stop, as SIGTSTP does, with the terminal as it was
 *
 * Returns when the command continues.
 */
void top_tty_stop(void)
{
	restore_tty();
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	catch_signal(SIGTSTP, take_tty_signal, SA_RESTART);
	top_tty_redraw();
}

/**
 * top_tty_redraw() - set the screen up again: it was resized, or another program used it
 */
void top_tty_redraw(void)
{
	struct winsize size;

	tty.shown = 1;
	reset_prog_mode();
	set_modes();
	if (!ioctl(tty.out, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(stdscr, TRUE);
}

/**
 * top_tty_close() - end with the screen
 */
void top_tty_close(void)
{
	restore_tty();
	if (tty.screen)
		delscreen(tty.screen);
	if (tty.keys)
		fclose(tty.keys);
	tty.screen = NULL;
	tty.keys = NULL;
}
