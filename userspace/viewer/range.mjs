// SPDX-License-Identifier: GPL-2.0-only
// What an interval contains: threads, spans and events in it; and its export.

import { RUN, kinds } from "./kinds.mjs";
import { count, duration, fieldsOf, make, onClock } from "./text.mjs";

/** Return sums over an interval. */
export function measure(model, from, to)
{
	const { spans, events } = model, threads = new Map(), byKind = new Map(), byOp = new Map();
	for (let i = 0; i < spans.n; i++) {
		if (spans.end[i] <= from || spans.begin[i] >= to)
			continue;
		const ns = Math.min(spans.end[i], to) - Math.max(spans.begin[i], from), kind = spans.kind[i];
		if (kind === RUN)
			threads.set(spans.tid[i], (threads.get(spans.tid[i]) ?? 0) + ns);
		else if (kind !== 10) {
			const name = kinds[kind]?.name ?? "span", s = byKind.get(name) ?? { n: 0, ns: 0, longest: -1, most: 0 };
			s.n++;
			s.ns += ns;
			if (ns > s.most) {
				s.most = ns;
				s.longest = i;
			}
			byKind.set(name, s);
		}
	}
	const first = events.after(from), last = events.after(to);
	for (let i = first; i < last; i++)
		byOp.set(events.op[i], (byOp.get(events.op[i]) ?? 0) + 1);
	return { threads, byKind, byOp, events: last - first, first, last };
}

export function rangeTable(model, range, jump)
{
	const m = measure(model, range.from, range.to), ns = range.to - range.from;
	const list = (caption, heads, rows) => make("table", {}, make("caption", {}, caption),
		make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))),
		make("tbody", {}, ...rows));
	const row = (cells, act) => make("tr", act ? { class: "jump", tabindex: "0", title: "Show it", click: act,
		keydown: (e) => {
			if (e.key === "Enter")
				act();
		} } : {}, ...cells.map((c) => make("td", {}, c)));
	const threads = [...m.threads].sort((x, y) => y[1] - x[1]).slice(0, 12);
	const ops = [...m.byOp].sort((x, y) => y[1] - x[1]).slice(0, 16);
	return make("div", { class: "columns" },
		list(`${duration(ns)} on all CPUs`, ["thread", "run", "of one CPU"], threads.map(([tid, t]) =>
			row([model.threadName(tid), duration(t), `${(100 * t / ns).toFixed(1)} %`], () => jump({ track: `thread:${tid}` })))),
		list("spans", ["what", "number", "sum inside", "longest inside"], [...m.byKind].map(([name, s]) =>
			row([name, count(s.n), duration(s.ns), duration(s.most)], () => jump({ span: s.longest })))),
		list(`${count(m.events)} events`, ["event", "number", "per second"], ops.map(([op, n]) =>
			row([model.opName(op), count(n), ns ? count(Math.round(n / ns * 1e9)) : ""]))));
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
		const name = tid < 0 ? "" : tid ? model.names.get(tid) ?? "" : "swapper";
		if (form === "csv")
			out.push(`${ts},${events.cpu[i]},${tid < 0 ? "" : tid},${quoted(name)},${model.opName(events.op[i])},${quoted(fields)}\r\n`);
		else
			out.push(`{"ts":${ts},"cpu":${events.cpu[i]},"tid":${tid < 0 ? "null" : tid},"comm":${JSON.stringify(name)},"event":${JSON.stringify(model.opName(events.op[i]))},"fields":${fields}}\n`);
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
		["since the epoch", `${onClock(about.origin_ns, events.t[i])} s`],
		["CPU", String(events.cpu[i])], ["thread", model.threadName(events.tid[i])]);
	return rows.concat(text ? fieldsOf(text) : [["fields", "not in this page, or damaged"]]);
}
