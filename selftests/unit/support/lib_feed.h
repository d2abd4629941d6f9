/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decode packets from memory, and run on each event what libktape does with events: names,
 * text, JSON, fields.  For tests that only check that nothing bad happens.
 */
#ifndef _LIB_FEED_H
#define _LIB_FEED_H

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

struct feed {
	struct ktape_info info;
	struct ktape_registry *registry;
	struct ktape_decoder *decoder;
	uint64_t events;
};

/*
 * Begin a trace whose UUID is zero, so that packets with a zero UUID belong to it.
 * Return: 0, or another number without memory.
 */
static int feed_start(struct feed *feed)
{
	memset(feed, 0, sizeof(*feed));
	feed->info.freq = 1000000000;
	strcpy(feed->info.machine, "x86_64");
	memset(feed->info.known, 0xff, sizeof(feed->info.known));
	return ktape_registry_new(feed->info.freq, &feed->registry) ||
	       ktape_decoder_new(&feed->info, &feed->decoder);
}

static void feed_end(struct feed *feed)
{
	ktape_decoder_free(feed->decoder);
	ktape_registry_free(feed->registry);
}

static int feed_event(void *arg, const struct ktape_event *event)
{
	const struct ktape_event_desc *desc = ktape_event_desc(event->opcode);
	struct feed *feed = arg;
	size_t room = ktape_format_bound(event);
	char *line = malloc(room);
	uint64_t value;
	unsigned int i;

	assert(line);
	assert(ktape_registry_add(feed->registry, event) == 0);
	assert(ktape_format_text(&feed->info, feed->registry, event, line) <= room);
	assert(ktape_format_json(&feed->info, feed->registry, event, line) <= room);
	for (i = 0; desc && i < desc->nr_fields; i++)
		ktape_event_field(event, desc->fields[i].name, &value);
	/* Also arguments that no record has. */
	for (i = 0; i < 9; i++)
		ktape_event_arg(event, i);
	ktape_registry_thread(feed->registry, event->tid, event->ts);
	free(line);
	feed->events++;
	return 0;
}

/* Decode a packet and everything in it. Return: as ktape_decode_packet(). */
__attribute__((unused)) static int feed_packet(struct feed *feed,
					       const void *data, size_t len)
{
	const struct ktape_visitor visitor = { feed_event, feed };
	struct ktape_error error;

	return ktape_decode_packet(data, len, feed->decoder, &visitor, &error);
}

#endif /* _LIB_FEED_H */
