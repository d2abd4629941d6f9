// SPDX-License-Identifier: GPL-2.0-only
// Questions about spans and tracks: what ran then, what is the longest, what a span is
// in words.

import { BLOCK, CALL, FILTER, HELD, HRTIMER, IRQ, LOSS, LOST, lostReasons, MERGED, NO_BEGIN, NO_END, OFF,
	OFF_ALL, OFF_RUN, OFF_WAKES, ON, OVERWRITTEN, REASON_BITS, UNREAD, RUN, TICK, UNSURE, WAIT, WOKEN, isRunnable, kinds, series } from "./kinds.mjs";
import { bothWays, count, duration, fieldsOf, moment, onClock } from "./text.mjs";
import { Pieces, Tracks } from "./tracks.mjs";

export const EXACT = 2;	// ns by which two roundings of ticks may differ

/** In place of a thread: short spans of several threads, merged into one. */
export const MIXED = -2;

const byLength = (times) => [...times].map(([tid, ns]) => ({ tid, ns })).sort((x, y) => y.ns - x.ns);

export class Model extends Tracks {
	/** Return true if short spans are merged in this page. */
	get merges()
	{
		return this.spans.merged.size > 0;
	}

	/** Return true if the page has each event from @from on and before @to. */
	hasEvents(from, to)
	{
		const { events, all_events, exact } = this.about;
		return !(all_events > events) || (!!exact && from >= exact[0] && to <= exact[1]);
	}

	/** Add up what ran on a CPU in an interval: Map of tid to ns; MIXED = of merged spans. */
	addRuns(times, cpu, from, to)
	{
		const lane = this.runs.get(cpu), { spans } = this;
		for (let k = lane ? lane.after(from) : 0; lane && k < lane.list.length && lane.from[k] < to; k++) {
			const i = lane.list[k], tid = spans.flags[i] & MERGED ? MIXED : spans.tid[i];
			const ns = Math.min(to, lane.to[k]) - Math.max(from, lane.from[k]);
			times.set(tid, (times.get(tid) ?? 0) + ns);
		}
		return times;
	}

	/** Return what ran on a CPU in an interval: [{ tid, ns }], longest first. */
	ranOn(cpu, from, to)
	{
		return byLength(this.addRuns(new Map(), cpu, from, to));
	}

	/** Return where a thread stood in run queues during a wait: [{ cpu, from, to }]. */
	queuesOf(i)
	{
		const { spans } = this, lane = this.queues.get(spans.tid[i]), found = [];
		const from = spans.begin[i], to = spans.end[i];
		for (let k = lane ? lane.after(from) : 0; lane && k < lane.list.length && lane.from[k] < to; k++)
			found.push({ cpu: spans.cpu[lane.list[k]], from: Math.max(from, lane.from[k]), to: Math.min(to, lane.to[k]) });
		return found.length ? found : [{ cpu: spans.cpu[i], from, to }];
	}

	/** Return what ran where a runnable thread stood in a queue, as ranOn() does. */
	ranInstead(i)
	{
		const times = new Map();
		for (const q of this.queuesOf(i))
			this.addRuns(times, q.cpu, q.from, q.to);
		return byLength(times);
	}

	/** Return the thread that ran longest instead, undefined = none, or not certain. */
	ranMost(i)
	{
		const all = this.ranInstead(i), mixed = all.find((o) => o.tid === MIXED)?.ns ?? 0;
		const [first, second] = all.filter((o) => o.tid !== MIXED);
		// What is merged may all be of the second one, or of one that is in no other span.
		return first && (!mixed || first.ns > mixed + (second?.ns ?? 0)) ? first.tid : undefined;
	}

	/** Say how much of what ran is merged, and how to see each span; "" = nothing is. */
	mixedNote(i, all)
	{
		const mixed = all.find((o) => o.tid === MIXED), { spans } = this;
		const at = (ns) => onClock(this.about.mono_ns, ns);
		return mixed ? `not exact: short spans of several threads are merged here, ${duration(mixed.ns)} of it; convert with html:exact=${at(spans.begin[i])}s-${at(spans.end[i])}s to see each` : "";
	}

