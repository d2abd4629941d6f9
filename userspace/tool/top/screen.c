// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape top: the screen.  A thread reads the trace and leaves the newest interval here;
 * the main thread waits for keys, signals and intervals, and draws.
 */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/bits.h"
#include "util/file.h"

#include "tool/input/input.h"
#include "tool/top/draw.h"
#include "tool/top/tty.h"

/* Keys that getch() returns as characters. */
#define KEY_ESCAPE 27
#define KEY_DELETE 127
#define CONTROL_U  21

/**
 * struct screen - the screen and what it shows
 * @o: options
 * @state: what is shown
 * @feed: the trace
 * @thread: reads @feed
 * @lock: protects @next, @error and @done
 * @next: interval that was not shown yet, or NULL
 * @error: negative errno of reading
 * @done: the trace has ended
 * @news: pipe with a byte for each change of @next, @error or @done
 * @wake: pipe that becomes readable when the thread has to end
 * @page: page that is being written
 * @quit: the screen ends
 */
struct screen {
	const struct top_screen_options *o;
	struct top_state state;
	struct top_feed *feed;
	pthread_t thread;
	pthread_mutex_t lock;
	struct top_view *next;
	int error;
	bool done;
	int news[2];
	int wake[2];
	struct top_page page;
	bool quit;
};

/* ---- the thread that reads -------------------------------------------------------------- */

/* Leave an interval for the main thread, instead of one that it has not taken yet. */
static int take_screen_view(void *arg, struct top_view *v)
{
	struct screen *s = arg;
	struct top_view *old;

	pthread_mutex_lock(&s->lock);
	old = s->next;
	s->next = v;
	pthread_mutex_unlock(&s->lock);
	top_view_free(old);
	kt_write_all(s->news[1], "", 1);
	return 0;
}

static void *read_feed(void *arg)
{
	struct screen *s = arg;
	int err = top_feed_read(s->feed);

	pthread_mutex_lock(&s->lock);
	s->error = err;
	s->done = true;
	pthread_mutex_unlock(&s->lock);
	kt_write_all(s->news[1], "", 1);
	return NULL;
}

