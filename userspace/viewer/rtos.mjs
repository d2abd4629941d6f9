// SPDX-License-Identifier: GPL-2.0-only
// Tables of traces of an RTOS, with the names that TraceX has for them.  The numbers are
// those of ktape stats --rtos --services --json.

import { ON } from "./kinds.mjs";
import { number, table, text } from "./tables.mjs";
import { count, duration, make } from "./text.mjs";

const UNKNOWN = 4294967295;	// priority that no event has

const partOf = (n, all) => all ? `${(100 * n / all).toFixed(2)} %` : "";

/** A service: its name, or its number if it has none. */
const serviceOf = (rtos, id) => rtos.services[id] ?? `event ${id}`;

/** The last thread of an address: addresses are used again. */
function threadAt(rtos, addr)
{
	return rtos.thread_list.findLast((t) => t.addr === addr)?.name ?? addr;
}

const range = (low, high) => low === UNKNOWN ? "" : low === high ? String(low) : `${high} to ${low}`;

export function profileTable(model, rtos, jump)
{
	const all = rtos.max_relative_ticks;
	const rows = rtos.thread_list.map((t) => ({
		ticks: t.ticks,
		cells: [t.name, t.addr, count(t.ticks), partOf(t.ticks, all), count(t.events), count(t.suspensions), count(t.resumptions),
			range(t.lowest_prio, t.highest_prio), range(t.lowest_pt, t.highest_pt)],
		jump: t.ticks ? () => ({ track: `thread:${t.tid}`, span: model.longest((i) => model.spans.kind[i] === ON && model.spans.tid[i] === t.tid) }) : null,
	})).sort((x, y) => y.ticks - x.ticks);
	for (const [name, ticks] of [["(interrupts)", rtos.interrupt_ticks], ["(idle)", rtos.idle_ticks]])
		rows.push({ cells: [name, "", count(ticks), partOf(ticks, all), "", "", "", "", ""], jump: null });
	return table("execution profile", [text("thread"), text("address"), number("ticks"), number("of all"), number("events"),
		number("suspensions"), number("resumptions"), number("priority"), number("preemption threshold")], rows, jump);
}

export function performanceTable(model, rtos, jump)
{
	const rows = [
		["context switches", rtos.context_switches], ["preemptions", rtos.preemptions], ["time slices", rtos.time_slices],
		["thread suspensions", rtos.suspensions], ["thread resumptions", rtos.resumptions], ["interrupts", rtos.interrupts],
		["nested interrupts", rtos.nested_interrupts], ["priority inversions", rtos.det_prio_inversions],
		["of these non-deterministic", rtos.undet_prio_inversions], ["of these without end in the trace", rtos.open_prio_inversions], ["events, with inserted RUNNING", rtos.events],
		["threads", rtos.threads], ["objects", rtos.objects], ["ticks", rtos.max_relative_ticks],
	].map(([name, n]) => ({ cells: [name, name.includes("inversions") && !rtos.mutex_calls ? "not known: no calls of mutexes" : count(n)] }));
	return make("div", { class: "columns" }, table("performance statistics", [text("what"), number("times")], rows, jump));
}

export function stackTable(model, rtos, jump)
{
	const rows = rtos.thread_list.filter((t) => t.stack_size).map((t) => {
		const known = t.stack_event_ns !== undefined, used = t.stack_size - t.stack_min_available;
		return {
			share: known ? used / t.stack_size : -1,
			cells: [t.name, t.stack_start, count(t.stack_size), known ? count(t.stack_min_available) : "not known", known ? count(used) : "",
				known ? partOf(used, t.stack_size) : "", known ? count(t.stack_event) : ""],
			jump: known ? () => model.eventAt(t.stack_event_ns, t.tid) : null,
		};
	}).sort((x, y) => y.share - x.share);
	return table("thread stack usage", [text("thread"), text("lowest address"), number("bytes"), number("never used"), number("most used"),
		number("of all"), number("at event")], rows, jump);
}

