// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parse .fmt files, which give exceptions and user events a message, ktape-fmt(5):
 *
 *   exception MAJOR[.MINOR|.*] [NAME] "FORMAT"
 *   event ID [NAME] "FORMAT"
 *
 * fmt_show.c makes the message of an event.  Functions take_*() read from @*at and advance it;
 * those that return text return NULL, or a description of the syntax error.
 */
#include "util/parse.h"

#include "show/fmt.h"

#define FORMATS_MAX 16384U
#define LINE_MAX    2048U
#define MAJOR_MAX   0xffffffU
#define MINOR_MAX   0xffU
#define ARGS_MAX    99U

/* Take a number; one above @max gives a value above @max, and does not wrap around. */
static unsigned int take_fmt_number(const char **at, unsigned int max)
{
	unsigned int v = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++) {
		if (v <= max)
			v = v * 10 + (unsigned int)(**at - '0');
	}
	return v;
}

/* Take the list of a conversion such as "%{0=off,1=on}". */
static const char *take_list(const char **at, struct kt_fmt_piece *piece)
{
	const char *end = strchr(*at, '}');

	if (!end)
		return "a list has \"{\" but no \"}\"";
	piece->text = *at;
	piece->len = (size_t)(end - *at);
	if (!memchr(piece->text, '=', piece->len))
		return "a list must have the form {NUMBER=TEXT,...}";
	*at = end + 1;
	return NULL;
}

static const char *take_conversion(const char **at, struct kt_fmt_piece *piece)
{
	const char *digits = *at;
	unsigned int number = take_fmt_number(at, ARGS_MAX);

	if (*at != digits && **at == '$') {
		if (!number || number > ARGS_MAX)
			return "argument numbers are 1 to 99";
		piece->arg = number;
		(*at)++;
	} else {
		*at = digits;
	}
	for (; **at == '-' || **at == '0'; (*at)++) {
		piece->left |= **at == '-';
		piece->zero |= **at == '0';
	}
	piece->width = take_fmt_number(at, KT_FMT_WIDTH_MAX);
	if (**at == '.') {
		(*at)++;
		piece->precision = take_fmt_number(at, UINT16_MAX);
	}
	if (piece->width > KT_FMT_WIDTH_MAX)
		return "the width is larger than 64";
	if (**at == 'l') {
		piece->wide = true;
		(*at)++;
	}
	if (!**at || !strchr("diuxXocsbMm{", **at))
		return "unknown conversion; use one of d i u x X o c s b M m {LIST}";
	piece->conversion = *(*at)++;
	return piece->conversion == '{' ? take_list(at, piece) : NULL;
}

/*
 * Take the next piece at @*at and advance @*at.  At the end, the piece is plain text of
 * length 0.
 * Return: NULL, or a description of the syntax error.
 */
const char *kt_fmt_next(const char **at, struct kt_fmt_piece *piece)
{
	memset(piece, 0, sizeof(*piece));
	piece->precision = UINT32_MAX;
	piece->text = *at;
	if (**at == '%' && (*at)[1] != '%') {
		(*at)++;
		return take_conversion(at, piece);
	}
	if (**at == '%') {
		piece->len = 1;
		*at += 2;
		return NULL;
	}
	piece->len = strcspn(*at, "%");
	*at += piece->len;
	return NULL;
}

static const char *check_format(const char *format)
{
	struct kt_fmt_piece piece;
	const char *wrong;

	do {
		wrong = kt_fmt_next(&format, &piece);
	} while (!wrong && (piece.conversion || piece.len));
	return wrong;
}

static int compare_key(const struct kt_fmt *f, uint32_t kind, uint32_t key)
{
	if (f->kind != kind)
		return f->kind < kind ? -1 : 1;
	return f->key < key ? -1 : f->key > key;
}

