// SPDX-License-Identifier: GPL-2.0-only
// The live page: intervals of ktape top as they come, on a canvas that follows, and the
// numbers of the last one, or of the one that was chosen, in tables.

import { duration, Lanes } from "./lanes.mjs";

const KEPT = 7200;	// intervals
const NOTES = 5;	// messages of ktape top that are shown
const $ = (id) => document.getElementById(id);
const percent = (part, all) => all ? `${(100 * part / all).toFixed(1)} %` : "";
const path = location.pathname.slice(new URL("live", document.baseURI).pathname.length);
const lanes = new Lanes($("lanes"));
const page = { lanes, add, note, paused: false, waiting: [], notes: [], noted: 0, frame: 0 };

globalThis.ktape = page;	// for tests

function fill(id, rows)
{
	const body = $(id).tBodies[0];
	body.replaceChildren(...rows.map((cells) => {
		const row = document.createElement("tr");
		for (const [i, cell] of cells.entries()) {
			const td = row.insertCell();
			td.textContent = cell;
			td.className = $(id).tHead.rows[0].cells[i].className;
		}
		return row;
	}));
	$(id).hidden = !rows.length;
}

/** Show the numbers of the chosen interval, or of the last one. */
function tables()
{
	const v = lanes.chosen ?? lanes.views.at(-1);
	if (!v)
		return;
	const begin = v.from / 1e9;
	$("which").textContent = `Interval ${v.number}${lanes.chosen ? ", chosen" : ""}: ${duration(v.span_ns)} from ${begin.toFixed(1)} s, ` +
		`${v.events} events, ${v.lost} lost${v.uncounted ? " and more that were not counted" : ""}; ` +
		`recording took ${v.tracer_ns === null ? "an unknown time" : percent(v.tracer_ns, v.span_ns * v.cpus.length) + " of the CPUs' time"}.`;
	fill("cpus", v.cpus.map((c) => [c.cpu, percent(c.run_ns, v.span_ns), percent(c.irq_ns, v.span_ns),
		percent(c.softirq_ns, v.span_ns), percent(c.idle_ns, v.span_ns), c.switches, c.lost]));
	fill("latencies", v.series.filter((s) => s.key === null && s.unit === "ns" && s.count).map((s) =>
		[s.kind, s.count, duration(s.p50), duration(s.p99), duration(s.max)]));
	fill("threads", v.threads.map((t) => [t.tid, t.name, percent(t.run_ns, v.span_ns), duration(t.wait_ns),
		duration(t.wait_max_ns), t.switches]));
}

/** Draw soon: once, however many intervals come until then. */
function show()
{
	page.frame ||= requestAnimationFrame(() => {
		page.frame = 0;
		lanes.draw();
		tables();
	});
}

function say(text, bad = false)
{
	$("state").textContent = text;
	$("state").className = bad ? "bad" : "";
}

function add(v)
{
	if (page.paused) {
		page.waiting.push(v);
		if (page.waiting.length > KEPT)
			page.waiting.splice(0, page.waiting.length - KEPT);
		return;
	}
	lanes.add(v, KEPT);
	say(`Following: ${v.lost_total ? `${v.lost_total} events lost in all` : "nothing lost"}.`, v.lost_total > 0);
	show();
}

/** Show a message of ktape top, and the last ones before it. */
function note(text)
{
	page.noted++;
	page.notes.push(text);
	page.notes.splice(0, page.notes.length - NOTES);
	const earlier = page.noted - page.notes.length;
	$("notes").textContent = [...(earlier ? [`(${earlier} earlier messages)`] : []), ...page.notes].join("\n");
	$("notes").hidden = false;
}

/** Drop the choice of an interval, or choose the one at a place of the canvas. */
function choose(x)
{
	const v = lanes.at(x);
	lanes.chosen = v === lanes.chosen ? null : v;
	show();
}

const source = new EventSource(path ? `follow${path}` : "session");
source.onopen = () => say("Connected: waiting for the first interval.");
source.onmessage = (e) => add(JSON.parse(e.data));
source.addEventListener("note", (e) => note(e.data));
source.onerror = () => {
	// The browser would ask again, and get all intervals from the first.
	const refused = source.readyState === EventSource.CLOSED;
	source.close();
	if (refused)
		say("The server does not send intervals: it has ended, the trace is gone, or too many pages are open. Load the page again to retry.", true);
	else
		say(`The stream has ended${lanes.views.length ? "" : ", without an interval"}. Load the page again to follow on.`);
};
$("pause").onclick = () => {
	page.paused = !page.paused;
	$("pause").textContent = page.paused ? "Go on" : "Pause";
	for (const v of page.paused ? [] : page.waiting.splice(0))
		add(v);
};
$("span").onchange = () => {
	lanes.span = Number($("span").value) * 1e9;
	show();
};
$("lanes").onclick = (e) => choose(e.offsetX);
$("lanes").onkeydown = (e) => {
	const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key], last = lanes.views.length - 1;
	if (e.key === "Escape")
		lanes.chosen = null;
	else if (by && last >= 0)
		lanes.chosen = lanes.views[Math.max(0, Math.min(last, lanes.views.indexOf(lanes.chosen ?? lanes.views[last]) + by))];
	else
		return;
	e.preventDefault();
	show();
};
addEventListener("resize", show);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
