// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse and print conditions of triggers:
 *
 *	EVENT[:FIELD OPERATOR VALUE[,...]]
 *
 * FIELD is a numeric field of the event, OPERATOR one of = != < <= > >= & and VALUE a
 * number or the name that the field's type has for it.  There are no blanks between them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/parse.h"

#include "tool/control/condition.h"

#define NAMES_MAX \
	1024 /* a name is compared with those of the values below this */

/* Longer operators first, because "<" is also the beginning of "<=". */
static const struct {
	const char *text;
	uint16_t op;
} operators[] = {
	{ "!=", KTAPE_COMPARE_NE }, { "<=", KTAPE_COMPARE_LE },
	{ ">=", KTAPE_COMPARE_GE }, { "=", KTAPE_COMPARE_EQ },
	{ "<", KTAPE_COMPARE_LT },  { ">", KTAPE_COMPARE_GT },
	{ "&", KTAPE_COMPARE_ANY },
};

static bool is_signed(unsigned int type)
{
	return type == KTAPE_TYPE_S32 || type == KTAPE_TYPE_S64 ||
	       type == KTAPE_TYPE_TID;
}

/*
 * Set the place of a field in a comparison.  Fields of dat20 come first, with f->count bits
 * each, then those of the arguments, with f->count words of 32 bits, then those that are no
 * numbers.
 * Return: the field, or NULL: there is no such field, or it is not a number.
 */
static const struct ktape_field *place_of_field(const struct ktape_event_desc *desc,
						const char *name, size_t len,
						struct ktape_trigger_compare *c)
{
	unsigned int shift = 0, word = 0;

	for (unsigned int i = 0; i < desc->nr_fields; i++) {
		const struct ktape_field *f = &desc->fields[i];
		bool bits = f->place == KTAPE_PLACE_BITS;

		if (!bits && f->place != KTAPE_PLACE_ARG)
			return NULL;
		if (strlen(f->name) == len && !memcmp(f->name, name, len)) {
			c->word = bits ? KTAPE_COMPARE_DAT20 : (uint16_t)word;
			c->shift = bits ? (uint16_t)shift : 0;
			c->width = bits ? f->count : (uint16_t)(f->count * 32);
			return f;
		}
		if (bits)
			shift += f->count;
		else
			word += f->count;
	}
	return NULL;
}

/* Parse a value: "-5", "0x1f", or a name of the field's type. */
static int parse_condition_value(const char *text, unsigned int type, uint64_t *value)
{
	bool negative = *text == '-';
	struct utsname machine;
	const char *name;

	if (!kt_parse_u64(text + negative, value)) {
		if (negative)
			*value = -*value;
		return 0;
	}
	if (uname(&machine))
		return -errno;
	for (*value = 0; *value < NAMES_MAX; ++*value) {
		name = type == KTAPE_TYPE_SYSCALL ?
			       ktape_syscall_name(machine.machine,
						  (unsigned int)*value) :
			       ktape_value_name(type, *value);
		if (name && !strcmp(name, text))
			return 0;
	}
	return -EINVAL;
}

static int parse_compare(const char *text, const struct ktape_event_desc *desc,
			 struct ktape_trigger_compare *c, char *why)
{
	size_t len = strcspn(text, "!<>=&"), i;
	const struct ktape_field *f = place_of_field(desc, text, len, c);
	uint64_t value;

	if (!f) {
		snprintf(why, CONDITION_WHY,
			 "event %s has no numeric field \"%.*s\"", desc->name,
			 (int)kt_min(len, 32), text);
		return -EINVAL;
	}
	text += len;
	for (i = 0; i < KT_ARRAY_SIZE(operators); i++) {
		len = strlen(operators[i].text);
		if (!strncmp(text, operators[i].text, len))
			break;
	}
	if (i == KT_ARRAY_SIZE(operators)) {
		snprintf(why, CONDITION_WHY,
			 "%s: use one of the operators =, !=, <, <=, >, >=, &",
			 f->name);
		return -EINVAL;
	}
	c->op = operators[i].op | (is_signed(f->type) ? KTAPE_COMPARE_SIGNED : 0);
	if (parse_condition_value(text + len, f->type, &value)) {
		snprintf(why, CONDITION_WHY,
			 "\"%.32s\" is not a value of the field %s", text + len,
			 f->name);
		return -EINVAL;
	}
	c->value = value;
	return 0;
}

