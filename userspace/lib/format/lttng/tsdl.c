// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parse CTF 1.8 metadata (TSDL) as tracers write it: LTTng, ktape, barectf, babeltrace2.
 *
 *	typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
 *	struct packet_context { ... };
 *	trace { ...; packet.header := struct { ... }; };
 *	env { ... };	clock { ... };
 *	stream { id = 0; event.header := struct ...; packet.context := struct ...; };
 *	event { name = "..."; id = 0; stream_id = 0; fields := struct { ... }; };
 *
 * What lengths of sequences and tags of variants refer to is found later (resolve.c).  Not
 * read: typedef of function-like declarators, and callsite blocks, which are skipped.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/bits.h"

#include "tsdl.h"

enum block { TRACE, ENV, CLOCK, STREAM, EVENT };

static void copy_token(char *to, size_t size, const char *from)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

static bool parse_uuid(const char *text, uint8_t uuid[16])
{
	unsigned int digits = 0;

	for (; *text && digits < 32; text++) {
		unsigned int v;

		if (*text == '-')
			continue;
		if (*text >= '0' && *text <= '9')
			v = (unsigned int)(*text - '0');
		else if ((*text | 32) >= 'a' && (*text | 32) <= 'f')
			v = (unsigned int)((*text | 32) - 'a' + 10);
		else
			return false;
		uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | v);
		digits++;
	}
	return digits == 32;
}

static void set_trace(struct tsdl *p, const char *key)
{
	if (!strcmp(key, "uuid") && p->token == TSDL_TEXT) {
		p->c->has_uuid = parse_uuid(p->word, p->c->uuid);
	} else if (!strcmp(key, "major") && p->token == TSDL_NUMBER &&
		   p->number != 1) {
		tsdl_bad(p, "the metadata is CTF %lld in the form of 1.8",
			 (long long)p->number);
	}
}

static void set_env(struct tsdl *p, const char *key)
{
	struct ctf *c = p->c;
	struct ctf_env *more = ctf_grow(c, c->env, c->nr_env, sizeof(*more));
	char number[24];

	if (!more) {
		tsdl_no_memory(p);
		return;
	}
	c->env = more;
	more += c->nr_env++;
	snprintf(number, sizeof(number), "%lld", (long long)p->number);
	more->key = ctf_name(c, key);
	more->is_number = p->token == TSDL_NUMBER;
	more->text = more->is_number ? ctf_name(c, number) : p->word;
	if (!more->key || !more->text) {
		tsdl_no_memory(p);
		return;
	}
	for (size_t i = 0;
	     p->token == TSDL_NUMBER && i < KT_ARRAY_SIZE(ctf_versions); i++) {
		if (!strcmp(key, ctf_versions[i]))
			c->version_of[i] = (uint64_t)p->number;
	}
	if (p->token != TSDL_TEXT)
		return;
	if (!strcmp(key, "hostname"))
		copy_token(c->hostname, sizeof(c->hostname), p->word);
	else if (!strcmp(key, "domain"))
		copy_token(c->domain, sizeof(c->domain), p->word);
	else if (!strcmp(key, "tracer_name"))
		copy_token(c->tracer, sizeof(c->tracer), p->word);
	else if (!strcmp(key, "kernel_release"))
		copy_token(c->release, sizeof(c->release), p->word);
}

static void set_tsdl_clock(struct tsdl *p, const char *key)
{
	struct ctf_clock *c = &p->c->clocks[p->c->nr_clocks - 1];

	if (!strcmp(key, "name"))
		c->name = c->shown = p->word;
	else if (!strcmp(key, "uuid"))
		c->uuid = p->word;
	else if (!strcmp(key, "absolute"))
		c->absolute = tsdl_is(p, "TRUE") || tsdl_is(p, "true") ||
			      (p->token == TSDL_NUMBER && p->number);
	if (p->token != TSDL_NUMBER)
		return;
	if (!strcmp(key, "freq")) {
		c->origin.freq = (uint64_t)p->number;
		if (p->number <= 0)
			tsdl_bad(p, "the frequency of the clock is not positive");
	} else if (!strcmp(key, "offset_s")) {
		c->origin.offset_s = p->number;
	} else if (!strcmp(key, "offset")) {
		c->origin.offset = (uint64_t)p->number;
	}
}

