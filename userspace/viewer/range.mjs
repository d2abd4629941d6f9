// SPDX-License-Identifier: GPL-2.0-only
// What an interval contains: threads, spans and events in it; and its export.

import { LOSS, LOST, ON, RUN, kinds } from "./kinds.mjs";
import { rowOf } from "./tables.mjs";
import { bothWays, count, duration, fieldsOf, make, onClock } from "./text.mjs";

/**
 * Return what of a span is in an interval: how many spans it stands for, their time and
 * the longest.  "cut" = it stands for several and an end of the interval is in it: what
 * is inside is taken to be its share, so all three are estimates.
 */
function inside(spans, i, from, to)
{
	const ns = Math.min(spans.end[i], to) - Math.max(spans.begin[i], from), whole = spans.end[i] - spans.begin[i];
	const m = spans.merged.get(i), share = whole ? ns / whole : 1;
	return m ? { n: m.count * share, ns: Math.round(m.busy * share), most: Math.min(m.longest, ns), cut: ns < whole } :
		{ n: 1, ns, most: ns, cut: false };
}

/**
 * Return sums over an interval.  Threads run in spans of their own (ON), of which merged
 * ones are exact, too.  A merged span of a CPU (RUN) is of several threads: it only says
 * that the time of the others, idle and unknown, is not exact.
 */
export function measure(model, from, to)
{
	const { spans, events } = model, threads = new Map(), byKind = new Map(), byOp = new Map();
	const add = (map, key, i) => {
		const s = map.get(key) ?? { n: 0, ns: 0, longest: -1, most: 0, cut: false }, part = inside(spans, i, from, to);
		s.n += part.n;
		s.ns += part.ns;
		s.cut ||= part.cut;
		if (part.most > s.most) {
			s.most = part.most;
			s.longest = i;
		}
		map.set(key, s);
	};
	let mixed = 0, lost = 0;
	for (let i = 0; i < spans.n; i++) {
		if (spans.end[i] <= from || spans.begin[i] >= to)
			continue;
		const kind = spans.kind[i], tid = spans.tid[i];
		lost += kind === LOST;
		if (kind === ON)
			add(threads, tid, i);
		else if (kind === RUN && spans.merged.has(i))
			mixed += inside(spans, i, from, to).ns;
		else if (kind === RUN && (tid <= 0 || !model.hasTrack(tid)))
			add(threads, tid, i);
		else if (kind !== RUN && kind !== LOSS)	// What LOSS tells apart by class is in LOST.
			add(byKind, kinds[kind]?.name ?? "span", i);
	}
	const first = events.after(from), last = events.after(to);
	for (let i = first; i < last; i++)
		byOp.set(events.op[i], (byOp.get(events.op[i]) ?? 0) + 1);
	return { threads, byKind, byOp, mixed, lost, all: model.hasEvents(from, to), events: last - first, first, last };
}

export function rangeTable(model, range, jump)
{
	const m = measure(model, range.from, range.to), ns = range.to - range.from;
	const list = (caption, heads, rows) => make("table", { role: rows.some((r) => r.tabIndex === 0) ? "grid" : null }, make("caption", {}, caption),
		make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))),
		make("tbody", {}, ...rows));
	const row = (cells, act) => make("tr", rowOf(act, "Show it"), ...cells.map((c) => make("td", {}, c)));
	const about = (s, text) => s.cut ? `≈ ${text}` : text;
	const share = (s) => `${(100 * s.ns / ns).toFixed(1)} %`;
	const threads = [...m.threads].sort((x, y) => y[1].ns - x[1].ns).slice(0, 12);
	const events = m.all ? `${count(m.events)} events` : `${count(m.events)} of the events that this page has: not all (html:events=N)`;
	const notes = [];
	if ([...m.threads.values(), ...m.byKind.values()].some((s) => s.cut))
		notes.push("≈: spans that are merged in this page reach over an end of the interval, and their share is taken.");
	if (m.mixed)
		notes.push(`Idle time is not exact: ${duration(m.mixed)} of spans on CPUs are merged, of several threads and idle. The times of threads are from their own spans.`);
	if (notes.length)
		notes.push(`Convert with html:exact=${onClock(model.about.mono_ns, range.from)}s-${onClock(model.about.mono_ns, range.to)}s to have each span of the interval.`);
	if (m.lost)
		notes.push("Events were lost in this interval (hatched): the times are of what the events around say, where ktape stats counts the whole loss as unknown.");
	const ops = [...m.byOp].sort((x, y) => y[1] - x[1]).slice(0, 16);
	return make("div", { class: "columns" },
		list(`${bothWays(ns)} on all CPUs`, ["thread", "run", "of one CPU"], threads.map(([tid, s]) =>
			m.mixed && tid <= 0 ? row([model.threadIn(tid, range.from, range.to), `at least ${duration(s.ns)}`, "not exact here"]) :
				row([model.threadIn(tid, range.from, range.to), about(s, duration(s.ns)), about(s, share(s))], () => jump({ track: `thread:${tid}` })))),
		list("spans", ["what", "number", "sum inside", "longest inside"], [...m.byKind].map(([name, s]) =>
			row([name, about(s, count(Math.round(s.n))), about(s, duration(s.ns)), about(s, duration(s.most))], () => jump({ span: s.longest })))),
		list(events, ["event", "number", "per second"], ops.map(([op, n]) =>
			row([model.opName(op), count(n), ns && m.all ? count(Math.round(n / ns * 1e9)) : ""]))),
		...notes.map((text) => make("p", { class: "note" }, text)));
}

const quoted = (text) => `"${String(text).replace(/"/g, "\"\"")}"`;

/** Return the events of an interval as a text: "csv", or "json" with a line each. */
export async function exportEvents(model, from, to, form, pause)
{
	const { events, about } = model, out = [];
	if (form === "csv")
		out.push("ts_ns,cpu,tid,comm,event,fields\r\n");
	for (let i = events.after(from); i < events.n && events.t[i] < to; i++) {
		const ts = String(BigInt(about.origin_ns) + BigInt(events.t[i]));
		const fields = await events.fields(i) || "{}", tid = events.tid[i];
		const name = tid ? model.called.atEvent(i) : "swapper";
		if (form === "csv")
			out.push(`${ts},${events.cpu[i]},${tid < 0 ? "" : tid},${quoted(name ?? "")},${model.opName(events.op[i])},${quoted(fields)}\r\n`);
		else
			out.push(`{"ts":"${ts}","cpu":${events.cpu[i]},"tid":${tid < 0 ? "null" : tid},"comm":${JSON.stringify(name)},"event":${JSON.stringify(model.opName(events.op[i]))},"fields":${fields}}\n`);
		if (out.length % 4096 === 0)
			await pause();
	}
	return out.join("");
}

/** Describe an event: every field. */
export async function describeEvent(model, i)
{
	const { events, about } = model, info = model.ops.get(events.op[i]);
	const text = await events.fields(i), rows = [["event", model.eventName(events.op[i], text)]];
	if (info?.help)
		rows.push(["meaning", info.help]);
	rows.push(["class", info?.kind || "unknown"],
		["CLOCK_MONOTONIC", `${onClock(about.mono_ns, events.t[i])} s`],
		[about.undated ? "trace clock" : "since the epoch", `${onClock(about.origin_ns, events.t[i])} s`],
		["CPU", String(events.cpu[i])], ["thread", model.threadOf(i)]);
	return rows.concat(text ? fieldsOf(text) : [["fields", "not in this page, or damaged"]]);
}
