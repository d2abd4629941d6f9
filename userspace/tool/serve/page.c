// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape serve: pages.  They are made of constant texts and of names, which are escaped;
 * scripts and styles are files of their own, so that the content security policy can
 * forbid all others.  Links are relative to "/", or to "/TOKEN/".
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/memory.h"
#include "util/put.h"

#include "tool/serve/serve.h"
#include "tool/shared/text.h"
#include "serve_files.inc"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><base href='/%s%s'>"
	"<meta name=viewport content='width=device-width'>"
	"<title>ktape</title><link rel=stylesheet href=style.css>\n";

static const char perfetto_page[] =
	"<p>The button opens <b>ui.perfetto.dev</b> in another tab, which loads that site from the"
	" network, and hands the whole trace to it. Names of programs, threads and hosts are in"
	" the trace. The trace stays in this browser.\n"
	"<p><button id=open class=main>Open in ui.perfetto.dev</button>"
	" <span id=state role=status></span>\n"
	"<script type=module src=hand.mjs></script>\n";

static const char live_page[] =
	"<p><span id=state role=status>Connecting.</span>\n<pre id=notes class=bad hidden></pre>\n"
	"<p><button id=pause>Pause</button>\n<label>show <select id=span><option value=30>30 s"
	"<option value=60 selected>1 min<option value=300>5 min<option value=1800>30 min</select></label>\n"
	"<span class=help>Click an interval for its numbers, again for those of the last one;"
	" arrows move, Escape goes back.</span>\n"
	"<canvas id=lanes tabindex=0 role=img aria-label='timeline; the tables below have its"
	" numbers'></canvas>\n"
	"<p><span class=key><i class=run></i>threads</span><span class=key><i class=irq></i>irq</span>"
	"<span class=key><i class=softirq></i>softirq</span><span class=key><i class=unknown></i>not"
	" known</span><span class=key><i class=lost></i>lost events</span>\n"
	"<p id=which>\n<div id=tables>\n"
	"<table id=cpus hidden><caption>CPUs<thead><tr><th class=n>CPU<th class=n>threads<th class=n>irq"
	"<th class=n>softirq<th class=n>idle<th class=n>switches<th class=n>lost<tbody></table>\n"
	"<table id=latencies hidden><caption>Latencies<thead><tr><th>latency<th class=n>times"
	"<th class=n>p50<th class=n>p99<th class=n>max<tbody></table>\n"
	"<table id=threads hidden><caption>Threads that ran longest<thead><tr><th class=n>thread<th>name"
	"<th class=n>ran<th class=n>waited<th class=n>longest<th class=n>switches<tbody></table>\n"
	"</div>\n<script type=module src=live.mjs></script>\n";

/* The files of viewer/serve, and perfetto.mjs, which the page that converts has, too. */
static const struct {
	const char *name;
	const char *type;
	const char *text;
} files[] = {
	{ "style.css", "text/css", text_style_css },
	{ "hand.mjs", "text/javascript", text_hand_mjs },
	{ "perfetto.mjs", "text/javascript", text_perfetto_mjs },
	{ "lanes.mjs", "text/javascript", text_lanes_mjs },
	{ "live.mjs", "text/javascript", text_live_mjs },
};

/**
 * serve_page_file() - return a script or style
 * @name: path of a request, behind "/" or "/TOKEN/"
 * @type: set to its media type
 *
 * Return: the text, or NULL.
 */
const char *serve_page_file(const char *name, const char **type)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(files); i++) {
		if (strcmp(files[i].name, name))
			continue;
		*type = files[i].type;
		return files[i].text;
	}
	return NULL;
}

/**
 * serve_page_converter() - open the page that converts in a browser
 *
 * It stands where make install puts it beside this command, or where make viewer does.
 *
 * Return: descriptor, or negative errno.
 */
int serve_page_converter(void)
{
	static const char *const places[] = { "../share/ktape/ktape.html",
					      "viewer/ktape.html" };
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *name;
	struct stat st;
	int fd;

	if (len < 0)
		return -errno;
	path[len] = '\0';
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	for (size_t i = 0; i < KT_ARRAY_SIZE(places); i++) {
		size_t room = sizeof(path) - (size_t)(name - path);

		if (strlen(places[i]) >= room)
			continue;
		strcpy(name, places[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && S_ISREG(st.st_mode))
			return fd;
		close(fd);
	}
	return -ENOENT;
}

static void put_html_head(FILE *out, const struct serve *s)
{
	fprintf(out, head, s->token, *s->token ? "/" : "");
}

/* Write a character, as an escape if a browser would not only display it. */
static void put_one(FILE *out, const char *text, size_t len)
{
	char shown[64];

	fwrite(shown, 1,
	       (size_t)(kt_put_message(shown, text, len ? len : 1) - shown), out);
}

static void put_html_text(FILE *out, const char *text)
{
	for (size_t n; *text; text += n) {
		n = kt_utf8_length(text, strlen(text));
		if (strchr("<>&'\"", *text))
			fprintf(out, "&#%d;", *text);
		else
			put_one(out, text, n);
		n = n ? n : 1;
	}
}

static void put_url(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-._~/", *text))
			fputc(*text, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*text);
	}
}

