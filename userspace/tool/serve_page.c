// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape serve: pages.  They are made of constant texts and of names, which are escaped;
 * scripts and styles are files of their own, so that the content security policy can
 * forbid all others.  Links are relative to "/", or to "/TOKEN/".
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/bits.h"

#include "serve.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><base href='/%s%s'>"
	"<meta name=viewport content='width=device-width'>"
	"<title>ktape</title><link rel=stylesheet href=style.css>\n";

static const char style[] =
	"body{font:14px sans-serif;margin:1em;color:#222;background:#fff}\n"
	"table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:left;"
	"border-bottom:1px solid #ddd}td.n{text-align:right}\n"
	"button{font-size:1.2em;padding:.4em 1em}canvas{border:1px solid #ddd}\n";

/* Hand a trace over to ui.perfetto.dev: it trusts pages of this machine. */
static const char perfetto_script[] =
	"'use strict';\n"
	"const UI='https://ui.perfetto.dev';\n"
	"const say=t=>{document.getElementById('said').textContent=t};\n"
	"const path=location.href.slice(new URL('perfetto/',document.baseURI).href.length);\n"
	"const name=decodeURIComponent(path);\n"
	"document.getElementById('open').onclick=async()=>{\n"
	"  const w=window.open(UI);\n"
	"  if(!w){say('The browser blocked the new window.');return}\n"
	"  let buffer;\n"
	"  try{say('converting');\n"
	"    const r=await fetch('pftrace/'+path);\n"
	"    if(!r.ok)throw new Error(await r.text());\n"
	"    buffer=await r.arrayBuffer()\n"
	"  }catch(e){say('The trace cannot be converted: '+e.message);return}\n"
	"  say('waiting for '+UI);\n"
	"  const timer=setInterval(()=>w.postMessage('PING',UI),50);\n"
	"  window.addEventListener('message',e=>{\n"
	"    if(e.origin!==UI||e.data!=='PONG'||!buffer)return;\n"
	"    clearInterval(timer);\n"
	"    w.postMessage({perfetto:{buffer,title:name,fileName:name+'.pftrace'}},UI);\n"
	"    buffer=null;say('handed over')\n"
	"  })\n"
	"};\n";

/* Follow the intervals of ktape top. */
static const char live_script[] =
	"'use strict';\n"
	"const id=x=>document.getElementById(x),points=[];\n"
	"const pct=(a,b)=>b?(100*a/b).toFixed(2)+'%':'';\n"
	"const time=ns=>ns>=1e9?(ns/1e9).toFixed(2)+' s':ns>=1e6?(ns/1e6).toFixed(2)+' ms':"
	"ns>=1e3?(ns/1e3).toFixed(2)+' us':ns+' ns';\n"
	"function row(table,cells){const r=table.insertRow();"
	"for(const c of cells)r.insertCell().textContent=c}\n"
	"function fill(table,rows){while(table.rows.length>1)table.deleteRow(1);"
	"for(const r of rows)row(table,r)}\n"
	"function draw(){const c=id('line'),g=c.getContext('2d');"
	"g.clearRect(0,0,c.width,c.height);\n"
	"  const most=Math.max(1,...points.map(p=>p.rate));\n"
	"  for(const [key,color,top] of [['cpu','#36c',1],['irq','#c33',1],['rate','#393',most]]){\n"
	"    g.strokeStyle=color;g.beginPath();\n"
	"    points.forEach((p,i)=>g.lineTo(c.width-4*(points.length-i),"
	"c.height-2-p[key]/top*(c.height-4)));g.stroke()}}\n"
	"const path=location.href.slice(new URL('live',document.baseURI).href.length);\n"
	"const source=new EventSource(path?'follow'+path:'session');\n"
	"source.onerror=()=>{id('said').textContent='ended';source.close()};\n"
	"source.onmessage=e=>{const v=JSON.parse(e.data),all=v.span_ns*v.cpus.length||1;\n"
	"  const sum=k=>v.cpus.reduce((a,c)=>a+c[k],0);\n"
	"  points.push({cpu:(sum('run_ns')+sum('irq_ns')+sum('softirq_ns'))/all,"
	"irq:(sum('irq_ns')+sum('softirq_ns'))/all,rate:v.events*1e9/(v.span_ns||1)});\n"
	"  if(points.length>200)points.shift();draw();\n"
	"  id('said').textContent='interval '+v.number+', '+time(v.span_ns)+', '+v.events+"
	"' events, '+v.lost_total+' lost in all';\n"
	"  fill(id('cpus'),v.cpus.map(c=>[c.cpu,pct(c.run_ns,v.span_ns),pct(c.irq_ns,v.span_ns),"
	"pct(c.softirq_ns,v.span_ns)]));\n"
	"  fill(id('latencies'),v.series.filter(s=>s.key===null&&s.unit==='ns'&&s.count).map(s=>"
	"[s.kind,s.count,time(s.p50),time(s.p99),time(s.max)]));\n"
	"  fill(id('threads'),v.threads.slice(0,40).map(t=>[t.tid,t.name,pct(t.run_ns,v.span_ns),"
	"time(t.wait_ns),time(t.wait_max_ns),t.switches]))};\n";

