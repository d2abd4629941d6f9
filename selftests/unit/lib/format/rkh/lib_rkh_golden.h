/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare the output of RKH's own decoder with ours, line by line, after
 * normalising it.  (RKH is a framework for state machines, with a trace.)
 *
 * - groups RQ and TIM are QUE and TMR;
 * - numbers are compared as numbers, in any notation; "?" and "static" are 0;
 * - a name is that of the address or signal in our line, by the symbols so far,
 *   without a leading &;
 * - a target state of 0 is the source state;
 * - rt and nseq, which the decoder measures, are those of struct ktape_response;
 *   an rt of -1 means that it did not find the post; without time stamps an rt
 *   of 0 means none;
 * - the .c that it appends to files of assertions is removed, and its lines
 *   about the configuration are ignored.
 */
#ifndef _LIB_RKH_GOLDEN_H
#define _LIB_RKH_GOLDEN_H

#include "lib_codec.h"
#include "tap.h"

#define SYMBOLS 256
#define VALUE	256

struct symbol {
	char kind; /* o: object or function, s: signal, u: user event */
	unsigned long long id;
	char name[64];
};

static struct symbol symbols[SYMBOLS];
static unsigned int nr_symbols;

/* Response times after the last event, and those of its object before it. */
static struct ktape_responses *responses;
static struct ktape_response before;
static uint64_t tick; /* ns */
static unsigned int nr_times;

/* Find the text of a member of a flat object. Return: false if there is none. */
static bool golden_member(const char *json, const char *key, char value[VALUE])
{
	char quoted[64];
	const char *p;
	size_t len;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	p = strstr(json, quoted);
	if (!p)
		return false;
	p += strlen(quoted);
	if (*p == '[') {
		len = strcspn(++p, "]");
	} else if (*p == '"') {
		len = strcspn(++p, "\"");
	} else {
		len = strcspn(p, ",}");
	}
	snprintf(value, VALUE, "%.*s", (int)len, p);
	return true;
}

static const char *symbol(char kind, unsigned long long id)
{
	for (unsigned int i = nr_symbols; i--;) {
		if (symbols[i].kind == kind && symbols[i].id == id)
			return symbols[i].name;
	}
	return "";
}

static void golden_learn_symbol(const char *json)
{
	static const char *const keys[] = { "obj", "fn", "sig", "ut" };
	char name[VALUE], id[VALUE];

	if (!golden_member(json, "nm", name) || nr_symbols == SYMBOLS)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		struct symbol *s = &symbols[nr_symbols];

		if (!golden_member(json, keys[i], id))
			continue;
		s->kind = i < 2 ? 'o' : *keys[i];
		s->id = strtoull(id, NULL, 0);
		snprintf(s->name, sizeof(s->name), "%.63s", name + (*name == '&'));
		nr_symbols++;
		return;
	}
}

/* Return true if the printed value equals ours. */
static bool same_value(const char *theirs, const char *ours, bool signal)
{
	unsigned long long v = strtoull(ours, NULL, 0);
	bool hex = *theirs == '0' && (theirs[1] | 32) == 'x';
	char *end;

	if (!strcmp(theirs, "?") || !strcmp(theirs, "static"))
		return !v;
	if ((unsigned long long)strtoll(theirs, &end, hex ? 16 : 10) ==
		    (unsigned long long)strtoll(ours, NULL, 0) &&
	    !*end)
		return true;
	return !strcmp(theirs, ours) ||
	       (*ours == '&' && !strcmp(theirs, ours + 1)) ||
	       !strcmp(theirs, symbol(signal ? 's' : 'o', v));
}

/* Return the response times of the object of an event, or NULL. */
static const struct ktape_response *golden_response(const char *json)
{
	const struct ktape_response *r = NULL;
	char object[VALUE];

	if (!golden_member(json, "ao", object))
		return NULL;
	for (size_t i = 0; (r = ktape_response(responses, i)); i++) {
		if (r->object == strtoull(object, NULL, 0) &&
		    r->signal == KTAPE_RESPONSE_ALL)
			return r;
	}
	return NULL;
}

