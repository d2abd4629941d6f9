// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parse CTF metadata, as far as a ktape trace needs it.
 *
 * One pass over the tokens reads each "key = value" directly inside a block
 * ("trace { ... }", "env { ... }") and skips everything nested deeper.  An event
 * description that is identical to this library's is recognised as a whole, without
 * reading its tokens.  This is not a general CTF parser.
 */
#include <ctype.h>

#include "util/bits.h"

#include "stream/metadata.h"

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_SIGN
};

struct token {
	enum token_kind kind;
	const char *text;
	size_t len;
};

/**
 * struct parser - how far a text was parsed
 * @at: the next character
 * @end: end of the text
 * @depth: number of braces that are open
 * @block: word before the outermost of them
 * @key: key of the current "key = value"
 * @name: name of the event that is described
 * @id: number of this event, its opcode; -1 = not known yet
 * @next: index (kt_event_text()) of the description that is expected next
 * @is_ktape: env says that the tracer is ktape
 * @info: receives the values
 */
struct parser {
	const char *at;
	const char *end;
	unsigned int depth;
	struct token block;
	struct token key;
	char name[KTAPE_EVENT_NAME_SIZE];
	int64_t id;
	size_t next;
	bool is_ktape;
	struct ktape_info *info;
};

static void skip_metadata_blanks(struct parser *p)
{
	while (p->at < p->end) {
		if (isspace((unsigned char)*p->at)) {
			p->at++;
		} else if (p->end - p->at > 3 && p->at[0] == '/' && p->at[1] == '*') {
			p->at += 2;
			while (p->end - p->at > 1 &&
			       !(p->at[0] == '*' && p->at[1] == '/'))
				p->at++;
			p->at += p->end - p->at > 1 ? 2 : 1;
		} else {
			return;
		}
	}
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Take the next token: a word, a number, a string without its quotes, or any other character. */
static struct token next_token(struct parser *p)
{
	struct token t = { .kind = TOKEN_END };

	skip_metadata_blanks(p);
	if (p->at >= p->end)
		return t;
	t.text = p->at;
	if (*p->at == '"') {
		t.kind = TOKEN_STRING;
		t.text = ++p->at;
		while (p->at < p->end && *p->at != '"')
			p->at++;
		t.len = (size_t)(p->at - t.text);
		p->at += p->at < p->end;
		return t;
	}
	if (isdigit((unsigned char)*p->at) || *p->at == '-')
		t.kind = TOKEN_NUMBER;
	else if (in_word(*p->at))
		t.kind = TOKEN_WORD;
	else
		t.kind = TOKEN_SIGN;
	p->at++;
	if (t.kind != TOKEN_SIGN) {
		while (p->at < p->end && in_word(*p->at))
			p->at++;
	}
	t.len = (size_t)(p->at - t.text);
	return t;
}

static bool token_is(const struct token *t, const char *text)
{
	return t->len == strlen(text) && !memcmp(t->text, text, t->len);
}

/* Copy a text, cut to what fits. */
static void copy_metadata_text(char *to, size_t size, const struct token *t)
{
	size_t len = kt_min(t->len, size - 1);

	memcpy(to, t->text, len);
	to[len] = '\0';
}

/* Parse the digits that a token begins with; a number above 64 bits wraps around. */
static uint64_t parse_metadata_number(const struct token *t, unsigned int base)
{
	bool negative = t->len && t->text[0] == '-';
	uint64_t v = 0;

	for (size_t i = negative; i < t->len; i++) {
		int c = tolower((unsigned char)t->text[i]);
		unsigned int digit = isdigit(c) ? (unsigned int)(c - '0') :
						  (unsigned int)(c - 'a' + 10);

		if (!isxdigit(c) || digit >= base)
			break;
		v = v * base + digit;
	}
	return negative ? 0 - v : v;
}

static int metadata_hex_digit(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

static void read_uuid(uint8_t *uuid, const struct token *t)
{
	unsigned int digits = 0;

	memset(uuid, 0, 16);
	for (size_t i = 0; i < t->len && digits < 32; i++) {
		int digit = metadata_hex_digit(t->text[i]);

		if (digit < 0)
			continue;
		uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | digit);
		digits++;
	}
}

/*
 * Parse a list such as "0-3,6".  An invalid number stands for a CPU behind the last one: alone
 * or at the begin of a range it adds nothing, at the end of a range all further CPUs.
 */
static void read_cpus(uint64_t *cpus, const struct token *t)
{
	const char *end = t->text + t->len;
	struct token part = { .text = t->text };
	uint64_t first = 0;
	bool range = false;

	for (; part.text < end; part.text += part.len + 1) {
		uint64_t last;

		part.len = 0;
		while (part.text + part.len < end &&
		       isdigit((unsigned char)part.text[part.len]))
			part.len++;
		last = part.len && part.len < 6 ?
			       parse_metadata_number(&part, 10) :
			       KT_CPUS_MAX;
		first = range ? first : last;
		range = part.text + part.len < end && part.text[part.len] == '-';
		for (uint64_t cpu = first; !range && cpu <= last; cpu++)
			if (cpu < KT_CPUS_MAX)
				cpus[cpu / 64] |= 1ULL << (cpu % 64);
	}
}

enum value_type {
	VALUE_NUMBER,
	VALUE_HEX,
	VALUE_TEXT,
	VALUE_UUID,
	VALUE_FLAG, /* true whatever the value is */
	VALUE_CPUS
};

static const struct value {
	const char *block;
	const char *key;
	enum value_type type;
	size_t offset;
	size_t size;
} values[] = {
#define VALUE(block, key, type, member)                                \
	{                                                              \
		block, key, type, offsetof(struct ktape_info, member), \
			sizeof(((struct ktape_info *)0)->member)       \
	}
	VALUE("trace", "uuid", VALUE_UUID, uuid),
	VALUE("env", "table_hash", VALUE_HEX, table_hash),
	VALUE("env", "trace_clock", VALUE_TEXT, clock),
	VALUE("env", "mono_offset_ns", VALUE_NUMBER, mono_offset_ns),
	VALUE("env", "boot_offset_ns", VALUE_NUMBER, boot_offset_ns),
	VALUE("env", "real_offset_ns", VALUE_NUMBER, real_offset_ns),
	VALUE("env", "hostname", VALUE_TEXT, hostname),
	VALUE("env", "release", VALUE_TEXT, release),
	VALUE("env", "machine", VALUE_TEXT, machine),
	VALUE("env", "converted", VALUE_FLAG, converted),
	VALUE("env", "cpus", VALUE_FLAG, has_cpus),
	VALUE("env", "cpus", VALUE_CPUS, cpus),
	VALUE("clock", "freq", VALUE_NUMBER, freq),
	VALUE("clock", "offset_s", VALUE_NUMBER, offset_s),
	VALUE("clock", "offset", VALUE_NUMBER, offset),
#undef VALUE
};

static void take_metadata_event(struct parser *p, const struct token *value)
{
	if (token_is(&p->key, "name"))
		copy_metadata_text(p->name, sizeof(p->name), value);
	else if (token_is(&p->key, "id"))
		p->id = (int64_t)parse_metadata_number(value, 10);
}

/* Store the value of a "key = value" directly inside a block. */
static void take_metadata_value(struct parser *p, const struct token *value)
{
	if (token_is(&p->block, "event"))
		return take_metadata_event(p, value);
	if (token_is(&p->block, "env") && token_is(&p->key, "tracer_name"))
		p->is_ktape = token_is(value, "ktape");
	for (size_t i = 0; i < KT_ARRAY_SIZE(values); i++) {
		const struct value *v = &values[i];
		char *to = (char *)p->info + v->offset;
		uint64_t n;

		if (!token_is(&p->block, v->block) || !token_is(&p->key, v->key))
			continue;
		if (v->type == VALUE_TEXT) {
			copy_metadata_text(to, v->size, value);
		} else if (v->type == VALUE_UUID) {
			read_uuid((uint8_t *)to, value);
		} else if (v->type == VALUE_FLAG) {
			*(bool *)to = true;
		} else if (v->type == VALUE_CPUS) {
			read_cpus((uint64_t *)(void *)to, value);
		} else {
			n = parse_metadata_number(value,
						  v->type == VALUE_HEX ? 16 : 10);
			memcpy(to, &n, sizeof(n));
		}
	}
}

/*
 * End an event's block that began at @begin, and keep the event's name.  The event is known if our
 * table has the same text.  A time extension is no event of the table, and is always known.
 */
static void end_event(struct parser *p, const char *begin)
{
	size_t there = (size_t)(p->at - begin);
	unsigned int opcode;
	const char *ours;
	size_t len;

	if (p->id < 0 || p->id >= KTAPE_OPCODES)
		return;
	/* Names are printed without escapes. */
	if (p->name[strspn(p->name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		p->name[0] = '\0';
	memcpy(p->info->names[p->id], p->name, sizeof(p->name));
	p->next = kt_event_index((unsigned int)p->id);
	ours = kt_event_text(p->next++, &opcode, &len);
	/* This library's text ends in "};\n", the parser is after the "}". */
	if ((ours && len == there + 2 && !memcmp(ours, begin, there)) ||
	    p->id == KTAPE_TIME_EXTEND)
		kt_mask_add(p->info->known, (unsigned int)p->id);
}

/* Skip the next event description if it is identical to this library's. */
static bool take_ours(struct parser *p)
{
	const struct ktape_event_desc *desc;
	const char *ours;
	unsigned int opcode;
	size_t len;

	skip_metadata_blanks(p);
	ours = kt_event_text(p->next, &opcode, &len);
	if (!ours || (size_t)(p->end - p->at) < len || memcmp(p->at, ours, len))
		return false;
	desc = ktape_event_desc(opcode);
	snprintf(p->info->names[opcode], KTAPE_EVENT_NAME_SIZE, "%s", desc->name);
	kt_mask_add(p->info->known, opcode);
	p->at += len;
	p->next++;
	return true;
}

/* Take all values and event descriptions of the text; what is not understood is passed over. */
static void parse_tokens(struct parser *p)
{
	static const struct token end = { TOKEN_SIGN, ";", 1 };
	struct token before = { .kind = TOKEN_END }, t;

	for (;;) {
		if (!p->depth && take_ours(p)) {
			before = end;
			p->key.len = 0;
			continue;
		}
		t = next_token(p);
		if (t.kind == TOKEN_END)
			return;
		if (t.kind == TOKEN_SIGN && *t.text == '{') {
			if (p->depth++ == 0) {
				p->block = before;
				p->id = -1;
				p->name[0] = '\0';
			}
		} else if (t.kind == TOKEN_SIGN && *t.text == '}') {
			if (p->depth && --p->depth == 0 &&
			    token_is(&p->block, "event"))
				end_event(p, p->block.text);
		} else if (t.kind == TOKEN_SIGN && *t.text == '=') {
			p->key = before;
		} else if (t.kind == TOKEN_SIGN && *t.text == ';') {
			if (p->depth == 1 && p->key.len && before.text &&
			    before.kind != TOKEN_SIGN)
				take_metadata_value(p, &before);
			p->key.len = 0;
		}
		before = t;
	}
}

/*
 * Return the length of one copy if the text consists of several identical copies (a
 * pipe form whose metadata was written twice), else the length of the text.
 */
static size_t copy_length(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len), *again;
	size_t line, one;

	/* Our metadata begin with a comment. */
	if (!end || *text != '/')
		return len;
	line = (size_t)(end + 1 - text);
	again = memmem(text + line, len - line, text, line);
	one = again ? (size_t)(again - text) : len;
	/* It repeats every @one bytes if it equals itself from there on. */
	return !(len % one) && !memcmp(text, text + one, len - one) ? one : len;
}

/* Check whether metadata are in packets, in either byte order. */
bool kt_metadata_is_packets(const uint8_t *data, size_t len)
{
	return len >= 4 &&
	       (kt_get32(data) == KTAPE_METADATA_MAGIC ||
		__builtin_bswap32(kt_get32(data)) == KTAPE_METADATA_MAGIC);
}

/* Say why the text of a metadata packet cannot be read, or NULL. */
static const char *refuse_packet(const struct ktape_metadata_packet *m)
{
	if (m->compression)
		return "this metadata packet is compressed";
	if (m->encryption)
		return "this metadata packet is encrypted";
	return NULL;
}

/*
 * Join the texts of metadata packets; of a text that was written several times, keep one copy.
 * A rest that is too short for a header is left out.
 * Return: 0, then the caller frees @text; -EBADMSG; or -ENOMEM.
 */
int kt_metadata_unpack(const uint8_t *data, size_t len, char **text,
		       size_t *text_len, struct ktape_error *error)
{
	const size_t head = sizeof(struct ktape_metadata_packet);
	size_t at = 0;

	*text = malloc(len);
	*text_len = 0;
	if (!*text)
		return -ENOMEM;
	while (at < len) {
		struct ktape_metadata_packet m;
		uint64_t content, size;
		const char *why;
		bool big;

		if (len - at < head)
			break;
		memcpy(&m, data + at, head);
		big = le32toh(m.magic) != KTAPE_METADATA_MAGIC;
		content = (big ? be32toh(m.content_bits) : le32toh(m.content_bits)) /
			  8;
		size = (big ? be32toh(m.packet_bits) : le32toh(m.packet_bits)) / 8;
		why = refuse_packet(&m);
		if (!kt_metadata_is_packets(data + at, len - at) ||
		    content < head || content > size || size > len - at)
			why = "bad metadata packet";
		if (why) {
			free(*text);
			*text = NULL;
			return kt_error(error, at, "%s", why);
		}
		memcpy(*text + *text_len, data + at + head, content - head);
		*text_len += content - head;
		at += size;
	}
	*text_len = copy_length(*text, *text_len);
	return 0;
}

/* Take a character of a JSON text that we wrote.  Return: it, or -1: the text is damaged. */
static int take_character(const char **at, const char *end)
{
	int c = (unsigned char)*(*at)++, high, low;

	if (c != '\\')
		return c;
	if (*at == end)
		return -1;
	c = (unsigned char)*(*at)++;
	if (c != 'u')
		return c == '"' || c == '\\' ? c : -1;
	if (end - *at < 4 || memcmp(*at, "00", 2) != 0)
		return -1;
	high = metadata_hex_digit((*at)[2]);
	low = metadata_hex_digit((*at)[3]);
	*at += 4;
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/*
 * Take the text of CTF 1.8 out of metadata in CTF 2.
 * Return: 0, then the caller frees @text, which ends in NUL; -EBADMSG; or -ENOMEM.
 */
int kt_metadata_inner(const char *json, size_t len, char **text,
		      size_t *text_len, struct ktape_error *error)
{
	const char *at =
		memmem(json, len, KT_CTF2_TEXT "\"", strlen(KT_CTF2_TEXT "\""));
	const char *end = json + len;
	int c;

	*text = NULL;
	*text_len = 0;
	if (!at)
		return kt_error(error, 0,
				"these metadata in CTF 2 are not of a ktape trace");
	at += strlen(KT_CTF2_TEXT "\"");
	*text = malloc((size_t)(end - at) + 1);
	if (!*text)
		return -ENOMEM;
	while (at < end && *at != '"') {
		c = take_character(&at, end);
		if (c < 0)
			break;
		(*text)[(*text_len)++] = (char)c;
	}
	(*text)[*text_len] = '\0';
	if (at < end && *at == '"')
		return 0;
	free(*text);
	*text = NULL;
	return kt_error(error, (uint64_t)(at - json),
			"the metadata in CTF 2 are damaged");
}

/*
 * Convert an offset in the text to an offset in @data, which may be in packets.
 * UINT64_MAX (not known) is returned unchanged, and for CTF 2, whose text has escapes.
 */
uint64_t kt_metadata_offset(const uint8_t *data, size_t len, uint64_t offset)
{
	struct ktape_metadata_packet m;
	uint64_t text, at = 0;

	if (len && *data == (uint8_t)KT_CTF2_MARK)
		return UINT64_MAX;
	if (offset == UINT64_MAX || len < 4 || kt_get32(data) != KTAPE_METADATA_MAGIC)
		return offset;
	while (len - at >= sizeof(m)) {
		memcpy(&m, data + at, sizeof(m));
		text = le32toh(m.content_bits) / 8 - sizeof(m);
		if (offset < text)
			return at + sizeof(m) + offset;
		offset -= text;
		at += le32toh(m.packet_bits) / 8;
	}
	return len;
}

static int check_info(const struct parser *p, struct ktape_error *error)
{
	if (!p->is_ktape)
		return kt_error(error, 0,
				"the metadata does not belong to a ktape trace");
	if (!p->info->freq)
		return kt_error(error, 0, "the metadata has no clock frequency");
	if (p->info->freq > UINT64_MAX / 1000000000)
		return kt_error(error, 0,
				"the clock frequency in the metadata is out of range");
	return kt_clock_check(p->info, error);
}

int ktape_metadata_parse(const void *text, size_t len, struct ktape_info *info,
			 struct ktape_error *error)
{
	struct parser p = { .info = info };
	char *copy = NULL;
	int err;

	memset(info, 0, sizeof(*info));
	if (len >= 4 && kt_get32(text) == KTAPE_METADATA_MAGIC) {
		err = kt_metadata_unpack(text, len, &copy, &len, error);
		if (err)
			return err;
		text = copy;
	} else if (len && *(const char *)text == KT_CTF2_MARK) {
		err = kt_metadata_inner(text, len, &copy, &len, error);
		if (err)
			return err;
		text = copy;
	}
	p.at = text;
	p.end = p.at + len;
	parse_tokens(&p);
	free(copy);
	return check_info(&p, error);
}
