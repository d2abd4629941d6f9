// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse filters in the syntax of ktape(1): lists of entries, separated by commas. */
#include "util/parse.h"

#include "filter/internal.h"

#define ITEM_MAX    (KT_PATH_MAX - 1)
#define GATE_MAX_NS 3600000000000ULL /* an hour */
#define LEVELS	    4		     /* of severity */

/* An item of @list: @len bytes at @at, and a copy of them, @text, which may be changed. */
struct item {
	const char *list;
	const char *at;
	size_t len;
	struct ktape_error *error;
	char text[ITEM_MAX + 1];
};

/* Pairs of begin and end of which a gate filter records only those that take longer than a time. */
static const char *const gates[] = {
	[KTAPE_GATE_SYSCALL] = "syscall", [KTAPE_GATE_IRQ] = "irq",
	[KTAPE_GATE_SOFTIRQ] = "softirq", [KTAPE_GATE_TIMER] = "timer",
	[KTAPE_GATE_HRTIMER] = "hrtimer", [KTAPE_GATE_WORK] = "work",
};

/* Names of the KTAPE_PID_* bits. */
const char *const kt_pid_flags[] = { "threads", "children", "except", NULL };

/* Return the name of a pair of a gate filter, or NULL. */
const char *kt_gate_name(unsigned int gate)
{
	return gate < KT_ARRAY_SIZE(gates) ? gates[gate] : NULL;
}

int ktape_filter_kind(const char *name)
{
	for (unsigned int i = 0; i < KTAPE_FILTER_KINDS; i++) {
		if (!strcmp(ktape_value_name(KTAPE_TYPE_FILTER, i), name))
			return (int)i;
	}
	return -ENOENT;
}

/* Append a zeroed entry.  Return: the entry, or NULL if there is no memory. */
void *kt_filter_add(struct ktape_filter_value *v, size_t size)
{
	char *more = realloc(v->entries, v->size + size);

	if (!more)
		return NULL;
	v->entries = more;
	more += v->size;
	memset(more, 0, size);
	v->size += size;
	v->nr++;
	return more;
}

/* Report a bad item.  Return: -EBADMSG. */
static int report_item(const struct item *it, const char *expected)
{
	return kt_error(it->error, (uint64_t)(it->at - it->list),
			"\"%.40s\" is not valid, expected %s", it->text, expected);
}

/* Report too many entries.  Return: -EBADMSG. */
static int report_too_many(const struct item *it, unsigned int most)
{
	return kt_error(it->error, (uint64_t)(it->at - it->list),
			"more than %u entries", most);
}

/* Cut NAME=VALUE in two.  Return: VALUE or NULL. */
static char *cut_value(struct item *it)
{
	char *value = strchr(it->text, '=');

	if (!value)
		return NULL;
	*value = '\0';
	return value + 1;
}

/* Return the KTAPE_PID_* bit of a name, or 0. */
static uint32_t pid_flag(const char *name)
{
	for (uint32_t i = 0; kt_pid_flags[i]; i++) {
		if (!strcmp(kt_pid_flags[i], name))
			return 1U << i;
	}
	return 0;
}

/* Add a thread: "123", "123:threads", "123:children:except". */
static int add_filter_pid(struct ktape_filter_value *v, struct item *it)
{
	struct ktape_filter_pid *pid;
	char *name = strchr(it->text, ':'), *next;
	uint32_t flags = 0, flag;
	uint64_t nr;

	for (; name; name = next) {
		*name++ = '\0';
		next = strchr(name, ':');
		if (next)
			*next = '\0';
		flag = pid_flag(name);
		if (!flag)
			return report_item(
				it, "a thread id with :threads, :children or :except");
		flags |= flag;
		if (next)
			*next = ':';
	}
	if (kt_parse_u64(it->text, &nr) || !nr || nr > INT32_MAX)
		return report_item(it, "a thread id");
	if (v->nr == KTAPE_FILTER_PIDS)
		return report_too_many(it, KTAPE_FILTER_PIDS);
	pid = kt_filter_add(v, sizeof(*pid));
	if (!pid)
		return -ENOMEM;
	pid->pid = (int32_t)nr;
	pid->flags = flags;
	return 0;
}