/* Return the index of a format, or where it belongs. */
static size_t find_index(const struct ktape_formats *f, uint32_t kind, uint32_t key)
{
	size_t low = 0, high = f->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_key(&f->formats[middle], kind, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct kt_fmt *kt_fmt_find(const struct ktape_formats *formats,
				 uint32_t kind, uint32_t key)
{
	size_t at = find_index(formats, kind, key);

	if (at == formats->nr || compare_key(&formats->formats[at], kind, key))
		return NULL;
	return &formats->formats[at];
}

static int make_format_room(struct ktape_formats *f)
{
	size_t room = f->room ? f->room * 2 : 16;
	struct kt_fmt *more;

	if (f->nr < f->room)
		return 0;
	more = realloc(f->formats, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	f->formats = more;
	f->room = room;
	return 0;
}

/*
 * Add a format, or replace the earlier format of the event.  After success @f owns the texts of
 * @fmt.
 * Return: 0, -ENOSPC if there are FORMATS_MAX, or -ENOMEM.
 */
static int add_format(struct ktape_formats *f, const struct kt_fmt *fmt)
{
	size_t at = find_index(f, fmt->kind, fmt->key);
	int err;

	if (at < f->nr && !compare_key(&f->formats[at], fmt->kind, fmt->key)) {
		free(f->formats[at].name);
		free(f->formats[at].format);
		f->formats[at] = *fmt;
		return 0;
	}
	if (f->nr == FORMATS_MAX)
		return -ENOSPC;
	err = make_format_room(f);
	if (err)
		return err;
	memmove(&f->formats[at + 1], &f->formats[at], (f->nr - at) * sizeof(*fmt));
	f->formats[at] = *fmt;
	f->nr++;
	return 0;
}

/*
 * Take a word of the line at @*at, end it with a NUL in the line, and advance @*at.
 * Return: the word; NULL if there is none, or a quote follows without a blank.
 */
static char *take_word(char **at)
{
	char *word = *at + strspn(*at, " \t");
	size_t len = strcspn(word, " \t\"");

	if (!len)
		return NULL;
	*at = word + len;
	if (**at == ' ' || **at == '\t')
		*(*at)++ = '\0';
	else if (**at)
		return NULL;
	return word;
}

static bool parse_fmt_number(const char *text, uint32_t max, uint32_t *value)
{
	uint64_t v;

	if (kt_parse_u64(text, &v) || v > max)
		return false;
	*value = (uint32_t)v;
	return true;
}

static const char *take_key(char **at, struct kt_fmt *fmt)
{
	char *word = take_word(at), *minor;
	uint32_t number;

	if (!word)
		return "the number of the event is missing";
	if (fmt->kind == KT_FMT_EVENT)
		return parse_fmt_number(word, UINT32_MAX, &fmt->key) ?
			       NULL :
			       "the id of an event must be a number of 32 bits";
	minor = strchr(word, '.');
	if (minor)
		*minor++ = '\0';
	if (!parse_fmt_number(word, MAJOR_MAX, &fmt->key))
		return "the major must be a number of 24 bits";
	if (!minor || !strcmp(minor, "*"))
		return NULL;
	if (!parse_fmt_number(minor, MINOR_MAX, &number))
		return "the minor must be a number of 8 bits, or *";
	fmt->kind = KT_FMT_EXCEPTION;
	fmt->key = fmt->key << 8 | number;
	return NULL;
}

static const char *take_fmt_name(char **at, char **name)
{
	char *word = *at + strspn(*at, " \t");

	if (*word == '"') {
		*at = word;
		word = NULL;
	} else {
		word = take_word(at);
		if (!word)
			return "the text must be in double quotes";
		if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-")])
			return "a name may contain only letters, digits, _ . -";
	}
	*name = strdup(word ? word : "");
	return NULL;
}

/* Take a text in quotes, with \" and \\ as escapes, up to the end of the line. */
static const char *take_fmt_text(char *at, char **text)
{
	char *to = at, *from = at + strspn(at, " \t");
	size_t len = 0;

	if (*from++ != '"')
		return "the text must be in double quotes";
	for (; *from && *from != '"'; from++) {
		if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		to[len++] = *from;
	}
	if (*from != '"')
		return "the text has no closing quote";
	from++;
	from += strspn(from, " \t\r");
	if (*from && *from != '#')
		return "unexpected characters after the text";
	to[len] = '\0';
	*text = strdup(to);
	return NULL;
}

static const char *take_kind(char **at, struct kt_fmt *fmt)
{
	char *word = take_word(at);

	if (word && !strcmp(word, "exception"))
		fmt->kind = KT_FMT_MAJOR;
	else if (word && !strcmp(word, "event"))
		fmt->kind = KT_FMT_EVENT;
	else
		return "a line must begin with \"exception\" or \"event\"";
	return NULL;
}

/*
 * Parse a line and add its format.
 * Return: NULL, or a description of the syntax error; other errors are in @err.
 */
static const char *parse_fmt_line(struct ktape_formats *f, char *line, int *err)
{
	struct kt_fmt fmt = { .name = NULL };
	const char *wrong = take_kind(&line, &fmt);

	if (!wrong)
		wrong = take_key(&line, &fmt);
	if (!wrong)
		wrong = take_fmt_name(&line, &fmt.name);
	if (!wrong)
		wrong = take_fmt_text(line, &fmt.format);
	if (!wrong && (!fmt.name || !fmt.format))
		*err = -ENOMEM;
	else if (!wrong)
		wrong = check_format(fmt.format);
	if (!wrong && !*err)
		*err = add_format(f, &fmt);
	if (*err == -ENOSPC)
		wrong = "there are more than 16384 formats";
	if (wrong || *err) {
		free(fmt.name);
		free(fmt.format);
	}
	return wrong;
}

int ktape_formats_new(struct ktape_formats **formats)
{
	*formats = calloc(1, sizeof(**formats));
	return *formats ? 0 : -ENOMEM;
}

void ktape_formats_free(struct ktape_formats *formats)
{
	if (!formats)
		return;
	for (size_t i = 0; i < formats->nr; i++) {
		free(formats->formats[i].name);
		free(formats->formats[i].format);
	}
	free(formats->formats);
	free(formats);
}

int ktape_formats_parse(struct ktape_formats *formats, const char *text,
			size_t len, struct ktape_error *error)
{
	const char *end = text + len, *wrong;
	char line[LINE_MAX];
	uint64_t nr = 0;
	int err = 0;

	while (text < end && !err) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((eol ? eol : end) - text);

		nr++;
		if (n >= sizeof(line) || memchr(text, 0, n))
			return kt_error(
				error, nr,
				"the line has more than 2047 bytes or a NUL byte");
		memcpy(line, text, n);
		line[n] = '\0';
		text += n + 1;
		n = strspn(line, " \t\r");
		if (!line[n] || line[n] == '#')
			continue;
		wrong = parse_fmt_line(formats, line, &err);
		if (wrong)
			return kt_error(error, nr, "%s", wrong);
	}
	return err;
}