static const char perfetto_page[] =
	"<p>The button opens <b>ui.perfetto.dev</b> in a new window and hands the trace over."
	" It stays in this browser.\n"
	"<p><button id=open>Open in Perfetto</button> <span id=said></span>\n"
	"<script src=perfetto.js></script>\n";

static const char live_page[] =
	"<p id=said>waiting for the first interval\n"
	"<p><canvas id=line width=800 height=120></canvas>\n"
	"<p>blue: CPU, red: interrupts, green: events per second\n"
	"<table id=cpus><tr><th>CPU<th>threads<th>irq<th>softirq</table>\n"
	"<table id=latencies><tr><th>latency<th>times<th>p50<th>p99<th>max</table>\n"
	"<table id=threads><tr><th>thread<th>name<th>cpu<th>waited<th>longest<th>switches"
	"</table>\n<script src=live.js></script>\n";

static const struct {
	const char *name;
	const char *type;
	const char *text;
} files[] = {
	{ "style.css", "text/css", style },
	{ "perfetto.js", "text/javascript", perfetto_script },
	{ "live.js", "text/javascript", live_script },
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

static void put_head(FILE *out, const struct serve *s)
{
	fprintf(out, head, s->token, *s->token ? "/" : "");
}

static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&'\"", *text))
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
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

static void put_link(FILE *out, const char *kind, const char *name,
		     const char *text)
{
	fprintf(out, " <a href='%s/", kind);
	put_url(out, name);
	fprintf(out, "'>%s</a>", text);
}

static void put_row(FILE *out, const struct serve *s,
		    const struct serve_trace *t)
{
	struct ktape_info *info = calloc(1, sizeof(*info));
	char size[16], when[32] = "";
	struct tm tm;

	put_human(size, sizeof(size), t->size);
	if (localtime_r(&t->when, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	fputs("<tr><td>", out);
	put_text(out, t->name);
	fprintf(out, "<td class=n>%s<td>%s<td>", size, when);
	if (info && t->is_dir && !serve_info(s, t->name, info)) {
		put_text(out, info->hostname);
		fputs("<td>", out);
		put_text(out, info->release);
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
	int err = serve_list(s, &l);

	if (err)
		return err;
	out = open_memstream(text, len);
	if (!out) {
		serve_list_free(&l);
		return -ENOMEM;
	}
	put_head(out, s);
	fputs("<h1>Traces</h1>\n", out);
	if (s->session)
		fputs("<p><a href=live>The session, live</a>\n", out);
	fputs("<table><tr><th>name<th>size<th>changed<th>host<th>kernel<th>\n",
	      out);
	for (size_t i = 0; i < l.nr; i++)
		put_row(out, s, &l.traces[i]);
	fprintf(out, "</table>\n<p>%zu traces%s\n", l.nr,
		l.nr == SERVE_TRACES || !l.left ? ", and maybe more" : "");
	serve_list_free(&l);
	return fclose(out) ? -ENOMEM : 0;
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
	FILE *out = open_memstream(text, len);

	if (!out)
		return -ENOMEM;
	put_head(out, s);
	/* An empty reference would be this page. */
	fputs("<p><a href=.>all traces</a>\n<h1>", out);
	put_text(out, name);
	fprintf(out, "</h1>\n%s",
		strcmp(kind, "live") ? perfetto_page : live_page);
	return fclose(out) ? -ENOMEM : 0;
}
