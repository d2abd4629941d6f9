// SPDX-License-Identifier: GPL-2.0-only
// From columns to tracks: which spans are on which row of which track, and questions
// about them: what ran then, what is the longest, what does an interval contain.

import { BLOCK, CALL, HRTIMER, IRQ, LOSS, LOST, MARK, NO_BEGIN, NO_END, ON, RUN, STATE,
	UNSURE, WAIT, WOKEN, WORK, isRunnable, kinds, series } from "./kinds.mjs";
import { count, duration } from "./text.mjs";

const ROWS_MAX = 12;

/** Spans that do not overlap, by time. */
export class Lane {
	constructor(spans)
	{
		this.spans = spans;
		this.list = [];
		this.from = null;	// pieces: begin and end differ from the span's
		this.to = null;
	}

	add(i)
	{
		this.list.push(i);
	}

	seal()
	{
		const { begin, end } = this.spans, { list } = this;
		let sorted = true;
		for (let k = 1; k < list.length && sorted; k++)
			sorted = begin[list[k]] >= begin[list[k - 1]];
		if (!sorted)
			list.sort((x, y) => begin[x] - begin[y] || end[y] - end[x]);
		this.list = Int32Array.from(list);
		this.from = new Float64Array(list.length);
		this.to = new Float64Array(list.length);
		for (let k = 0; k < list.length; k++) {
			this.from[k] = begin[list[k]];
			this.to[k] = end[list[k]];
		}
		return this;
	}

