/* SPDX-License-Identifier: GPL-2.0-only */
/* ktape top: what is on the screen. */
#ifndef _KT_TOOL_TOP_DRAW_H
#define _KT_TOOL_TOP_DRAW_H

#include <stdbool.h>

#include <ktape.h>

#include "tool/top/top.h"

/* What the last line asks for. */
enum top_prompt {
	TOP_ASK_NOTHING,
	TOP_ASK_FILTER, /* a text by which threads are chosen */
	TOP_ASK_PROFILE /* the events that the session records */
};

/**
 * struct top_state - what is shown, and how
 * @title: what is read
 * @view: what happened in the interval that is shown; NULL: none is complete yet
 * @list: threads of @view that are chosen, in their order
 * @nr: entries of @list
 * @first: index of the first one on the screen
 * @order: which threads, and their order
 * @paused: the user stopped the display: @view stays, and of the intervals that follow only the
 *	last is shown when the display goes on
 * @ended: the trace has ended
 * @help: the keys are shown
 * @blocks: the terminal has the characters that curves are made of
 * @prompt: what the last line asks for
 * @typed: what was typed so far
 * @said: message in the last line
 */
struct top_state {
	const char *title;
	struct top_view *view;
	const struct ktape_linux_thread **list;
	size_t nr;
	size_t first;
	struct top_order order;
	bool paused;
	bool ended;
	bool help;
	bool blocks;
	enum top_prompt prompt;
	char typed[256];
	char said[256];
};

void top_draw(struct top_state *s);

/* Return how many threads fit on the screen. */
unsigned int top_draw_rows(const struct top_state *s);

#endif /* _KT_TOOL_TOP_DRAW_H */
