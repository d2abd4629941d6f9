// SPDX-License-Identifier: GPL-2.0-only
// Tables of the statistics, the numbers being those of ktape stats --json, and the
// line that says whether the trace is complete, from ktape verify --json.

import { lostReasons, RUN, WAIT, isRunnable, series } from "./kinds.mjs";
import { EXACT } from "./model.mjs";
import { count, duration, make } from "./text.mjs";

const SHOWN = 400;	// rows of a table; a search finds the others
const PAPER = 40;	// of these are printed, see style.css

/**
 * Return the attributes of a row that leads somewhere: by a click, and by Enter or Space
 * when it has the focus.  The arrows go to the rows above and below.
 */
export function rowOf(act, title)
{
	const near = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" };
	return act ? { tabindex: "0", class: "jump", title, click: act, keydown: (e) => {
		if (e.key === "Enter" || e.key === " ")
			act();
		else if (near[e.key])
			e.currentTarget[near[e.key]]?.focus();
		else
			return;
		e.preventDefault();
	} } : {};
}

export function table(caption, heads, rows, jump)
{
	const body = make("tbody"), all = rows.slice(0, SHOWN);
	if (!rows.length)
		body.append(make("tr", {}, make("td", { class: "empty", colspan: heads.length }, "nothing was measured: the trace does not have the events for it")));
	for (const row of all) {
		const act = row.jump ? () => jump(row.jump()) : null;
		body.append(make("tr", rowOf(act, "Show this moment"), ...row.cells.map((c, i) => make("td", { class: heads[i].number ? "number" : "" },
			c instanceof Node ? c : String(c ?? "")))));
	}
	// A grid is a table whose rows can have the focus.
	return make("table", { role: all.some((r) => r.jump) ? "grid" : null, class: rows.length > PAPER ? "long" : null }, make("caption", {}, rows.length > SHOWN ? `${caption} (the first ${SHOWN} of ${count(rows.length)})` : caption),
		make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col", class: h.number ? "number" : "" }, h.name)))), body);
}

export const text = (name) => ({ name }), number = (name) => ({ name, number: true });

/** A bar chart of a histogram of powers of two: [[from, count], ...]. */
function bars(histogram, unit)
{
	const most = Math.max(...histogram.map(([, n]) => n));
	const box = make("span", { class: "bars", role: "img",
		"aria-label": `histogram: ${histogram.map(([from, n]) => `${n} from ${from} ${unit}`).join(", ")}` });
	for (const [from, n] of histogram)
		box.append(make("i", { style: `height:${Math.max(Math.round(n / most * 100), 4)}%`, title: `${count(n)} times ${unit === "ns" ? duration(from) : `${from} ${unit}`} or more` }));
	return box;
}

const value = (v, unit) => v === undefined ? "" : unit === "ns" ? duration(v) : `${count(v)} ${unit}`;

export function latencyTable(model, stats, jump)
{
	const shares = ["p50", "p90", "p99", "p99.9"];
	const cell = (s, q) => {
		if (s[q] === undefined)
			return "";
		const [low, high] = s.bounds[q];
		const sure = low === s[q] && high === s[q];
		return make("span", { title: sure ? "" : `because of lost events between ${value(low, s.unit)} and ${high === null ? "any value" : value(high, s.unit)}` },
			value(s[q], s.unit) + (sure ? "" : high === null ? " ?" : " ~"));
	};
	const rows = stats.series.filter((s) => s.count || s.uncertain).map((s) => ({
		cells: [s.kind, s.key === null ? `(all) ${series[s.kind]?.help ?? ""}` : s.name, count(s.count), ...shares.map((q) => cell(s, q)),
			value(s.max, s.unit), s.errors ? count(s.errors) : "", s.uncertain ? count(s.uncertain) : "",
			s.histogram ? bars(s.histogram, s.unit) : ""],
		jump: s.count ? () => ({ ...model.momentOf(s), title: `longest ${s.kind}: ${value(s.max, s.unit)}`, key: s.key === null ? null : s.name }) : null,
	}));
	return table("latencies and durations", [text("what"), text("of"), number("times"),
		...shares.map(number), number("max"), number("errors"), number("uncertain"), text("distribution")], rows, jump);
}

/** Return what shows the longest wait of a thread for a CPU, which may have been merged. */
function longestWaitOf(model, stats, { tid, wait_max_ns })
{
	const { spans } = model, series = stats.series.find((s) => s.kind === "run_queue" && s.max_tid === tid && s.max === wait_max_ns);
	const i = model.longest((k) => spans.kind[k] === WAIT && spans.tid[k] === tid && isRunnable(spans.b[k]));
	if (!model.merges || (i >= 0 && spans.end[i] - spans.begin[i] >= wait_max_ns - EXACT))
		return { span: i };
	return series?.count ? { ...model.momentOf(series), title: `longest wait: ${duration(wait_max_ns)}`, key: null } : { span: -1 };
}

export function threadTable(model, stats, jump)
{
	const share = (ns) => stats.span_ns ? `${(100 * ns / stats.span_ns).toFixed(2)} %` : "";
	const rows = stats.threads.map((t) => ({
		cells: [t.tid, t.name, t.tgid || "", duration(t.run_ns), share(t.run_ns), count(t.switches),
			duration(t.wait_ns), count(t.waits), duration(t.wait_max_ns)],
		jump: () => ({ ...longestWaitOf(model, stats, t), track: `thread:${t.tid}` }),
	}));
	return table("execution profile: threads", [number("thread"), text("name"), number("process"), number("run"), number(""),
		number("switches"), number("waited for a CPU"), number("waits"), number("longest wait")], rows, jump);
}

export function cpuTable(model, stats, jump)
{
	const share = (ns) => stats.span_ns ? `${(100 * ns / stats.span_ns).toFixed(2)} %` : "";
	const rows = stats.cpus.map((c) => ({
		cells: [c.cpu, share(c.run_ns), share(c.idle_ns), share(c.irq_ns), share(c.softirq_ns), share(c.unknown_ns),
			count(c.switches), count(c.lost) + (c.uncounted_gaps ? " + ?" : "")],
		jump: () => ({ track: `cpu:${c.cpu}`, span: model.longest((i) => model.spans.kind[i] === RUN && model.spans.cpu[i] === c.cpu && model.spans.tid[i] > 0) }),
	}));
	return table("execution profile: CPUs", [number("CPU"), number("threads"), number("idle"), number("irq"), number("softirq"),
		number("unknown"), number("switches"), number("lost")], rows, jump);
}

export function insteadTable(model, stats, jump)
{
	const rows = stats.instead.map((p) => ({
		cells: [model.threadName(p.tid), duration(p.ns), count(p.waits), p.other < 0 ? "not known" : model.threadName(p.other)],
		jump: () => ({ track: `thread:${p.tid}`, span: longestWait(model, p) }),
	}));
	return table("what ran while a thread waited", [text("waiting"), number("time"), number("waits"), text("ran instead")], rows, jump);
}

function longestWait(model, pair)
{
	const { spans } = model;
	return model.longest((i) => spans.kind[i] === WAIT && spans.tid[i] === pair.tid && isRunnable(spans.b[i]) &&
		model.ranMost(i) === pair.other);
}

const sum = (rows, key) => rows.reduce((n, r) => n + r[key], 0);

/** Say how many events are missing, in the words of ktape stats. */
function lostText(lost, unknown)
{
	if (!unknown)
		return `${count(lost)} events`;
	return lost ? `${count(lost)} events and an unknown number more` : "an unknown number of events";
}

/**
 * Add up what ktape verify counted on CPUs.  The emitted events, from the ledgers of start and
 * stop, are null if one CPU lacks them; else all that are not in the trace and were not
 * filtered are lost, whether something tells of them or not, but for those that were
 * overwritten before the trace begins: @late has the CPUs with such events.
 */
export function totals(cpus, late = [])
{
	const stored = sum(cpus, "records"), filtered = sum(cpus, "filtered");
	const dropped = sum(cpus, "lost"), missed = sum(cpus, "missed"), cut = cpus.reduce((n, c) => n + (c.cut ?? 0), 0);
	const emitted = cpus.length && cpus.every((c) => typeof c.emitted === "number") ? sum(cpus, "emitted") : null;
	const gone = late.filter((l) => cpus.some((c) => c.cpu === l.cpu)).reduce((n, l) => n + (l.overwritten ?? 0), 0);
	const absent = emitted === null ? 0 : Math.max(emitted - stored - filtered - dropped - missed - cut, 0);
	// verify counts what was overwritten before the trace begins and behind its reader in one.
	const overwritten = emitted === null ? gone : Math.min(gone, missed + absent);
	const unread = Math.max(missed - overwritten, 0), untold = absent - Math.max(overwritten - missed, 0);
	const reasons = lostReasons.map(([name]) => cpus.reduce((n, c) => n + (c.reasons?.[name] ?? 0), 0));
	return { emitted, stored, filtered, dropped, reasons, unread, cut, untold, overwritten, lost: dropped + unread + cut + untold };
}

/** Return what the tracer took on a CPU: few samples say nothing, one that was interrupted decides them. */
function tracerOf({ samples, tracer_ns })
{
	if (!samples)
		return "";
	return samples < 30 ? `; too few samples of the tracer's time (${samples})` : `; about ${duration(tracer_ns)} in the tracer, by ${samples} samples`;
}

/** Write totals as an equation, if they make one. */
function equationOf({ emitted, stored, filtered, dropped, reasons, unread, cut, untold, overwritten, lost })
{
	const rest = Math.max(dropped - reasons.reduce((n, r) => n + r, 0), 0);
	const kinds = [...lostReasons.map(([, words], i) => [reasons[i], words]), [rest, "by the tracer"], [unread, "overwritten unread"],
		[cut, "cut off"], [untold, "in missing or damaged packets"]].filter(([n]) => n);
	const parts = kinds.length > 1 ? kinds.map(([n, what]) => `${count(n)} ${what}`) : kinds.map(([, what]) => what);
	const how = parts.length ? ` (${parts.join("; ")})` : "";
	const before = overwritten ? ` + overwritten ${count(overwritten)}` : "";
	if (emitted !== null && emitted === stored + filtered + overwritten + lost)
		return `emitted ${count(emitted)} = stored ${count(stored)} + filtered ${count(filtered)}${before} + lost ${count(lost)}${how}`;
	return `stored ${count(stored)}, filtered ${count(filtered)}, ${overwritten ? `overwritten ${count(overwritten)}, ` : ""}known to be lost ${count(lost)}${how}; ` +
		(emitted === null ? "how many were emitted is not known without the start and the stop of the session" : `emitted ${count(emitted)}, which is less`);
}

/**
 * Return the line about completeness: { state: "good" | "bad" | "unknown", text, more }.
 */
export function completeness(data)
{
	const { ledger, stats, damages } = data, more = [];
	const gaps = stats?.gaps ?? 0, lost = stats?.lost ?? 0, late = (stats?.cpus ?? []).filter((c) => c.late);
	if (damages.length)
		return { state: "bad", text: "this page is damaged: parts are missing", more: damages };
	if (!ledger || ledger.wrong === null) {
		if (ledger?.why)
			more.push(`not checked: ${ledger.why}`);
		else
			more.push("no ledger: the input was a pipe, several traces, or of a format without counts");
		if (late.length)
			more.push(`overwritten before the trace begins: ${count(sum(late, "overwritten"))} events on ${late.length} CPU${late.length === 1 ? "" : "s"}`);
		return { state: gaps || late.length ? "bad" : "unknown", more,
			text: late.length && !gaps ? "incomplete: rings were overwritten before the trace begins" : gaps ? `incomplete: ${lostText(lost, stats.uncounted)} lost in ${count(gaps)} gap${gaps === 1 ? "" : "s"}` :
				"no loss is recorded in the input, but it has no ledger that could prove it" };
	}
	const whole = totals(ledger.cpus, late);
	for (const c of ledger.cpus)
		more.push(`CPU ${c.cpu}: ${equationOf(totals([c], late))}${tracerOf(c)}`);
	for (const f of ledger.findings)
		more.push(`${f.cut ? "cut off" : f.note ? "note" : "wrong"}, ${f.rule}: ${f.text}`);
	// The ledger is of all that was recorded, whatever the page was made of.
	const part = data.selection?.length, what = (state) => part ? `the whole trace is ${state}` : state, rest = part ? "; this page has a part of it" : "";
	const equation = equationOf(whole);
	if (ledger.wrong)
		return { state: "bad", text: `${ledger.wrong} finding${ledger.wrong === 1 ? "" : "s"} of ktape verify${whole.lost || gaps ? ", incomplete" : ""}: ${equation}${rest}`, more };
	return whole.lost || gaps || late.length || ledger.cuts ?
		{ state: "bad", text: `${what("incomplete")}: ${equation}${rest}`, more } :
		{ state: "good", text: `${what("complete")}: ${equation}${rest}`, more };
}