	/** Return the first entry that ends after a time. */
	after(t, low = 0)
	{
		let high = this.list.length;
		while (low < high) {
			const middle = low + high >> 1;
			if (this.to[middle] <= t)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	/** Return the span at a time, or within @slack of it; -1 = none. */
	at(t, slack = 0)
	{
		const k = this.after(t - slack);
		return k < this.list.length && this.from[k] <= t + slack ? this.list[k] : -1;
	}
}

/** Pieces of calls on a CPU: a call lasts over switches, and is drawn where it ran. */
class Pieces extends Lane {
	addPiece(i, from, to)
	{
		this.list.push({ i, from, to });
	}

	seal()
	{
		const list = this.list.sort((x, y) => x.from - y.from);
		this.list = Int32Array.from(list, (p) => p.i);
		this.from = Float64Array.from(list, (p) => p.from);
		this.to = Float64Array.from(list, (p) => p.to);
		return this;
	}
}

export class Model {
	constructor(data)
	{
		this.data = data;
		this.spans = data.spans;
		this.events = data.events;
		this.about = data.about ?? { states: [], cpus: [], table: [], last: 1, origin_ns: "0", mono_ns: "0" };
		this.ops = new Map(this.about.table.map(([op, name, kind, help, used]) =>
			[op, { op, name, kind, help, used: !!used }]));
		this.runs = new Map();		// CPU -> Lane of what ran
		this.names = new Map();		// tid -> last name
		this.tgids = new Map();
		this.runTime = new Map();
		for (const t of data.stats?.threads ?? []) {
			this.names.set(t.tid, t.name);
			this.tgids.set(t.tid, t.tgid);
			this.runTime.set(t.tid, t.run_ns);
		}
		this.findEnds();
		this.tracks = this.makeTracks();
	}

	findEnds()
	{
		const { begin, n } = this.spans;
		let first = 0;
		for (let i = 0; i < n; i++)
			first = Math.min(first, begin[i]);
		this.first = first;
		this.last = Math.max(this.about.last ?? 1, first + 1);
	}

	string(i)
	{
		return this.data.strings[i] ?? "?";
	}

	opName(op)
	{
		return this.ops.get(op)?.name || `opcode_${op}`;
	}

	threadName(tid)
	{
		if (tid === 0)
			return "idle";
		const name = this.names.get(tid);
		return tid < 0 ? "unknown" : name ? `${name} ${tid}` : `thread ${tid}`;
	}

	// ---- tracks --------------------------------------------------------------------

	makeTracks()
	{
		const { spans } = this, cpus = new Map(), threads = new Map(), marks = new Map(),
			devices = new Map(), objects = new Map();
		const get = (map, key, make) => {
			if (!map.has(key))
				map.set(key, make());
			return map.get(key);
		};
		const lane = (track, row) => {
			while (track.rows.length <= row)
				track.rows.push(new Lane(spans));
			return track.rows[row];
		};
		for (const cpu of this.about.cpus)
			get(cpus, cpu, () => this.newTrack("cpu", cpu, `CPU ${cpu}`));
		for (let i = 0; i < spans.n; i++) {
			const kind = spans.kind[i], tid = spans.tid[i], cpu = spans.cpu[i];
			if (kind <= LOSS) {
				const t = get(cpus, cpu, () => this.newTrack("cpu", cpu, `CPU ${cpu}`));
				if (kind === RUN)
					lane(t, 0).add(i);
				else if (kind === LOST || kind === LOSS)
					t.losses.push(i);
				else
					lane(t, 2 + spans.depth[i]).add(i);
				if (kind === RUN && tid > 0 && !this.names.has(tid))
					this.names.set(tid, this.string(spans.name[i]));
			} else if (kind === BLOCK) {
				const name = this.string(spans.name[i]);
				get(devices, name, () => this.newTrack("device", name, `block ${name}`)).loose.push(i);
			} else if (kind === STATE) {
				const name = this.string(spans.a[i]);
				lane(get(objects, name, () => this.newTrack("object", name, name)), 0).add(i);
			} else if (kind === MARK && tid < 0) {
				const name = this.string(spans.name[i]);
				lane(get(marks, name, () => this.newTrack("mark", name, name)), spans.depth[i]).add(i);
			} else {
				const t = get(threads, tid, () => this.newTrack("thread", tid, ""));
				const row = kind === ON || kind === WAIT ? 0 : kind === CALL ? 1 : kind === WORK ? 2 : 3 + spans.depth[i];
				lane(t, row).add(i);
			}
		}
		this.placeLoose(devices);
		this.placeCalls(cpus, threads);
		const byTime = [...threads.values()].sort((x, y) =>
			(this.runTime.get(y.key) ?? 0) - (this.runTime.get(x.key) ?? 0) || x.key - y.key);
		for (const t of byTime)
			t.label = this.threadName(t.key);
		const all = [
			this.flagTrack(),
			...[...cpus.values()].sort((x, y) => x.key - y.key),
			...marks.values(), ...this.valueTracks(), ...objects.values(), ...devices.values(),
			...byTime,
		];
		for (const t of all)
			this.sealTrack(t);
		return all;
	}

	newTrack(kind, key, label)
	{
		return { id: `${kind}:${key}`, kind, key, label, rows: [], losses: [], loose: [], names: [] };
	}

	sealTrack(t)
	{
		// Rows without spans take no room; what they are is remembered for labels.
		const names = t.kind === "cpu" ? ["running", "system calls"] :
			t.kind === "thread" ? ["state", "system calls", "work"] : [];
		const rows = [], kept = [];
		for (const [i, row] of t.rows.entries()) {
			if (!(row instanceof Pieces))
				row.seal();
			if (!row.list.length && !(t.kind === "cpu" && i === 0))
				continue;
			rows.push(row);
			kept.push(names[i] ?? (t.kind === "cpu" ? "interrupts" : "marks"));
		}
		t.rows = rows;
		t.names = kept;
		if (t.kind === "cpu")
			this.runs.set(t.key, t.rows[0]);
	}

	/** Requests of a device overlap: put each on the first row that is free. */
	placeLoose(devices)
	{
		const { begin, end } = this.spans;
		for (const t of devices.values()) {
			const free = [];
			t.loose.sort((x, y) => begin[x] - begin[y]);
			for (const i of t.loose) {
				let row = free.findIndex((at) => at <= begin[i]);
				if (row < 0)
					row = Math.min(free.length, ROWS_MAX - 1);
				while (t.rows.length <= row)
					t.rows.push(new Lane(this.spans));
				t.rows[row].add(i);
				free[row] = end[i];
			}
		}
	}

	/** Put the parts of system calls in which the thread ran on the CPU's second row. */
	placeCalls(cpus, threads)
	{
		const { spans } = this, pieces = new Map();
		for (const t of threads.values()) {
			const runs = t.rows[0]?.list ?? [], calls = t.rows[1]?.list ?? [];
			let r = 0;
			for (const c of calls) {
				while (r < runs.length && spans.end[runs[r]] <= spans.begin[c])
					r++;
				for (let k = r; k < runs.length && spans.begin[runs[k]] < spans.end[c]; k++) {
					if (spans.kind[runs[k]] !== ON)
						continue;
					const cpu = spans.cpu[runs[k]];
					if (!pieces.has(cpu))
						pieces.set(cpu, new Pieces(spans));
					pieces.get(cpu).addPiece(c, Math.max(spans.begin[c], spans.begin[runs[k]]),
						Math.min(spans.end[c], spans.end[runs[k]]));
				}
			}
		}
		for (const [cpu, t] of cpus) {
			while (t.rows.length < 2)
				t.rows.push(new Lane(spans));
			t.rows[1] = (pieces.get(cpu) ?? new Pieces(spans)).seal();
		}
	}

	valueTracks()
	{
		const tracks = [];
		for (const v of this.data.values.values()) {
			const name = this.string(v.name) + (v.tid > 0 ? ` (${this.threadName(v.tid)})` : "");
			const t = this.newTrack("value", name, name);
			t.t = Float64Array.from(v.t);
			t.v = Float64Array.from(v.v);
			t.low = v.v.reduce((x, y) => Math.min(x, y), 0);
			t.high = v.v.reduce((x, y) => Math.max(x, y), t.low + 1);
			tracks.push(t);
		}
		return tracks;
	}

	/** Marks, exceptions, triggers and texts: moments that somebody wants to find. */
	flagTrack()
	{
		const { events } = this, wanted = new Map([["exception", "exception"], ["trigger", "trigger"],
			["mark", "mark"], ["text", "mark"], ["trace_event", "mark"], ["freeze", "trigger"]]);
		const t = this.newTrack("flag", "flags", "exceptions, marks");
		const ops = new Map();
		for (const o of this.ops.values()) {
			if (wanted.has(o.name))
				ops.set(o.op, wanted.get(o.name));
		}
		t.flags = [];
		for (let i = 0; i < events.n; i++) {
			const what = ops.get(events.op[i]);
			if (what)
				t.flags.push({ i, t: events.t[i], what });
		}
		return t;
	}

	// ---- questions --------------------------------------------------------------------

	/** Return what ran on a CPU in an interval: [{ tid, ns }], longest first. */
	ranOn(cpu, from, to)
	{
		const lane = this.runs.get(cpu), times = new Map();
		if (!lane)
			return [];
		for (let k = lane.after(from); k < lane.list.length && lane.from[k] < to; k++) {
			const tid = this.spans.tid[lane.list[k]];
			const ns = Math.min(to, lane.to[k]) - Math.max(from, lane.from[k]);
			times.set(tid, (times.get(tid) ?? 0) + ns);
		}
		return [...times].map(([tid, ns]) => ({ tid, ns })).sort((x, y) => y.ns - x.ns);
	}

	/** Return the longest span for which @wanted holds, -1 = none. */
	longest(wanted)
	{
		const { spans } = this;
		let best = -1;
		for (let i = 0; i < spans.n; i++) {
			if (wanted(i) && !(spans.flags[i] & UNSURE) &&
			    (best < 0 || spans.end[i] - spans.begin[i] > spans.end[best] - spans.begin[best]))
				best = i;
		}
		return best;
	}

	/** Return the span of the largest value of a series of ktape stats, -1 = none. */
	longestOf(kind, key)
	{
		const { spans } = this, what = series[kind];
		if (!what)
			return -1;
		return this.longest((i) => spans.kind[i] === what.kind &&
			(!what.runnable || isRunnable(spans.b[i])) &&
			!(spans.flags[i] & (NO_BEGIN | NO_END)) &&
			(key === null || !what.key || spans[what.key][i] === key));
	}

	/** Return the track of a span, and its row. */
	placeOf(i)
	{
		const { spans } = this;
		for (const t of this.tracks) {
			if ((t.kind === "cpu" && t.key !== spans.cpu[i]) ||
			    (t.kind === "thread" && t.key !== spans.tid[i]))
				continue;
			for (const [row, lane] of t.rows.entries()) {
				if (lane instanceof Pieces)
					continue;
				for (let k = lane.after(spans.begin[i] - 1); k < lane.list.length && lane.from[k] <= spans.begin[i]; k++) {
					if (lane.list[k] === i)
						return { track: t, row };
				}
			}
		}
		return null;
	}

	/** Name the classes of the events of a loss, from the loss records of its CPU. */
	lossesIn(i)
	{
		const { spans } = this, track = this.tracks.find((t) => t.kind === "cpu" && t.key === spans.cpu[i]);
		const found = (track?.losses ?? []).filter((k) => spans.kind[k] === LOSS &&
			spans.begin[k] <= spans.end[i] && spans.end[k] >= spans.begin[i]);
		return found.map((k) => `${this.string(spans.name[k])} ${count(spans.a[k])}`).join(", ");
	}

	/** Describe the state of a WAIT in words. */
	stateName(b)
	{
		if (b === WOKEN)
			return "runnable, woken";
		const letter = this.about.states[b];
		const words = { R: "runnable", PREEMPTED: "runnable, preempted", "R+": "runnable, preempted", S: "sleeping", D: "blocked, uninterruptible", T: "stopped", t: "traced", P: "parked", I: "idle sleep", X: "dead", Z: "zombie" };
		return words[letter] ?? letter ?? "waiting";
	}

	/** Return the title of a span: what it is, in a few words. */
	title(i)
	{
		const { spans } = this, kind = spans.kind[i], name = this.string(spans.name[i]);
		if (kind === RUN || kind === ON)
			return spans.tid[i] > 0 ? `${name} ${spans.tid[i]}` : name;
		if (kind === WAIT)
			return isRunnable(spans.b[i]) || name === this.about.states[spans.b[i]] || !spans.name[i] ?
				this.stateName(spans.b[i]) : `${this.stateName(spans.b[i])}: ${name}`;
		if (kind === LOST)
			return spans.a[i] ? `${count(spans.a[i])} events lost` : "events lost, number unknown";
		if (kind === LOSS)
			return `${count(spans.a[i])} events of class ${name} lost`;
		return name;
	}

	/** Return everything about a span as pairs of name and text. */
	describe(i)
	{
		const { spans } = this, kind = spans.kind[i], rows = [], add = (name, text) => rows.push([name, text]);
		const ns = spans.end[i] - spans.begin[i], m = spans.merged.get(i);
		add("what", `${kinds[kind]?.name ?? "span"}: ${this.title(i)}`);
		add("duration", duration(ns));
		if (spans.cpu[i] !== 65535)
			add("CPU", String(spans.cpu[i]));
		if (spans.tid[i] >= 0)
			add("thread", this.threadName(spans.tid[i]) + (this.tgids.get(spans.tid[i]) ? `, process ${this.tgids.get(spans.tid[i])}` : ""));
		if (m) {
			add("merged", `${count(m.count)} spans, each shorter than ${duration(this.about.short_ns)}; together ${duration(m.busy)}, the longest ${duration(m.longest)}`);
			return rows;
		}
		if (kind === WAIT && spans.a[i] >= 0)
			add("woken by", this.threadName(spans.a[i]));
		if (kind === WAIT && isRunnable(spans.b[i])) {
			const others = this.ranOn(spans.cpu[i], spans.begin[i], spans.end[i]).slice(0, 4);
			add("ran instead", others.map((o) => `${this.threadName(o.tid)} (${duration(o.ns)})`).join(", ") || "not known");
		}
		if (kind === CALL && !(spans.flags[i] & NO_END))
			add("result", String(spans.a[i]));
		if (kind === RUN || kind === ON)
			add("left the CPU", this.stateName(spans.b[i]));
		if (kind >= IRQ && kind <= HRTIMER)
			add("number", String(spans.a[i]));
		if (kind === BLOCK)
			add("sector", String(spans.b[i]));
		if (kind === LOST) {
			const classes = this.lossesIn(i);
			add("classes", classes || "not recorded");
			add("here", "what ran and what was interrupted is not known; statistics leave it out");
		}
		if (spans.flags[i] & NO_BEGIN)
			add("begin", "not in the trace");
		if (spans.flags[i] & NO_END)
			add("end", "not in the trace");
		if (spans.flags[i] & UNSURE)
			add("uncertain", "events were lost before its end");
		return rows;
	}
}