/*
 * Replace "\xHH" by that byte, and "\" before another character by the character.
 * Return: false if an escape is not valid.
 */
static bool unescape_name(char *text)
{
	char *to = text, byte[5] = "0x";
	uint64_t value;

	for (; *text; text++) {
		if (*text != '\\') {
			*to++ = *text;
		} else if (*++text == 'x') {
			memcpy(byte + 2, text + 1, strnlen(text + 1, 2) + 1);
			byte[4] = '\0';
			if (strlen(byte) != 4 || kt_parse_u64(byte, &value) || !value)
				return false;
			*to++ = (char)value;
			text += 2;
		} else if (*text) {
			*to++ = *text;
		} else {
			return false;
		}
	}
	*to = '\0';
	return true;
}

static int add_cgroup(struct ktape_filter_value *v, struct item *it)
{
	char *name;

	if (v->nr == KTAPE_FILTER_CGROUPS)
		return report_too_many(it, KTAPE_FILTER_CGROUPS);
	if (!unescape_name(it->text))
		return report_item(it, "a character or xHH after \\");
	name = kt_filter_add(v, strlen(it->text) + 1);
	if (!name)
		return -ENOMEM;
	strcpy(name, it->text);
	return 0;
}

/*
 * Return the uid of a user name in /etc/passwd, or -1.  getpwnam() would need the C library's
 * shared modules, which the static command cannot count on.
 */
static int64_t find_filter_user(const char *name)
{
	FILE *f = fopen("/etc/passwd", "re");
	size_t room = 0, len = strlen(name);
	int64_t uid = -1;
	char *line = NULL, *p;

	while (f && uid < 0 && getline(&line, &room, f) > 0) {
		if (strncmp(line, name, len) || line[len] != ':')
			continue;
		p = strchr(line + len + 1, ':');
		if (p)
			uid = (int64_t)strtoul(p + 1, NULL, 10);
	}
	free(line);
	if (f)
		fclose(f);
	return uid;
}

static int add_uid(struct ktape_filter_value *v, struct item *it)
{
	uint32_t *to;
	uint64_t uid;

	if (kt_parse_u64(it->text, &uid))
		uid = (uint64_t)find_filter_user(it->text);
	if (uid >= UINT32_MAX)
		return report_item(it, "a user name or uid");
	if (v->nr == KTAPE_FILTER_UIDS)
		return report_too_many(it, KTAPE_FILTER_UIDS);
	to = kt_filter_add(v, sizeof(*to));
	if (!to)
		return -ENOMEM;
	*to = (uint32_t)uid;
	return 0;
}

/*
 * Add a severity: a level, or a name that ends in one (SW2, _TRACE_HW_SEVERITY2).  Only the
 * level counts, and there can be one entry.
 */
static int add_severity(struct ktape_filter_value *v, struct item *it)
{
	static const char *const before[] = {
		"",
		"SW",
		"HW",
		"_TRACE_SW_SEVERITY",
		"_TRACE_HW_SEVERITY",
		"KTAPE_SW_SEVERITY",
		"KTAPE_HW_SEVERITY",
	};
	size_t len = strlen(it->text);
	uint32_t *to;
	char digit;

	if (v->nr)
		return report_too_many(it, 1);
	digit = len ? it->text[len - 1] : '\0';
	for (size_t i = 0; i < KT_ARRAY_SIZE(before); i++) {
		if (strlen(before[i]) != len - 1 || digit < '0' ||
		    digit >= '0' + LEVELS || strncmp(before[i], it->text, len - 1))
			continue;
		to = kt_filter_add(v, sizeof(*to));
		if (!to)
			return -ENOMEM;
		*to = (uint32_t)(digit - '0');
		return 0;
	}
	return report_item(it, "a severity (0 to 3, SW2, _TRACE_SW_SEVERITY2)");
}