/**
 * trigger_parse() - parse a condition
 * @text: EVENT[:FIELD OPERATOR VALUE[,...]]; modified
 * @t: opcode, comparisons and their number are set; after an error, a part of them may be
 * @why: set to what is wrong with @text, if something is
 *
 * Return: 0 or -EINVAL.
 */
int trigger_parse(char *text, struct ktape_trigger *t, char why[CONDITION_WHY])
{
	char *colon = strchr(text, ':'), *rest = NULL, *part;
	const struct ktape_event_desc *desc;
	const char *near;

	if (colon)
		*colon = '\0';
	desc = ktape_event_find(text);
	if (!desc) {
		near = ktape_event_near(text);
		snprintf(why, CONDITION_WHY, "unknown event \"%.32s\"%s%s%s",
			 text, near ? ": did you mean \"" : " (see ktape list)",
			 near ? near : "", near ? "\"?" : "");
		return -EINVAL;
	}
	t->opcode = desc->opcode;
	t->nr_compares = 0;
	if (!colon)
		return 0;
	for (part = strtok_r(colon + 1, ",", &rest); part;
	     part = strtok_r(NULL, ",", &rest)) {
		if (t->nr_compares == KTAPE_TRIGGER_COMPARES) {
			snprintf(why, CONDITION_WHY,
				 "too many comparisons: at most %d are allowed",
				 KTAPE_TRIGGER_COMPARES);
			return -EINVAL;
		}
		if (parse_compare(part, desc, &t->compare[t->nr_compares], why))
			return -EINVAL;
		t->nr_compares++;
	}
	return 0;
}

/* Return the field of an event that a comparison is about, or NULL: no field has its place. */
static const struct ktape_field *
field_of_event(const struct ktape_event_desc *desc,
	       const struct ktape_trigger_compare *c)
{
	struct ktape_trigger_compare at = { .width = 0 };

	for (unsigned int i = 0; desc && i < desc->nr_fields; i++) {
		const char *name = desc->fields[i].name;

		if (place_of_field(desc, name, strlen(name), &at) &&
		    at.word == c->word && at.shift == c->shift &&
		    at.width == c->width)
			return &desc->fields[i];
	}
	return NULL;
}

static void show_compare(FILE *out, const struct ktape_event_desc *desc,
			 const struct ktape_trigger_compare *c)
{
	const struct ktape_field *f = field_of_event(desc, c);
	const char *op = "?";

	for (size_t i = 0; i < KT_ARRAY_SIZE(operators); i++) {
		if (operators[i].op == (c->op & ~KTAPE_COMPARE_SIGNED))
			op = operators[i].text;
	}
	if (f)
		fputs(f->name, out);
	else
		fprintf(out, "word%u[%u+%u]", c->word, c->shift, c->width);
	if (c->op & KTAPE_COMPARE_SIGNED)
		fprintf(out, "%s%lld", op, (long long)c->value);
	else
		fprintf(out, "%s%llu", op, (unsigned long long)c->value);
}

/**
 * trigger_show() - print a condition in the form that trigger_parse() takes
 * @out: stream to print to
 * @t: the trigger.  An event, field or operator that this command does not know is printed as
 *	"?" or "wordN[SHIFT+WIDTH]", which cannot be parsed
 */
void trigger_show(FILE *out, const struct ktape_trigger *t)
{
	const struct ktape_event_desc *desc = ktape_event_desc(t->opcode);

	fputs(desc ? desc->name : "?", out);
	for (uint32_t i = 0; i < t->nr_compares && i < KTAPE_TRIGGER_COMPARES; i++) {
		fputc(i ? ',' : ':', out);
		show_compare(out, desc, &t->compare[i]);
	}
}