static int start_feed_thread(struct screen *s)
{
	sigset_t all, before;
	int err;

	/* Signals have to interrupt the thread that draws. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	err = pthread_create(&s->thread, NULL, read_feed, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

/* Read all that a pipe has, and forget it. */
static void drain(int fd)
{
	char bytes[64];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

/* ---- what is shown -------------------------------------------------------------------------- */

static void clamp_scroll(struct top_state *t)
{
	unsigned int rows = top_draw_rows(t);
	size_t last = t->nr > rows ? t->nr - rows : 0;

	t->first = kt_min(t->first, last);
}

static void order_threads(struct top_state *t)
{
	free(t->list);
	t->nr = 0;
	t->list = t->view ? calloc(t->view->nr_threads + 1, sizeof(*t->list)) : NULL;
	if (t->list)
		t->nr = top_order_apply(&t->order, t->view, t->list);
	clamp_scroll(t);
}

/* Show the newest interval, unless the screen is paused. */
static void take_news(struct screen *s)
{
	struct top_view *v = NULL;

	pthread_mutex_lock(&s->lock);
	if (!s->state.paused) {
		v = s->next;
		s->next = NULL;
	}
	s->state.ended = s->done;
	if (s->done && s->error)
		snprintf(s->state.said, sizeof(s->state.said),
			 "cannot read the trace: %s", read_error(s->error));
	pthread_mutex_unlock(&s->lock);
	if (!v)
		return;
	top_view_free(s->state.view);
	s->state.view = v;
	order_threads(&s->state);
}

/* ---- keys -------------------------------------------------------------------------------------- */

static void finish_prompt(struct screen *s)
{
	struct top_state *t = &s->state;

	if (t->prompt == TOP_ASK_FILTER) {
		snprintf(t->order.filter, sizeof(t->order.filter), "%.*s",
			 (int)sizeof(t->order.filter) - 1, t->typed);
		order_threads(t);
	} else if (*t->typed) {
		top_device_profile(s->o->feed.device, t->typed, t->said,
				   sizeof(t->said));
	}
	t->prompt = TOP_ASK_NOTHING;
}

static void type_key(struct screen *s, int key)
{
	struct top_state *t = &s->state;
	size_t len = strlen(t->typed);

	if (key == '\r' || key == '\n' || key == KEY_ENTER) {
		finish_prompt(s);
	} else if (key == KEY_ESCAPE) {
		t->prompt = TOP_ASK_NOTHING;
	} else if (key == KEY_BACKSPACE || key == KEY_DELETE || key == '\b') {
		t->typed[len ? len - 1 : 0] = '\0';
	} else if (key == CONTROL_U) {
		t->typed[0] = '\0';
	} else if (key >= ' ' && key < 256 && len < sizeof(t->typed) - 1) {
		t->typed[len] = (char)key;
		t->typed[len + 1] = '\0';
	}
}

static void ask(struct screen *s, enum top_prompt prompt)
{
	s->state.prompt = prompt;
	s->state.typed[0] = '\0';
}

static void key_quit(struct screen *s)
{
	s->quit = true;
}

static void key_sort(struct screen *s)
{
	s->state.order.key = (s->state.order.key + 1) % TOP_KEYS;
	order_threads(&s->state);
}

static void key_filter(struct screen *s)
{
	ask(s, TOP_ASK_FILTER);
}

static void key_pause(struct screen *s)
{
	s->state.paused = !s->state.paused;
	take_news(s);
}

static bool needs_device(struct screen *s)
{
	if (!s->o->feed.device)
		snprintf(s->state.said, sizeof(s->state.said),
			 "this needs a session, but a file is read");
	return s->o->feed.device;
}

static void key_profile(struct screen *s)
{
	if (needs_device(s))
		ask(s, TOP_ASK_PROFILE);
}

static void key_snapshot(struct screen *s)
{
	if (needs_device(s))
		top_device_snapshot(s->o->feed.device, s->state.said,
				    sizeof(s->state.said));
}

static void key_page(struct screen *s)
{
	const struct top_page_source from = {
		.device = s->o->feed.device,
		.path = s->o->trace,
	};

	top_page_begin(&s->page, &from, s->state.said, sizeof(s->state.said));
}

static void key_help(struct screen *s)
{
	s->state.help = !s->state.help;
}

static void key_up(struct screen *s)
{
	s->state.first -= s->state.first > 0;
}

static void key_down(struct screen *s)
{
	s->state.first++;
}

static void key_page_up(struct screen *s)
{
	s->state.first -= kt_min(s->state.first, top_draw_rows(&s->state));
}

static void key_page_down(struct screen *s)
{
	s->state.first += top_draw_rows(&s->state);
}

static void key_home(struct screen *s)
{
	s->state.first = 0;
}

static void key_end(struct screen *s)
{
	s->state.first = s->state.nr;
}

static const struct {
	int key;
	void (*act)(struct screen *s);
} keys[] = {
	{ 'q', key_quit },	    { 's', key_sort },
	{ '/', key_filter },	    { 'p', key_pause },
	{ ' ', key_pause },	    { 'P', key_profile },
	{ 'S', key_snapshot },	    { 'H', key_page },
	{ 'h', key_help },	    { '?', key_help },
	{ KEY_UP, key_up },	    { KEY_DOWN, key_down },
	{ KEY_PPAGE, key_page_up }, { KEY_NPAGE, key_page_down },
	{ KEY_HOME, key_home },	    { KEY_END, key_end },
};

static void press_key(struct screen *s, int key)
{
	if (s->state.prompt != TOP_ASK_NOTHING) {
		type_key(s, key);
		return;
	}
	s->state.said[0] = '\0';
	for (size_t i = 0; i < KT_ARRAY_SIZE(keys); i++) {
		if (keys[i].key == key)
			keys[i].act(s);
	}
	clamp_scroll(&s->state);
}

/* ---- the loop ------------------------------------------------------------------------------------- */

static void take_screen_signals(struct screen *s)
{
	int number;

	while ((number = top_tty_next_signal())) {
		if (top_tty_ends(number))
			s->quit = true;
		else if (number == SIGTSTP)
			top_tty_stop();
		else
			top_tty_redraw();
		clamp_scroll(&s->state);
	}
}

static void take_keys(struct screen *s, short events)
{
	int key;

	/* The terminal is gone. */
	if (events & (POLLHUP | POLLERR | POLLNVAL))
		s->quit = true;
	while (!s->quit && (key = getch()) != ERR)
		press_key(s, key);
}

static void run_loop(struct screen *s)
{
	while (!s->quit) {
		struct pollfd fds[] = {
			{ .fd = top_tty_keys(), .events = POLLIN },
			{ .fd = top_tty_signals(), .events = POLLIN },
			{ .fd = s->news[0], .events = POLLIN },
			{ .fd = s->page.errors, .events = POLLIN },
		};

		top_draw(&s->state);
		if (poll(fds, KT_ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return;
		if (fds[1].revents)
			take_screen_signals(s);
		if (fds[2].revents) {
			drain(s->news[0]);
			take_news(s);
		}
		if (fds[3].revents)
			top_page_read(&s->page, s->state.said,
				      sizeof(s->state.said));
		if (fds[0].revents)
			take_keys(s, fds[0].revents);
	}
}

static int run_screen(struct screen *s)
{
	char said[sizeof(s->state.said)];
	int ret = top_tty_open(), err;

	if (ret) {
		top_tty_close();
		return ret;
	}
	err = start_feed_thread(s);
	if (!err)
		run_loop(s);
	/* First of all the terminal: the thread may take a second to end. */
	top_tty_close();
	if (top_page_end(&s->page, said, sizeof(said)))
		note("%s", said);
	if (err)
		return fail("cannot start a thread: %s", strerror(-err));
	top_feed_stop(s->feed);
	kt_write_all(s->wake[1], "", 1);
	pthread_join(s->thread, NULL);
	if (s->error)
		return fail("cannot read the trace: %s", read_error(s->error));
	return EXIT_OK;
}

static void release_screen(struct screen *s)
{
	top_feed_close(s->feed);
	top_view_free(s->next);
	top_view_free(s->state.view);
	free(s->state.list);
	for (int i = 0; i < 2; i++) {
		close(s->news[i]);
		close(s->wake[i]);
	}
}

/**
 * top_screen() - show intervals on the screen until a key or signal ends it
 * @o: options; @o->feed lacks the callback and the descriptor that ends it
 *
 * Return: the exit code.
 */
int top_screen(const struct top_screen_options *o)
{
	struct screen s = {
		.o = o,
		.state = { .title = o->title, .order = o->order },
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.news = { -1, -1 },
		.wake = { -1, -1 },
		.page = { .errors = -1 },
	};
	struct top_feed_options feed = o->feed;
	int ret;

	setlocale(LC_CTYPE, "");
	s.state.blocks = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (pipe2(s.news, O_CLOEXEC | O_NONBLOCK) ||
	    pipe2(s.wake, O_CLOEXEC | O_NONBLOCK)) {
		ret = fail("pipe: %s", strerror(errno));
	} else {
		feed.take = take_screen_view;
		feed.arg = &s;
		feed.wake = s.wake[0];
		ret = top_feed_open(&feed, &s.feed);
	}
	if (!ret)
		ret = run_screen(&s);
	release_screen(&s);
	return ret;
}