	/** Return true if a CPU, or any one if @cpu is null, did not record a group then. */
	isOff(cpu, group, t)
	{
		return this.tracks.some((k) => k.kind === "cpu" && (cpu === null || k.key === cpu) &&
			(k.off.get(group)?.at(t) ?? -1) >= 0);
	}

	/** Return the moment of the page for CLOCK_MONOTONIC in ns. */
	timeOf(ns)
	{
		return Number(BigInt(ns) - BigInt(this.about.mono_ns));
	}

	/** Return what to show for an event of a thread, if one is given, and a name. */
	eventAt(ns, tid, name)
	{
		const t = this.timeOf(ns);
		return { event: { t, tid, name } };
	}

	/** Return the name of an event: that of a user's event is in its fields. */
	eventName(op, fields)
	{
		const name = this.opName(op);
		return name === "user_event" && fieldsOf(fields).find(([k]) => k === "id_name")?.[1] || name;
	}

	/** Return the event at a moment, of a thread and with a name if there are, -1 = none. */
	async findEvent({ t, tid, name })
	{
		const { events } = this;
		let best = -1;
		for (let i = events.after(t - EXACT); i < events.n && events.t[i] <= t + EXACT; i++) {
			if (tid !== null && tid !== undefined && events.tid[i] !== tid)
				continue;
			best = best < 0 ? i : best;
			if (name === undefined || this.eventName(events.op[i], await events.fields(i)) === name)
				return i;
		}
		return best;
	}

	/**
	 * Return when the largest value of a series of ktape stats was: { from, to, span,
	 * cpu, tid }, span being -1 if none is drawn.
	 */
	momentOf(s)
	{
		const { spans } = this, what = series[s.kind];
		if (s.max_end_ns === undefined)
			return { span: this.longestOf(s.kind, s.key) };
		const to = this.timeOf(s.max_end_ns);
		const from = s.unit === "ns" ? to - s.max : to, near = (x, y) => Math.abs(x - y) <= EXACT;
		let span = -1;
		for (let i = 0; what && span < 0 && i < spans.n; i++) {
			if (spans.kind[i] !== what.kind || spans.flags[i] & MERGED || (what.runnable && (!isRunnable(spans.b[i]) || spans.tid[i] !== s.max_tid)))
				continue;
			if (what.before ? near(spans.begin[i], to) && (spans.cpu[i] === s.max_cpu || what.kind === BLOCK) :
				near(spans.end[i], to) && (what.runnable || near(spans.begin[i], from)))
				span = i;
		}
		return { from, to, span, cpu: s.max_cpu, tid: s.max_tid };
	}

	/** Return the longest span for which @wanted holds, -1 = none.  Merged ones are none. */
	longest(wanted)
	{
		const { spans } = this;
		let best = -1;
		for (let i = 0; i < spans.n; i++) {
			if (!(spans.flags[i] & (UNSURE | MERGED)) &&
			    (best < 0 || spans.end[i] - spans.begin[i] > spans.end[best] - spans.begin[best]) && wanted(i))
				best = i;
		}
		return best;
	}