static void put_link(FILE *out, const char *kind, const char *name, const char *text)
{
	fprintf(out, "<a href='%s/", kind);
	put_url(out, name);
	fprintf(out, "'>%s</a>", text);
}

static void put_trace_row(FILE *out, const struct serve *s,
			  const struct serve_trace *t)
{
	struct ktape_info *info = calloc(1, sizeof(*info));
	char size[16], when[32] = "";
	struct tm tm;

	put_human(size, sizeof(size), t->size);
	if (localtime_r(&t->when, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	fputs("<tr><td class=name>", out);
	put_html_text(out, t->name);
	fprintf(out, "<td class=n>%s<td>%s<td>", size, when);
	if (info && t->is_dir && !serve_info(s, t->name, info)) {
		put_html_text(out, info->hostname);
		fputs("<td>", out);
		put_html_text(out, info->release);
	} else {
		fputs("<td>", out);
	}
	free(info);
	fputs("<td>", out);
	put_link(out, "html", t->name, "view");
	put_link(out, "perfetto", t->name, "Perfetto");
	put_link(out, "live", t->name, "follow");
	put_link(out, "stats", t->name, "statistics");
	put_link(out, "dump", t->name, "text");
	fputs("<td>", out);
	put_link(out, "jsonl", t->name, "JSON lines");
	put_link(out, "csv", t->name, "CSV");
	put_link(out, "chrome", t->name, "Chrome JSON");
	put_link(out, "pftrace", t->name, ".pftrace");
	put_link(out, t->is_dir ? "tar" : "raw", t->name,
		 t->is_dir ? "tar" : "file");
	fputc('\n', out);
}

/**
 * serve_page_index() - make the page with all traces
 * @s: the server
 * @text: set to the page, which the caller frees
 * @len: set to its bytes
 *
 * Return: 0 or negative errno.
 */
int serve_page_index(const struct serve *s, char **text, size_t *len)
{
	struct serve_list l;
	FILE *out;
	int err = serve_list(s, &l), converter;

	if (err)
		return err;
	out = kt_memory_open(text, len);
	if (!out) {
		serve_list_free(&l);
		return -ENOMEM;
	}
	put_html_head(out, s);
	fputs("<h1>Traces</h1>\n", out);
	if (s->session)
		fputs("<p><a href=live>The session, live</a>\n", out);
	converter = serve_page_converter();
	if (converter >= 0) {
		close(converter);
		fputs("<p><a href=convert>Convert other files</a>, in this browser\n",
		      out);
	}
	fputs("<div class=wide><table><tr><th>name<th class=n>size<th>changed<th>host"
	      "<th>kernel<th>show<th>save as\n",
	      out);
	for (size_t i = 0; i < l.nr; i++)
		put_trace_row(out, s, &l.traces[i]);
	/* Listing ends at the most traces, or when all entries that may be read were read. */
	fprintf(out, "</table></div>\n<p class=help>%zu trace%s%s\n", l.nr,
		l.nr == 1 ? "" : "s",
		l.nr == SERVE_TRACES || !l.left ? ", and maybe more" : "");
	serve_list_free(&l);
	return kt_memory_close(out);
}

/**
 * serve_page_trace() - make the page that hands a trace over, or follows it
 * @s: the server
 * @kind: "perfetto" or "live"
 * @name: name of the trace
 * @text: set to the page, which the caller frees
 * @len: set to its bytes
 *
 * Return: 0 or -ENOMEM.
 */
int serve_page_trace(const struct serve *s, const char *kind, const char *name,
		     char **text, size_t *len)
{
	FILE *out = kt_memory_open(text, len);

	if (!out)
		return -ENOMEM;
	put_html_head(out, s);
	/* "." is the base that the head sets: the index. */
	fputs("<p><a href=.>all traces</a>\n<h1>", out);
	put_html_text(out, name);
	fprintf(out, "</h1>\n%s", strcmp(kind, "live") ? perfetto_page : live_page);
	return kt_memory_close(out);
}