/* "rt", ticks since the post, and "nseq", the number of the post. */
static void same_response(const char *key, const char *value, const char *json,
			  const char *line)
{
	const struct ktape_response *r = golden_response(json);
	long long theirs = strtoll(value, NULL, 10);
	bool timed = golden_member(json, "ts", (char[VALUE]){ 0 });

	check(r, "%.120s: no response", line);
	if (strstr(line, "rt=-1"))
		return;
	if (!strcmp(key, "nseq")) {
		check((strstr(line, " GET ") ? r->gets : r->posts) == (uint64_t)theirs,
		      "%.120s: %llu posts, %llu gets", line,
		      (unsigned long long)r->posts, (unsigned long long)r->gets);
		return;
	}
	check(r->count == before.count + timed, "%.120s: no time", line);
	check(r->sum == before.sum + (uint64_t)theirs * tick, "%.120s: %llu ns",
	      line, (unsigned long long)(r->sum - before.sum));
	nr_times += timed;
}

static void same_field(const char *key, const char *value, const char *json,
		       const char *line)
{
	char ours[VALUE] = "", source[VALUE];

	if (!strcmp(key, "rt") || (!strcmp(key, "nseq") && strstr(line, "SMA"))) {
		same_response(key, value, json, line);
		return;
	}
	check(golden_member(json, key, ours), "%.120s: no %.120s in %.120s",
	      line, key, json);
	if (!strcmp(key, "tst") && !strtoull(ours, NULL, 0) &&
	    golden_member(json, "sst", source))
		memcpy(ours, source, sizeof(ours));
	check(same_value(value, ours, !strcmp(key, "sig")),
	      "%.120s: %.120s is %.120s", line, key, ours);
}

/* Compare the fields "key=value, ..." after the colon. */
static void same_fields(char *fields, const char *json, const char *line)
{
	char text[VALUE], number[VALUE], *part;

	if (strstr(json, "\"ASSERT\"") && golden_member(json, "file", text) &&
	    golden_member(json, "line", number)) {
		char want[VALUE * 2 + 16];

		snprintf(want, sizeof(want), "(%s), %s.c", number, text);
		check(!strcmp(fields, want), "%.120s: %.120s", line, json);
		return;
	}
	while ((part = strsep(&fields, ","))) {
		char *value = strchr(part, '=');

		part += strspn(part, " ");
		if (value)
			*value++ = '\0';
		if (value)
			same_field(part, value, json, line);
		else if (*part)
			same_field("act", part, json, line);
	}
}

/* Compare "SMA | FIFO       : ..." after time and sequence number. */
static void same_event(const char *line, const char *json)
{
	char copy[1024], group[VALUE], event[VALUE], *p = copy, *bar, *colon;

	snprintf(copy, sizeof(copy), "%s", line);
	colon = strstr(copy, " : ");
	bar = colon;
	while (bar > copy && *bar != '|')
		bar--;
	check(colon && bar > copy, "%.120s", line);
	*colon = '\0';
	bar[-1] = '\0';
	p = strrchr(copy, '|') ? strrchr(copy, '|') + 1 : copy;
	p += strspn(p, " ");
	p[strcspn(p, " ")] = '\0';
	bar += 2;
	bar[strcspn(bar, " ")] = '\0';
	check(golden_member(json, "group", group) &&
		      golden_member(json, "event", event),
	      "%.120s", json);
	check(!strcmp(group, !strcmp(p, "RQ")  ? "QUE" :
			     !strcmp(p, "TIM") ? "TMR" :
						 p),
	      "%.120s: %.120s", line, json);
	if (!strcmp(group, "USR")) {
		check(!strcmp(bar, symbol('u', strtoull(event, NULL, 0))),
		      "%.120s: %.120s", line, json);
		return;
	}
	check(!strcmp(bar, event), "%.120s: %.120s", line, json);
	if (strcmp(event, "TCFG"))
		same_fields(colon + 3, json, line);
}

