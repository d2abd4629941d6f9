// SPDX-License-Identifier: LGPL-2.1-or-later
/* Convert names of events, classes and presets to a mask of opcodes. */
#include <fnmatch.h>

#include "util/bits.h"
#include "util/near.h"
#include "util/parse.h"

#include "stream/packet.h"

#define NAME_MAX_LEN  127
#define OPCODE_PREFIX "opcode_"

/* The classes of the preset "default". */
static const uint8_t default_classes[] = {
	KTAPE_CLASS_SCHED,   KTAPE_CLASS_PROCESS,   KTAPE_CLASS_IRQ,
	KTAPE_CLASS_SOFTIRQ, KTAPE_CLASS_EXCEPTION, KTAPE_CLASS_USER,
	KTAPE_CLASS_CONTROL,
};

/* Events that are frequent or large, and so are recorded only if they are named. */
static const uint8_t on_request[] = {
#define KTAPE_ON_REQUEST(NAME) KTAPE_EV_##NAME,
#include <ktape/events.h>
};

/* Events that come with others and cannot be enabled on their own. */
static const uint8_t implied[] = {
#define KTAPE_IMPLIED(NAME) KTAPE_EV_##NAME,
#include <ktape/events.h>
};

static bool is_one_of(unsigned int opcode, const uint8_t *list, size_t nr)
{
	return memchr(list, (int)opcode, nr);
}

/* Check whether an event need not be named.  From KTAPE_OP_PROBE on are probes that users add. */
static bool is_usual(unsigned int opcode)
{
	return !is_one_of(opcode, on_request, sizeof(on_request)) &&
	       !is_one_of(opcode, implied, sizeof(implied)) &&
	       opcode < KTAPE_OP_PROBE;
}

/* What a mask is used for. */
enum purpose {
	TO_RECORD, /* events on request must be named */
	TO_SHOW	   /* all opcodes, even those that the table does not have */
};

/* Return the number of opcodes; a time extension can be shown, but not recorded. */
static unsigned int nr_opcodes(enum purpose purpose)
{
	return purpose == TO_SHOW ? KTAPE_OPCODES : KTAPE_TIME_EXTEND;
}

/* Check whether classes, globs and "all" include an event. */
static bool is_included(unsigned int opcode, enum purpose purpose)
{
	return purpose == TO_SHOW || is_usual(opcode);
}

static void add_all_events(uint64_t *mask, enum purpose purpose)
{
	for (unsigned int i = 0; i < nr_opcodes(purpose); i++) {
		if (purpose == TO_SHOW || (ktape_event_desc(i) && is_usual(i)))
			kt_mask_add(mask, i);
	}
}

static void add_mask_class(uint64_t *mask, unsigned int event_class,
			   enum purpose purpose)
{
	for (unsigned int i = 0; i < nr_opcodes(purpose); i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (d && d->event_class == event_class && is_included(i, purpose))
			kt_mask_add(mask, i);
	}
}

static bool add_preset(uint64_t *mask, const char *name, enum purpose purpose)
{
	if (!strcmp(name, "none"))
		return true;
	if (!strcmp(name, "default")) {
		for (size_t i = 0; i < KT_ARRAY_SIZE(default_classes); i++)
			add_mask_class(mask, default_classes[i], purpose);
		return true;
	}
	if (strcmp(name, "all"))
		return false;
	add_all_events(mask, purpose);
	return true;
}

static bool add_named_class(uint64_t *mask, const char *name, enum purpose purpose)
{
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		const struct ktape_class_desc *c = ktape_class_desc(i);

		if (c && !strcmp(c->name, name)) {
			add_mask_class(mask, i, purpose);
			return true;
		}
	}
	return false;
}

/* Add the events that match a glob; events on request only if no other one matches. */
static bool add_matching(uint64_t *mask, const char *glob, enum purpose purpose)
{
	uint64_t asked[KTAPE_MASK_WORDS] = { 0 };
	bool usual = false, found = false;

	if (!strpbrk(glob, "*?["))
		return false;
	for (unsigned int i = 0; i < nr_opcodes(purpose); i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);
		bool itself = is_included(i, purpose);

		if (!d || fnmatch(glob, d->name, 0) ||
		    (!itself && is_one_of(i, implied, sizeof(implied))))
			continue;
		found = true;
		usual |= itself;
		kt_mask_add(itself ? mask : asked, i);
	}
	for (size_t i = 0; !usual && i < KTAPE_MASK_WORDS; i++)
		mask[i] |= asked[i];
	return found;
}