static int add_gate(struct ktape_filter_value *v, struct item *it)
{
	const struct ktape_filter_gate *known = v->entries;
	struct ktape_filter_gate *to;
	char *value = cut_value(it);
	unsigned int gate = 0;
	uint64_t ns;

	while (gate < KTAPE_GATES && strcmp(gates[gate], it->text))
		gate++;
	if (gate == KTAPE_GATES || !value)
		return report_item(
			it, "PAIR=DURATION (syscall, irq, softirq, timer, hrtimer, work)");
	if (kt_parse_time(value, &ns) || ns > GATE_MAX_NS)
		return kt_error(it->error, (uint64_t)(it->at - it->list),
				"\"%.40s\" is not valid, expected a duration of at most an hour (10us, 2ms)",
				value);
	for (uint32_t i = 0; i < v->nr; i++) {
		if (known[i].gate == gate)
			return report_item(it, "each gate only once");
	}
	to = kt_filter_add(v, sizeof(*to));
	if (!to)
		return -ENOMEM;
	to->gate = gate;
	to->ns = ns;
	return 0;
}

/* Add the limit of an event, or replace an earlier one. */
static int add_limit(struct ktape_filter_value *v, const struct item *it,
		     unsigned int opcode, uint32_t limit)
{
	struct ktape_filter_rate *known = v->entries, *to = NULL;

	for (uint32_t i = 0; i < v->nr; i++) {
		if (known[i].opcode == opcode)
			to = &known[i];
	}
	if (!to && v->nr == KTAPE_FILTER_RATES)
		return report_too_many(it, KTAPE_FILTER_RATES);
	if (!to)
		to = kt_filter_add(v, sizeof(*to));
	if (!to)
		return -ENOMEM;
	to->opcode = opcode;
	to->per_second = limit;
	return 0;
}

static int add_rate(struct ktape_filter_value *v, struct item *it)
{
	static const uint64_t none[KTAPE_MASK_WORDS];
	uint64_t mask[KTAPE_MASK_WORDS], limit;
	char *value = cut_value(it);
	int err = 0;

	if (!value || !*it->text || ktape_mask_parse(it->text, mask, NULL) ||
	    !memcmp(mask, none, sizeof(mask)))
		return report_item(it, "EVENT=N");
	if (kt_parse_u64(value, &limit) || limit > UINT32_MAX)
		return kt_error(it->error, (uint64_t)(it->at - it->list),
				"\"%.40s\" is not valid, expected a number of events per second",
				value);
	for (unsigned int i = 0; i < KTAPE_OPCODES && !err; i++) {
		if (kt_mask_has(mask, i))
			err = add_limit(v, it, i, (uint32_t)limit);
	}
	return err;
}

static int (*const adders[KTAPE_FILTER_KINDS])(struct ktape_filter_value *v,
					       struct item *it) = {
	[KTAPE_FILTER_PID] = add_filter_pid,
	[KTAPE_FILTER_CGROUP] = add_cgroup,
	[KTAPE_FILTER_UID] = add_uid,
	[KTAPE_FILTER_SEVERITY] = add_severity,
	[KTAPE_FILTER_GATE] = add_gate,
	[KTAPE_FILTER_RATE] = add_rate,
};

/*
 * Return the length of an item: up to a comma, without trailing blanks.  A comma or blank behind a
 * backslash is part of the item.
 */
static size_t item_length(const char *text)
{
	size_t len = 0, at = 0;

	for (; text[at] && text[at] != ','; at++) {
		if (text[at] == '\\' && text[at + 1])
			at++;
		else if (text[at] == ' ' || text[at] == '\t')
			continue;
		len = at + 1;
	}
	return len;
}

/* Take the next item that is not empty.  Return: 1, 0 at the end, or an error. */
static int next_item(struct item *it)
{
	it->at += it->len;
	it->at += strspn(it->at, ", \t");
	it->len = item_length(it->at);
	if (!it->len)
		return 0;
	if (it->len > ITEM_MAX)
		return kt_error(it->error, (uint64_t)(it->at - it->list),
				"an entry has more than 4095 bytes");
	memcpy(it->text, it->at, it->len);
	it->text[it->len] = '\0';
	return 1;
}

static void set_all(unsigned int kind, uint64_t *bits)
{
	for (unsigned int i = kt_bits_in_use(kind); i--;)
		kt_mask_add(bits, i);
}

