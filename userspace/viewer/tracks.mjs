// SPDX-License-Identifier: GPL-2.0-only
// From columns to tracks: which spans are on which row of which track.

import { Called } from "./called.mjs";
import { BLOCK, CALL, FILTER, HELD, LOSS, LOST, MARK, OFF, OFF_ALL, OFF_CALLS, OFF_IRQS,
	OFF_RUN, ON, QUEUE, RUN, STATE, WAIT, WORK } from "./kinds.mjs";

const ROWS_MAX = 12;
const TRACER = "tracer: ns in each ms of CPU ";	// as in lib/format/html/other.c
const groups = { running: OFF_RUN, "system calls": OFF_CALLS, interrupts: OFF_IRQS };

function threadText(tid, name)
{
	if (tid === 0)
		return "idle";
	return tid < 0 ? "unknown" : name ? `${name} ${tid}` : `thread ${tid}`;
}

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

	/** Return the first entry from @k on that ends after a time, which is likely near. */
	next(t, k)
	{
		const n = this.list.length;
		let step = 1;
		while (k + step < n && this.to[k + step] <= t)
			step *= 2;
		let low = k + (step >> 1), high = Math.min(k + step, n);
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
export class Pieces extends Lane {
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

export class Tracks {
	constructor(data)
	{
		this.data = data;
		this.spans = data.spans;
		this.events = data.events;
		this.about = data.about ?? { states: [], cpus: [], table: [], last: 1, origin_ns: "0", mono_ns: "0" };
		this.ops = new Map(this.about.table.map(([op, name, kind, help, used, enabled, objects]) =>
			[op, { op, name, kind, help, used: !!used, enabled: !!enabled, objects: objects ?? {} }]));
		this.runs = new Map();		// CPU -> Lane of what ran
		this.queues = new Map();	// tid -> Lane of run queues, if it was in several
		this.called = new Called(data);
		this.names = new Map();		// tid -> last name
		this.tgids = new Map();
		this.runTime = new Map();
		for (const t of data.stats?.threads ?? []) {
			this.names.set(t.tid, t.name);
			this.tgids.set(t.tid, t.tgid);
			this.runTime.set(t.tid, t.run_ns);
		}
		for (const tid of data.called.keys()) {
			const name = this.called.all(tid).at(-1);
			if (name !== undefined && !this.names.get(tid))
				this.names.set(tid, name);
		}
		this.findEnds();
		this.tracks = this.makeTracks();
		this.called.other = this.names;
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

	/** Say which thread that is, by its last name. */
	threadName(tid)
	{
		return threadText(tid, this.names.get(tid));
	}

	/** The same, by its name at a moment. */
	threadAt(tid, t)
	{
		return threadText(tid, this.called.at(tid, t));
	}

	/** The same, by its names in an interval. */
	threadIn(tid, from, to)
	{
		return threadText(tid, this.called.during(tid, from, to).join(", then "));
	}

	/** Say which thread an event is of, by its name at that event. */
	threadOf(i)
	{
		return threadText(this.events.tid[i], this.called.atEvent(i));
	}

	/** Return true if a thread has a track, which has its spans and those of no other. */
	hasTrack(tid)
	{
		return this.withTrack.has(tid);
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
			} else if (kind === OFF || kind === FILTER || kind === HELD) {
				const t = get(cpus, cpu, () => this.newTrack("cpu", cpu, `CPU ${cpu}`));
				if (kind === OFF)
					get(t.off, spans.depth[i], () => new Lane(spans)).add(i);
				else
					(kind === FILTER ? t.filters : t.held).push(i);
			} else if (kind === QUEUE) {
				get(this.queues, tid, () => new Lane(spans)).add(i);
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
		for (const lane of this.queues.values())
			lane.seal();
		this.placeLoose(devices);
		this.placeCalls(cpus, threads);
		this.withTrack = new Set([...threads.keys()]);
		const byTime = [...threads.values()].sort((x, y) =>
			(this.runTime.get(y.key) ?? 0) - (this.runTime.get(x.key) ?? 0) || x.key - y.key);
		for (const t of byTime) {
			t.label = this.threadName(t.key);
			t.called = this.called.all(t.key).filter((name) => name !== this.names.get(t.key));
		}
		const values = this.valueTracks(), flags = this.flagTrack();
		const all = [
			...(flags.flags.length ? [flags] : []),
			...[...cpus.values()].sort((x, y) => x.key - y.key),
			...values.filter((t) => t.tracer), ...marks.values(), ...values.filter((t) => !t.tracer), ...objects.values(), ...devices.values(),
			...byTime,
		];
		for (const t of all)
			this.sealTrack(t);
		// Threads: when nothing was recorded, and when not all of their switches.
		this.pauses = this.together([...cpus.values()], OFF_ALL, cpus.size);
		this.blind = this.together([...cpus.values()], OFF_RUN, 1);
		return all;
	}

	newTrack(kind, key, label)
	{
		return { id: `${kind}:${key}`, kind, key, label, rows: [], losses: [], loose: [], names: [],
			off: new Map(), filters: [], held: [], under: [], called: [] };
	}

	/** The row of a CPU that says what filters hold back, or that there are some. */
	filterRow(t)
	{
		const lane = new Lane(this.spans), { begin } = this.spans;
		const list = (t.held.length ? t.held : t.filters).sort((x, y) => begin[x] - begin[y]);
		// Of those of several classes, which begin together, the first one stands for all.
		for (const [k, i] of list.entries()) {
			if (!k || begin[i] !== begin[list[k - 1]])
				lane.add(i);
		}
		return lane.seal();
	}

	/** Return the intervals in which at least @least CPUs did not record a group. */
	together(cpus, group, least)
	{
		const { begin, end } = this.spans, times = [];
		for (const t of cpus) {
			for (const i of t.off.get(group)?.list ?? [])
				times.push([begin[i], 1], [end[i], -1]);
		}
		const found = [];
		let depth = 0;
		for (const [at, by] of times.sort((x, y) => x[0] - y[0] || x[1] - y[1])) {
			depth += by;
			if (by > 0 && depth === least)
				found.push({ from: at, to: at });
			else if (by < 0 && depth === least - 1 && found.length)
				found.at(-1).to = at;
		}
		return found;
	}

	sealTrack(t)
	{
		// Rows without spans take no room; what they are is remembered for labels.
		const names = t.kind === "cpu" ? ["running", "system calls"] :
			t.kind === "thread" ? ["state", "system calls", "work"] : [];
		const rows = [], kept = [];
		for (const lane of t.off.values())
			lane.seal();
		if (t.off.has(OFF_IRQS) && t.rows.length === 2)
			t.rows.push(new Lane(this.spans));
		for (const [i, row] of t.rows.entries()) {
			if (!(row instanceof Pieces))
				row.seal();
			const name = names[i] ?? (t.kind === "cpu" ? "interrupts" : "marks");
			const off = t.off.get(groups[name]), first = !kept.includes(name);
			if (!row.list.length && !(t.kind === "cpu" && i === 0) && !(off && first))
				continue;
			if (off && first)
				t.under[rows.length] = off;
			rows.push(row);
			kept.push(name);
		}
		if (t.held.length || t.filters.length) {
			rows.push(this.filterRow(t));
			kept.push("filtered");
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

	/** Plots.  The tracer's cost is one plot with a line for each CPU. */
	valueTracks()
	{
		const tracks = new Map();
		for (const v of this.data.values.values()) {
			const name = this.string(v.name) + (v.tid > 0 ? ` (${this.threadName(v.tid)})` : "");
			const tracer = name.startsWith(TRACER), label = tracer ? "tracer's time" : name;
			if (!tracks.has(label))
				tracks.set(label, { ...this.newTrack("value", label, label), tracer, lines: [], low: 0, high: 1 });
			const t = tracks.get(label);
			t.lines.push({ name: tracer ? `CPU ${name.slice(TRACER.length)}` : name,
				t: Float64Array.from(v.t), v: Float64Array.from(v.v) });
			t.low = v.v.reduce((x, y) => Math.min(x, y), t.low);
			t.high = v.v.reduce((x, y) => Math.max(x, y), t.high);
		}
		return [...tracks.values()];
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
}