	/**
	 * Compare a span with those like it: waits for a CPU of the same thread, else spans of
	 * the same kind and name.  Return { n, rank, longer, shorter }: how many there are, its
	 * place by length, and the spans at the places beside it, -1 = none.
	 */
	amongLike(i)
	{
		const { spans } = this, kind = spans.kind[i], wait = kind === WAIT, found = { n: 0, rank: 0, longer: -1, shorter: -1 };
		const length = (k) => spans.end[k] - spans.begin[k];
		const before = (x, y) => length(x) > length(y) || (length(x) === length(y) && x < y);
		for (let k = 0; k < spans.n; k++) {
			if (spans.kind[k] !== kind || spans.flags[k] & MERGED ||
			    (wait ? spans.tid[k] !== spans.tid[i] || isRunnable(spans.b[k]) !== isRunnable(spans.b[i]) : spans.name[k] !== spans.name[i]))
				continue;
			found.n++;
			if (before(k, i)) {
				found.rank++;
				if (found.longer < 0 || before(found.longer, k))
					found.longer = k;
			} else if (k !== i && (found.shorter < 0 || before(k, found.shorter))) {
				found.shorter = k;
			}
		}
		return found;
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

	/**
	 * Return the next span with one of the names, from span @i on, or from moment @from if
	 * that is -1; by < 0: the one before; -1 = none.  Of those that begin together each has
	 * its turn, in their order.
	 */
	nextCalled(names, i, from, by)
	{
		const { spans } = this, at = i >= 0 ? spans.begin[i] : from;
		const order = (x, y) => spans.begin[x] - spans.begin[y] || x - y;
		let best = -1;
		for (let k = 0; k < spans.n; k++) {
			const far = i >= 0 ? order(k, i) : spans.begin[k] - at || by;
			if (names.has(spans.name[k]) && far * by > 0 && (best < 0 || order(k, best) * by < 0))
				best = k;
		}
		return best;
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

	/** Say how many events a loss is of. */
	lossCount(i)
	{
		const what = this.spans.b[i] >> OVERWRITTEN & 1 ? "overwritten" : "lost";

		return this.spans.a[i] ? `${count(this.spans.a[i])} events ${what}` : `events ${what}, number unknown`;
	}

	/** Say why the events of a loss are missing, "" = the trace does not tell. */
	reasonOf(i)
	{
		const told = this.spans.b[i], packets = Math.floor(told / 2 ** REASON_BITS);
		const words = lostReasons.filter((_, bit) => told >> bit & 1).map(([, text]) => text);
		if (told >> UNREAD & 1)
			words.push("overwritten unread");
		if (told >> OVERWRITTEN & 1)
			words.push("before the ring begins in the trace");
		if (packets)
			words.push(`${count(packets)} packet${packets === 1 ? "" : "s"} missing`);
		return words.join("; ");
	}

	/** Return the spans of what filters held back on a CPU in the same interval. */
	heldWith(i)
	{
		const { spans } = this, track = this.tracks.find((t) => t.kind === "cpu" && t.key === spans.cpu[i]);
		return (track?.held ?? []).filter((k) => spans.begin[k] === spans.begin[i] && spans.end[k] === spans.end[i]);
	}

	/** Name the filters that are in force on a CPU during a span. */
	filtersAt(i)
	{
		const { spans } = this, track = this.tracks.find((t) => t.kind === "cpu" && t.key === spans.cpu[i]);
		const found = (track?.filters ?? []).filter((k) => spans.begin[k] < spans.end[i] && spans.end[k] > spans.begin[i]);
		return found.map((k) => `${this.string(spans.name[k])} (${count(spans.b[k])} entries)`).join(", ") || "a filter that is not in the trace";
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

	/** Return when the thread of a WAIT was woken: what it waited for ended there. */
	wokenAt(i)
	{
		const { spans } = this;
		return spans.b[i] === WOKEN ? spans.begin[i] : spans.end[i];
	}

	/** Return the title of a span: what it is, in a few words. */
	title(i)
	{
		const { spans } = this, kind = spans.kind[i], name = this.string(spans.name[i]);
		if (kind === RUN || kind === ON)
			return spans.tid[i] > 0 && name !== `thread ${spans.tid[i]}` ? `${name} ${spans.tid[i]}` : name;
		if (kind === WAIT)
			return isRunnable(spans.b[i]) || name === this.about.states[spans.b[i]] || !spans.name[i] ?
				this.stateName(spans.b[i]) : `${this.stateName(spans.b[i])}: ${name}`;
		if (kind === TICK)
			return `${kinds[TICK].name} (${name})`;
		if (kind === LOST)
			return this.lossCount(i) + (this.reasonOf(i) && `: ${this.reasonOf(i)}`);
		if (kind === LOSS)
			return `${count(spans.a[i])} events of class ${name} lost`;
		if (kind === OFF)
			return spans.depth[i] === OFF_ALL ? "not recording" : `not enabled: ${name}`;
		if (kind === FILTER)
			return `filtered by ${this.filtersAt(i)}`;
		if (kind === HELD)
			return `${count(this.heldWith(i).reduce((n, k) => n + spans.a[k], 0))} events filtered`;
		return name;
	}

	/** Say what a thread is called at last, if that is not its name at a moment. */
	laterName(tid, t)
	{
		const last = this.names.get(tid), now = this.called.at(tid, t);
		return tid > 0 && now && last && last !== now ? `, later ${last}` : "";
	}

	/** Return pairs of name and text: what ran while a thread waited for a CPU, and where. */
	describeInstead(i)
	{
		const { spans } = this, all = this.ranInstead(i), queues = this.queuesOf(i), mixed = this.mixedNote(i, all), rows = [];
		const others = all.filter((o) => o.tid !== MIXED).slice(0, 4), least = mixed ? "at least " : "";
		const who = (o) => o.tid ? `${this.threadIn(o.tid, spans.begin[i], spans.end[i])} (${least}${duration(o.ns)})` : `nothing: the CPU was idle (${least}${duration(o.ns)})`;
		rows.push(["ran instead", others.map(who).join(",\n") || (mixed ? "not known which threads" : "not known")]);
		if (queues.length > 1)
			rows.push(["run queues", queues.map((q) => `CPU ${q.cpu} (${duration(q.to - q.from)})`).join(",\nthen ")]);
		if (mixed)
			rows.push(["merged", mixed]);
		return rows;
	}

	/** Return everything about a span as pairs of name and text. */
	describe(i)
	{
		return [...this.facts(i), ["end", moment(this.spans.end[i])]];
	}

	/** The same without its end, the answers to likely questions first. */
	facts(i)
	{
		const { spans } = this, kind = spans.kind[i], rows = [], add = (name, text) => rows.push([name, text]);
		const ns = spans.end[i] - spans.begin[i], m = spans.merged.get(i);
		if (kind === LOST)
			add("what", `lost: ${this.lossCount(i)}`);
		else
			add("what", kind === TICK ? this.title(i) : `${kinds[kind]?.name ?? "span"}: ${this.title(i)}`);
		add("duration", bothWays(ns));
		if (kind === WAIT && isRunnable(spans.b[i]) && !m)
			rows.push(...this.describeInstead(i));
		if (spans.cpu[i] !== 65535)
			add(kind === WAIT && isRunnable(spans.b[i]) ? "waits for CPU" : "CPU", String(spans.cpu[i]));
		if (spans.tid[i] >= 0)
			add("thread", this.threadAt(spans.tid[i], spans.begin[i]) + this.laterName(spans.tid[i], spans.begin[i]) + (this.tgids.get(spans.tid[i]) ? `, process ${this.tgids.get(spans.tid[i])}` : ""));
		const names = spans.tid[i] > 0 ? this.called.during(spans.tid[i], spans.begin[i], spans.end[i]) : [];
		if (names.length > 1)
			add("renamed", `meanwhile, from ${names.join(" to ")}`);
		if (m) {
			add("merged", `${count(m.count)} spans, each shorter than ${duration(this.about.short_ns)}; together ${duration(m.busy)}, the longest ${duration(m.longest)}`);
			return rows;
		}
		if (kind === WAIT && spans.a[i] >= 0)
			add("woken by", this.threadAt(spans.a[i], this.wokenAt(i)));
		if (kind === WAIT && !isRunnable(spans.b[i]) && spans.a[i] < 0 && this.isOff(null, OFF_WAKES, spans.end[i])) {
			add("woken by", "not known: wake-ups are not enabled, so it may have been runnable, too");
		}
		if (kind === OFF)
			add("here", spans.depth[i] === OFF_ALL ? "the session did not record: what happened is not known" : "these events are not in the profile: what they show is not known");
		if (kind === FILTER || kind === HELD)
			add("filters", this.filtersAt(i));
		if (kind === HELD)
			add("classes", `${this.heldWith(i).map((k) => `${this.string(spans.name[k])} ${count(spans.a[k])}`).join(", ")}; when in this interval is not recorded`);
		if ((kind === RUN || kind === ON) && this.isOff(spans.cpu[i], OFF_RUN, spans.begin[i]))
			add("certain", "no: sched_switch is not enabled, other threads may have run meanwhile");
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
			add("reason", this.reasonOf(i).replace(/missing$/, "missing: overwritten unread, or damaged") || "not recorded");
			add("classes", classes || "not recorded");
			add("here", "what ran and what was interrupted is not known; statistics leave it out");
		}
		if (spans.flags[i] & NO_BEGIN)
			add("begin", "not in the trace");
		if (spans.flags[i] & NO_END)
			add("end", "not in the trace");
		if (spans.flags[i] & UNSURE)
			add("uncertain", "events were lost, or were not enabled, before its end");
		return rows;
	}
}