static void set_stream(struct tsdl *p, const char *key)
{
	struct ctf_stream *s = &p->c->streams[p->c->nr_streams - 1];

	if (!strcmp(key, "id") && p->token == TSDL_NUMBER)
		s->id = (uint64_t)p->number;
}

static void set_event(struct tsdl *p, const char *key)
{
	struct ctf_class *e = &p->c->classes[p->c->nr_classes - 1];

	if (!strcmp(key, "name"))
		e->name = p->word;
	else if (!strcmp(key, "id") && p->token == TSDL_NUMBER)
		e->id = (uint64_t)p->number;
	else if (!strcmp(key, "stream_id") && p->token == TSDL_NUMBER)
		e->stream = (uint64_t)p->number;
}

static void (*const setters[])(struct tsdl *p, const char *key) = {
	[TRACE] = set_trace,   [ENV] = set_env,	    [CLOCK] = set_tsdl_clock,
	[STREAM] = set_stream, [EVENT] = set_event,
};

static void set_tsdl_type(struct tsdl *p, enum block block, const char *key,
			  const struct ctf_type *t)
{
	struct ctf_stream *s =
		block == STREAM ? &p->c->streams[p->c->nr_streams - 1] : NULL;
	struct ctf_class *e =
		block == EVENT ? &p->c->classes[p->c->nr_classes - 1] : NULL;

	if (t->kind != CTF_STRUCT) {
		tsdl_bad(p, "%.80s is not a structure", key);
		return;
	}
	if (block == TRACE && !strcmp(key, "packet.header"))
		p->c->packet_header = t;
	else if (s && !strcmp(key, "packet.context"))
		s->packet_context = t;
	else if (s && !strcmp(key, "event.header"))
		s->event_header = t;
	else if (s && !strcmp(key, "event.context"))
		s->event_context = t;
	else if (e && !strcmp(key, "context"))
		e->context = t;
	else if (e && !strcmp(key, "fields"))
		e->fields = t;
}

/* Parse "{ key = value; path := TYPE; ... };" of a block. */
static bool parse_tsdl_block(struct tsdl *p, enum block block)
{
	const struct tsdl_alias *outside = p->aliases;

	tsdl_next(p);
	if (!tsdl_expect(p, "{"))
		return false;
	while (!tsdl_is(p, "}") && p->token != TSDL_END && !p->failed) {
		char key[TSDL_ALIAS] = "";
		size_t len = 0;

		if (tsdl_is(p, "typealias")) {
			tsdl_parse_alias(p);
			continue;
		}
		for (; p->token == TSDL_WORD || tsdl_is(p, "."); tsdl_next(p)) {
			snprintf(key + len, sizeof(key) - len, "%s", p->word);
			len = kt_min(len + strlen(p->word), sizeof(key) - 1);
		}
		if (tsdl_accept(p, ":=")) {
			const struct ctf_type *t = tsdl_parse_type(p);

			if (!t)
				return tsdl_bad(p, "%.80s has no type", key);
			set_tsdl_type(p, block, key, t);
		} else if (tsdl_accept(p, "=")) {
			setters[block](p, key);
		}
		tsdl_skip_statement(p);
		tsdl_accept(p, ";");
	}
	tsdl_leave(p, outside);
	/* The semicolon may be missing. */
	return tsdl_expect(p, "}") && (tsdl_accept(p, ";") || true);
}

