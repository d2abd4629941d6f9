// SPDX-License-Identifier: GPL-2.0-only
// The head of the page: whose trace it is, whether it is complete, what is left out.

import { completeness } from "./tables.mjs";
import { count, duration, make } from "./text.mjs";

/** Return lines that name the classes of which the trace has no event, and why. */
function missingClasses(model)
{
	const used = new Set(), all = new Set(), enabled = new Set();
	for (const op of model.ops.values()) {
		if (op.kind)
			all.add(op.kind);
		if (op.kind && op.used)
			used.add(op.kind);
		if (op.kind && op.enabled)
			enabled.add(op.kind);
	}
	const none = [...all].filter((c) => !used.has(c));
	const off = none.filter((c) => !enabled.has(c)), on = none.filter((c) => enabled.has(c));
	if (!model.about.profiled)
		return none.length ? [`no event of these classes is in the trace, because they were not enabled, were filtered or did not happen: ${none.join(", ")}`] : [];
	return [...(off.length ? [`not enabled at any time: the classes ${off.join(", ")}`] : []),
		...(on.length ? [`enabled, but without an event: the classes ${on.join(", ")}`] : [])];
}

export function notesOf(about, data)
{
	const notes = [];
	if (about.all_spans > about.spans)
		notes.push(`Level of detail: the trace has ${count(about.all_spans)} spans, more than a page shows. Spans shorter than ${duration(about.short_ns)} that follow each other are merged into ${count(about.spans)} (paler; the tip has their number). Convert a shorter time (--from-time, --to-time, html:exact=FROM-TO) or more (html:spans=N) to see each.`);
	const selected = (data.selection ?? []).map((words) => words.join(" ")).join(" ");
	if (selected)
		notes.push(`The trace has more: it was converted with ${selected}.`);
	if (about.exact)
		notes.push(`From ${duration(about.exact[0])} to ${duration(about.exact[1])} after the start the page has every span and every event${selected ? " that was selected" : ""}.`);
	if (about.all_events > about.events)
		notes.push(`The page has the fields of ${count(about.events)} of ${count(about.all_events)} events; the tracks and the statistics are of all.`);
	for (const [kind, n] of Object.entries(about.left_out ?? {}))
		notes.push(`Not in this page, because it is full: ${count(n)} spans of the kind "${kind}" (html:spans=N for more).`);
	for (const [what, n] of data.rtos?.left_out ?? [])
		notes.push(`The tables leave out ${what}: ${count(n)}.`);
	for (const damage of data.damages)
		notes.push(`Damaged: ${damage}.`);
	return notes;
}

export function fillHead(model, data)
{
	const { about } = model, done = completeness(data), notes = notesOf(about, data), el = (id) => document.getElementById(id);
	el("where").textContent = [about.hostname, about.release && `Linux ${about.release}`, about.machine].filter(Boolean).join(" · ") || "trace";
	el("length").textContent = `${duration(model.last)} · ${count(about.all_events ?? 0)} events`;
	el("state").className = done.state;
	el("state").querySelector("summary").textContent = `${{ good: "✓", bad: "✗", unknown: "?" }[done.state]} ${done.text}`;
	el("more").replaceChildren(...[...done.more, ...missingClasses(model)].map((line) => make("li", {}, line)));
	el("notes").replaceChildren(...notes.map((n) => make("p", {}, n)));
	el("notes").hidden = !notes.length;
}