/* Compare an argument of a user event, on a line of its own. */
static void same_argument(const char *line, char **args)
{
	char *ours = strsep(args, ","), theirs[VALUE];
	const char *p = strchr(line, '|') + 2;
	size_t n = 0;

	check(ours, "%.120s", line);
	if (strchr(p, '='))
		p = strchr(p, '=') + 1;
	for (; *p && n < VALUE - 1; p++) {
		if (!strchr("[]", *p) && !(*p == ' ' && strchr(line, '[')))
			theirs[n++] = *p;
	}
	theirs[n] = '\0';
	ours += *ours == '"';
	ours[strcspn(ours, "\"")] = '\0';
	check(!strcasecmp(theirs, ours) || same_value(theirs, ours, false),
	      "%.120s: %.120s", line, ours);
}

static const char *golden_next_source(struct ktape_trace *t)
{
	static char text[4096];
	const struct ktape_response *r;
	const struct ktape_event *e;
	const char *source;
	size_t len;

	while (ktape_trace_next(t, &e) > 0) {
		source = ktape_trace_source(t, &len);
		if (e->opcode != KTAPE_EV_USER_EVENT || !source)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)len, source);
		r = golden_response(text);
		before = r ? *r : (struct ktape_response){ .count = 0 };
		if (ktape_responses_take(responses, e))
			abort();
		return text;
	}
	return NULL;
}

static void compare_lines(struct ktape_trace *t, FILE *f, unsigned int *n,
			  unsigned int *errors, unsigned int *gaps)
{
	char line[1024], list[VALUE], *args = NULL;
	bool begun = false;

	while (fgets(line, sizeof(line), f)) {
		const char *json;

		line[strcspn(line, "\n")] = '\0';
		*errors += strstr(line, "Checksum Error") != NULL;
		*gaps += strstr(line, "not correlatives") != NULL;
		begun |= strstr(line, "Parsing trace stream") != NULL;
		if (!begun || !strchr(line, '|'))
			continue;
		/* Arguments of a user event stand on indented lines behind it. */
		if (strspn(line, " ") > 20) {
			if (args)
				same_argument(line, &args);
			continue;
		}
		check(!args || !*args, "%.120s: arguments are left", line);
		json = golden_next_source(t);
		check(json, "%.120s: there is no more", line);
		same_event(line, json);
		golden_learn_symbol(json);
		args = golden_member(json, "args", list) ? list : NULL;
		++*n;
	}
}

static void golden_notice(void *arg, const struct ktape_notice *n)
{
	codec_notice(arg, n);
	if (responses)
		ktape_responses_notice(responses, n);
}

/*
 * Compare their text and ours, and the numbers of damages, gaps and response
 * times.
 */
__attribute__((unused)) static void compare_rkh_golden(const char *stem,
						       unsigned int errors,
						       unsigned int gaps,
						       unsigned int times)
{
	struct codec_reports reported = { 0 };
	struct ktape_trace_options how = {
		.format = "rkh",
		.notice = golden_notice,
		.arg = &reported,
	};
	unsigned int errors_nr = 0, gaps_nr = 0, n = 0;
	struct ktape_trace *t;
	char path[256];
	FILE *f;

	nr_symbols = 0;
	nr_times = 0;
	snprintf(path, sizeof(path), "%s.trazer.txt", stem);
	f = fopen(path, "r");
	check(f, "%.120s", path);
	snprintf(path, sizeof(path), "%s.bin", stem);
	check_equal(ktape_trace_open(path, &how, &t, NULL), 0);
	tick = 1000000000 / ktape_trace_info(t)->freq;
	check_equal(ktape_responses_new(ktape_trace_info(t), &responses), 0);
	compare_lines(t, f, &n, &errors_nr, &gaps_nr);
	check(n > 60, "%.120s: %u events", stem, n);
	check(!golden_next_source(t), "%.120s: more than %u events", stem, n);
	check(errors_nr == errors && reported.corrupt == errors,
	      "%.120s: %u damages", stem, reported.corrupt);
	check(gaps_nr == gaps && reported.gaps == gaps && reported.lost == gaps,
	      "%.120s: %u gaps, %llu lost", stem, reported.gaps,
	      (unsigned long long)reported.lost);
	check(nr_times == times, "%.120s: %u response times", stem, nr_times);
	ktape_responses_free(responses);
	responses = NULL;
	ktape_trace_close(t);
	fclose(f);
}

#endif /* _LIB_RKH_GOLDEN_H */