/*
 * Set the bits of an item in @bits or, with a leading "!", clear them.  A list whose @first item
 * has a "!" means all but these.
 */
static int take_filter_bits(const struct kt_bits *b, unsigned int kind,
			    struct item *it, uint64_t *bits, bool first)
{
	uint64_t these[KT_CPUS_MAX / 64] = { 0 };
	bool without = it->text[0] == '!';

	if (without && first)
		set_all(kind, bits);
	if (!strcmp(it->text + without, "all"))
		set_all(kind, these);
	else if (strcmp(it->text + without, "none") &&
		 !b->add(b, it->text + without, these))
		return kt_error(it->error, (uint64_t)(it->at - it->list),
				"unknown %s \"%.40s\"",
				ktape_value_name(KTAPE_TYPE_FILTER, kind),
				it->text);
	for (unsigned int i = 0; i < b->words; i++) {
		if (without)
			bits[i] &= ~these[i];
		else
			bits[i] |= these[i];
	}
	return 0;
}

static int parse_bits(struct ktape_filter_value *v, struct item *it)
{
	const struct kt_bits *b = &kt_filter_bits[v->kind];
	uint64_t bits[KT_CPUS_MAX / 64] = { 0 };
	unsigned int words = b->words;
	bool first = true;
	uint64_t *to;
	int ret;

	while ((ret = next_item(it)) > 0) {
		ret = take_filter_bits(b, v->kind, it, bits, first);
		if (ret)
			return ret;
		first = false;
	}
	/* The kernel rejects words above its highest CPU: drop empty words at the end. */
	while (v->kind == KTAPE_FILTER_CPU && words > 1 && !bits[words - 1])
		words--;
	for (unsigned int i = 0; i < words && !ret; i++) {
		to = kt_filter_add(v, sizeof(*to));
		if (!to)
			return -ENOMEM;
		*to = bits[i];
	}
	return ret;
}

static int parse_mask(struct ktape_filter_value *v, const struct item *it)
{
	uint64_t mask[KTAPE_MASK_WORDS], *to;
	const char *wrong = it->list, *near;

	if (ktape_mask_parse(it->list, mask, &wrong)) {
		near = ktape_event_near(wrong);
		return kt_error(it->error, (uint64_t)(wrong - it->list),
				"unknown event \"%.*s\"%s%s%s",
				(int)kt_min(strcspn(wrong, ","), 40), wrong,
				near ? ": did you mean \"" : "",
				near ? near : "", near ? "\"?" : "");
	}
	for (unsigned int i = 0; i < KTAPE_MASK_WORDS; i++) {
		to = kt_filter_add(v, sizeof(*to));
		if (!to)
			return -ENOMEM;
		*to = mask[i];
	}
	return 0;
}

static int parse_entries(struct ktape_filter_value *v, struct item *it)
{
	int ret;

	if (!strcmp(it->list, "none"))
		return 0;
	while ((ret = next_item(it)) > 0) {
		ret = adders[v->kind](v, it);
		if (ret)
			return ret;
	}
	return ret;
}

int ktape_filter_parse(unsigned int kind, const char *text,
		       struct ktape_filter_value *value, struct ktape_error *error)
{
	struct item it = { .list = text, .at = text, .error = error };
	int ret;

	*value = (struct ktape_filter_value){ .kind = kind, .active = true };
	if (kind >= KTAPE_FILTER_KINDS)
		return -EINVAL;
	if (!strcmp(text, "off")) {
		value->active = false;
		return 0;
	}
	if (!text[strspn(text, ", \t")])
		return kt_error(
			error, 0,
			"the list is empty; write \"none\" for an empty filter");
	if (kt_filter_bits[kind].bits)
		ret = parse_bits(value, &it);
	else if (kind == KTAPE_FILTER_STACK)
		ret = parse_mask(value, &it);
	else
		ret = parse_entries(value, &it);
	if (ret)
		ktape_filter_release(value);
	return ret;
}

void ktape_filter_release(struct ktape_filter_value *value)
{
	free(value->entries);
	*value = (struct ktape_filter_value){ .kind = value->kind };
}
