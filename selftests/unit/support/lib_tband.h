/* SPDX-License-Identifier: GPL-2.0-only */
/* Hand-made streams of Tonbandgeraet, a tracer of FreeRTOS. */
#ifndef _LIB_TBAND_H
#define _LIB_TBAND_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "format/tband/internal.h"

#define STREAM_MAX 65536

struct stream {
	uint8_t data[STREAM_MAX];
	size_t len;
};

/*
 * Append an event: its number in Tonbandgeraet's format, its fields, and a text or NULL.
 * userspace/lib/format/tband/tband.c has the table of numbers.  Often used here:
 *
 *	0 core_id		1 dropped_evt_cnt	2 ts_resolution_ns
 *	3 to 5 isr_name, isr_enter, isr_exit		6 evtmarker_name
 *	7 to 9 evtmarker, its begin and end		10, 11 valmarker_name, valmarker
 *	84 task_switched_in	85 to 90 states, delays	91 task_priority_set
 *	92, 93 _inherit, _disinherit			94, 98 task_created, _deleted
 *	95 to 97 task_name, _is_idle_task, _is_timer_task
 *	99 to 101 queue_created, _name, _kind		102 queue_send
 *	106 queue_receive	103, 107 the same from an ISR
 *	104, 105, 108, 112 other events of queues	109 to 111 the task blocks on a queue
 *	122 to 127 as 6 to 11, for markers of the current task
 */
__attribute__((unused)) static void stream_add(struct stream *s, unsigned int id,
					       uint64_t ts, uint64_t first,
					       uint64_t second, const char *text)
{
	struct kt_tband_event e = {
		.id = (uint8_t)id,
		.ts = ts,
		.values = { first, second },
		.text = (const uint8_t *)text,
		.len = text ? strlen(text) : 0,
	};
	uint8_t plain[512];

	s->len += kt_cobs_encode(s->data + s->len, plain,
				 kt_tband_encode(&e, plain));
}

/*
 * Every event at least once: two cores, three tasks, names before and after
 * their first use, losses. The native events that they become are in
 * t_lib_tband.c.
 */
__attribute__((unused)) static void stream_all(struct stream *s)
{
	s->len = 0;
	stream_add(s, 0, 0, 0, 0, NULL);
	stream_add(s, 2, 0, 1000, 0, NULL);
	stream_add(s, 3, 0, 7, 0, "uart");
	stream_add(s, 6, 0, 1, 0, "loop");
	stream_add(s, 10, 0, 2, 0, "level");
	stream_add(s, 95, 0, 1, 0, "main");
	stream_add(s, 95, 0, 2, 0, "idle");
	stream_add(s, 96, 0, 2, 0, NULL);
	stream_add(s, 97, 0, 3, 0, NULL);
	stream_add(s, 94, 10, 1, 0, NULL);
	stream_add(s, 91, 11, 1, 3, NULL);
	stream_add(s, 84, 12, 1, 0, NULL);
	stream_add(s, 99, 13, 5, 0, NULL);
	stream_add(s, 100, 0, 5, 0, "mail");
	stream_add(s, 101, 0, 5, 3, NULL);
	stream_add(s, 102, 14, 5, 1, NULL);
	stream_add(s, 103, 15, 5, 2, NULL);
	stream_add(s, 104, 16, 5, 2, NULL);
	stream_add(s, 105, 17, 5, 2, NULL);
	stream_add(s, 106, 18, 5, 1, NULL);
	stream_add(s, 107, 19, 5, 0, NULL);
	stream_add(s, 108, 20, 5, 0, NULL);
	stream_add(s, 112, 21, 5, 0, NULL);
	stream_add(s, 109, 22, 5, 100, NULL);
	stream_add(s, 110, 23, 5, 100, NULL);
	stream_add(s, 111, 24, 5, 100, NULL);
	stream_add(s, 84, 25, 2, 0, NULL);
	stream_add(s, 4, 26, 7, 0, NULL);
	stream_add(s, 85, 27, 1, 0, NULL);
	stream_add(s, 5, 28, 7, 0, NULL);
	stream_add(s, 84, 29, 1, 0, NULL);
	stream_add(s, 92, 30, 1, 9, NULL);
	stream_add(s, 93, 31, 1, 3, NULL);
	stream_add(s, 7, 32, 1, 0, "hello");
	stream_add(s, 8, 33, 1, 0, "");
	stream_add(s, 11, 34, 2, (uint64_t)INT64_MIN, NULL);
	stream_add(s, 9, 35, 1, 0, NULL);
	stream_add(s, 122, 0, 1, 1, "own");
	stream_add(s, 126, 0, 2, 1, "mine");
	stream_add(s, 123, 36, 1, 0, "there");
	stream_add(s, 124, 37, 1, 0, "");
	stream_add(s, 127, 38, 2, (uint64_t)-5, NULL);
	stream_add(s, 125, 39, 1, 0, NULL);
	stream_add(s, 89, 40, 10, 0, NULL);
	stream_add(s, 84, 41, 2, 0, NULL);
	stream_add(s, 86, 42, 1, 0, NULL);
	stream_add(s, 87, 43, 1, 0, NULL);
	stream_add(s, 1, 44, 3, 0, NULL);
	stream_add(s, 84, 44, 1, 0, NULL);
	stream_add(s, 90, 45, 99, 0, NULL);
	stream_add(s, 88, 46, 1, 0, NULL);
	stream_add(s, 84, 47, 2, 0, NULL);
	stream_add(s, 98, 48, 1, 0, NULL);
	/* The other core follows the first one, as in a snapshot. */
	stream_add(s, 0, 5, 1, 0, NULL);
	stream_add(s, 3, 0, 7, 0, "timer");
	stream_add(s, 4, 15, 7, 0, NULL);
	stream_add(s, 5, 45, 7, 0, NULL);
}

#endif /* _LIB_TBAND_H */