/** Rows of services: the first time of each is a moment. */
function serviceRows(model, rtos, whose, before, tid)
{
	const all = whose.popular.reduce((n, [, times]) => n + times, 0);
	return whose.popular.map(([id, times], i) => ({
		cells: [...before, serviceOf(rtos, id), count(times), partOf(times, all)],
		jump: () => model.eventAt(whose.popular_first_ns[i], tid, serviceOf(rtos, id)),
	}));
}

export function serviceTable(model, rtos, jump)
{
	const heads = [text("service"), number("times"), number("of all")];
	const threads = rtos.thread_list.flatMap((t) => serviceRows(model, rtos, t, [t.name], t.tid));
	return make("div", { class: "columns" }, table("popular services: all", heads, serviceRows(model, rtos, rtos, [], null), jump),
		...(threads.length ? [table("popular services: of each thread", [text("thread"), ...heads.slice(0, 2), number("of the thread's")], threads, jump)] : []));
}

export function inversionTable(model, rtos, jump)
{
	const rows = rtos.inversions.map((v) => {
		const ends = v.end_ns !== null, thread = threadAt(rtos, v.addr);
		const from = model.timeOf(v.begin_ns), to = ends ? model.timeOf(v.end_ns) : model.last;
		return {
			ns: to - from,
			cells: [thread, v.mutex_name ?? v.mutex, threadAt(rtos, v.owner), ends ? duration(to - from) : `over ${duration(to - from)}`,
				v.bad ? "non-deterministic: a third thread ran" : "deterministic", count(v.event), ends ? count(v.end) : "does not end in the trace"],
			jump: () => ({ span: -1, from, to, tid: v.tid, title: `priority inversion of ${thread}${ends ? "" : ", which does not end in the trace"}`, key: `mutex ${v.mutex_name ?? v.mutex}` }),
		};
	}).sort((x, y) => y.ns - x.ns);
	const more = rtos.det_prio_inversions - rows.length;
	return table(`priority inversions${more > 0 ? ` (${count(more)} more were not followed, or are beyond the first 10 000)` : ""}`,
		[text("thread that waits"), text("for the mutex"), text("of the thread"), number("time"), text("kind"), number("from event"), number("to event")], rows, jump);
}

export function responseTable(model, rtos, jump)
{
	const shares = ["p50", "p90", "p99", "p99.9"];
	const rows = (rtos.responses ?? []).map((r) => {
		const to = r.count ? model.timeOf(r.max_end_ns) : 0, name = r.name ?? r.object;
		const signal = r.signal === null ? "(all)" : r.signal_name ?? String(r.signal);
		return {
			cells: [name, signal, count(r.posts), count(r.gets), count(r.count), ...shares.map((q) => r.count ? duration(r[q]) : ""), r.count ? duration(r.max) : "",
				r.uncertain ? count(r.uncertain) : "", r.waiting ? count(r.waiting) : ""],
			jump: r.count ? () => ({ span: -1, from: to - r.max, to, title: `longest response of ${name}: ${duration(r.max)}`, key: signal }) : null,
		};
	});
	return table("response times of active objects: from post to get", [text("object"), text("signal"), number("posts"), number("gets"), number("times"),
		...shares.map(number), number("max"), number("uncertain"), number("waiting")], rows, jump);
}

/** The tables by their tabs, and whether a trace has what they show. */
export const rtosTables = [
	{ id: "profile", fill: profileTable, has: (r) => r.thread_list.length || r.interrupt_ticks || r.idle_ticks },
	{ id: "performance", fill: performanceTable, has: (r) => r.thread_list.length || r.interrupts },
	{ id: "services", fill: serviceTable, has: (r) => r.popular.length },
	{ id: "stack", fill: stackTable, has: (r) => r.thread_list.some((t) => t.stack_size) },
	{ id: "inversions", fill: inversionTable, has: (r) => r.det_prio_inversions },
	{ id: "responses", fill: responseTable, has: (r) => r.responses },
];