static bool add_tsdl_stream(struct tsdl *p)
{
	struct ctf_stream *s = ctf_add_stream(p->c);

	if (s)
		s->offset = (uint64_t)(p->from - p->text);
	return s;
}

static bool add_tsdl_class(struct tsdl *p)
{
	struct ctf_class *e = ctf_add_class(p->c);

	if (e)
		e->offset = (uint64_t)(p->from - p->text);
	return e;
}

static bool parse_statement(struct tsdl *p)
{
	static const struct {
		const char *word;
		enum block block;
	} blocks[] = {
		{ "trace", TRACE },   { "env", ENV },	  { "clock", CLOCK },
		{ "stream", STREAM }, { "event", EVENT },
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(blocks); i++) {
		if (!tsdl_is(p, blocks[i].word))
			continue;
		if ((blocks[i].block == STREAM && !add_tsdl_stream(p)) ||
		    (blocks[i].block == CLOCK && !ctf_add_clock(p->c)) ||
		    (blocks[i].block == EVENT && !add_tsdl_class(p)))
			return tsdl_no_memory(p);
		return parse_tsdl_block(p, blocks[i].block);
	}
	if (tsdl_is(p, "typealias"))
		return tsdl_parse_alias(p);
	if (tsdl_is(p, "typedef"))
		return tsdl_parse_typedef(p);
	if (tsdl_is(p, "struct") || tsdl_is(p, "variant") || tsdl_is(p, "enum"))
		return tsdl_parse_type(p) && tsdl_expect(p, ";");
	/* Also the ";" behind "enum NAME", which declares nothing and is no error. */
	if (p->token == TSDL_WORD || tsdl_is(p, ";")) { /* callsite and others */
		tsdl_skip_statement(p);
		tsdl_accept(p, ";");
		return true;
	}
	return tsdl_bad(p, "\"%.40s\" begins no statement", p->word);
}

/*
 * Find the byte order of the trace before parsing: it holds for all numbers, also for those that
 * are declared before it.  Errors in the text are reported when it is parsed.
 */
static void find_order(struct ctf *c, const char *text, size_t len)
{
	struct ktape_error error;
	struct tsdl p = {
		.c = c,
		.text = text,
		.at = text,
		.end = text + len,
		.from = text,
		.error = &error,
	};
	struct ctf_type order = { .big = false };
	unsigned int depth = 0;
	bool inside = false;

	for (tsdl_next(&p); p.token != TSDL_END; tsdl_next(&p)) {
		if (tsdl_is(&p, "{"))
			depth++;
		else if (tsdl_is(&p, "}"))
			depth -= depth > 0;
		else if (!depth && (p.token == TSDL_WORD || tsdl_is(&p, ";")))
			inside = tsdl_is(&p, "trace");
		if (!inside || depth != 1 || !tsdl_is(&p, "byte_order"))
			continue;
		tsdl_next(&p);
		if (tsdl_accept(&p, "="))
			tsdl_set_order(&p, &order);
		break;
	}
	c->big = order.big;
}

/**
 * ctf_parse_tsdl() - parse CTF 1.8 metadata
 * @c: empty; filled.  Ends with ctf_free(), also after an error
 * @text: the metadata, without packets
 * @len: bytes of @text
 * @error: filled on -EBADMSG
 *
 * Return: 0, -EBADMSG or -ENOMEM.  If it fails with @c->limit set, that text is the reason, also
 * where @error has another one.
 */
int ctf_parse_tsdl(struct ctf *c, const char *text, size_t len,
		   struct ktape_error *error)
{
	struct tsdl p = {
		.c = c,
		.text = text,
		.at = text,
		.end = text + len,
		.from = text,
		.error = error,
	};

	c->version = 1;
	c->origin.freq = 1000000000; /* unless a clock is declared: ctf_bind_clocks() */
	find_order(c, text, len);
	tsdl_next(&p);
	while (p.token != TSDL_END && !p.failed)
		parse_statement(&p);
	return p.failed;
}