/* Add an event that the table does not have, named "opcode_N". */
static bool add_mask_number(uint64_t *mask, const char *name)
{
	const size_t len = strlen(OPCODE_PREFIX);
	uint64_t opcode;

	if (strncmp(name, OPCODE_PREFIX, len) ||
	    kt_parse_u64(name + len, &opcode) || opcode >= KTAPE_OPCODES)
		return false;
	kt_mask_add(mask, (unsigned int)opcode);
	return true;
}

/* Add what an item means: an event, preset, class, mask in hexadecimal, glob or number. */
static bool add_mask_name(uint64_t *mask, const char *name, enum purpose purpose)
{
	const struct ktape_event_desc *d = ktape_event_find(name);

	if (d) {
		kt_mask_add(mask, d->opcode);
		return true;
	}
	return add_preset(mask, name, purpose) ||
	       add_named_class(mask, name, purpose) ||
	       !kt_parse_mask(name, mask) || add_matching(mask, name, purpose) ||
	       (purpose == TO_SHOW && add_mask_number(mask, name));
}

/*
 * Make a mask of a list.  @bad, if not NULL, is set to each item in turn, so after an error it is
 * the bad one.  Return: 0 or -ENOENT.
 */
static int parse_mask_list(const char *list, uint64_t mask[KTAPE_MASK_WORDS],
			   const char **bad, enum purpose purpose)
{
	const char *part = list;
	bool first = true;

	memset(mask, 0, KTAPE_MASK_WORDS * sizeof(*mask));
	while (*part) {
		uint64_t these[KTAPE_MASK_WORDS] = { 0 };
		size_t skip = strspn(part, " \t");
		size_t len = strcspn(part + skip, ","), end = len;
		char name[NAME_MAX_LEN + 1];
		bool without;

		part += skip;
		while (len && (part[len - 1] == ' ' || part[len - 1] == '\t'))
			len--;
		without = *part == '!';
		if (bad)
			*bad = part;
		if (len - without > NAME_MAX_LEN)
			return -ENOENT;
		memcpy(name, part + without, len - without);
		name[len - without] = '\0';
		if (*name && !add_mask_name(these, name, purpose))
			return -ENOENT;
		/* A list that begins with "!X" means all events but X. */
		if (without && first)
			add_all_events(mask, purpose);
		first = false;
		for (size_t i = 0; i < KTAPE_MASK_WORDS; i++) {
			if (without)
				mask[i] &= ~these[i];
			else
				mask[i] |= these[i];
		}
		part += end;
		part += *part == ',';
	}
	return 0;
}

int ktape_mask_parse(const char *list, uint64_t mask[KTAPE_MASK_WORDS],
		     const char **bad)
{
	return parse_mask_list(list, mask, bad, TO_RECORD);
}

int ktape_mask_parse_shown(const char *list, uint64_t mask[KTAPE_MASK_WORDS],
			   const char **bad)
{
	return parse_mask_list(list, mask, bad, TO_SHOW);
}

static void try_classes(struct kt_near *n)
{
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		const struct ktape_class_desc *c = ktape_class_desc(i);

		if (c)
			kt_near_try(n, c->name);
	}
}

const char *ktape_event_near(const char *text)
{
	static const char *const presets[] = { "default", "all", "none" };
	struct kt_near n = { .best = NULL };
	size_t len;

	n.word = text + (*text == '!');
	len = strcspn(n.word, ",");
	n.len = kt_min(strcspn(n.word, "*?["), len);
	n.begins = n.len < len;
	/* Of events whose names begin alike, the class stands for all: "scehd_*" is sched. */
	if (n.begins) {
		while (n.len && n.word[n.len - 1] == '_')
			n.len--;
		try_classes(&n);
	}
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		if (d && i != KTAPE_TIME_EXTEND)
			kt_near_try(&n, d->name);
	}
	if (!n.begins)
		try_classes(&n);
	for (size_t i = 0; i < KT_ARRAY_SIZE(presets); i++)
		kt_near_try(&n, presets[i]);
	return n.best;
}
