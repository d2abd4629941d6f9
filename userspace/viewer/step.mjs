// SPDX-License-Identifier: GPL-2.0-only
// Next and previous: the events of the same thread, object, kind or CPU, and switches.

import { canBeAbout, objectsOf } from "./objects.mjs";

export class Stepper {
	constructor(model)
	{
		this.model = model;
		this.how = document.getElementById("step");
		this.object = null;	// that is followed
		this.turn = 0;
		this.looked = 0;	// events whose fields were looked at, for tests
	}

	/** Return the object that steps follow: of several that an event has, the same as before. */
	async objectAt(i)
	{
		const objects = objectsOf(this.model, i, await this.model.events.fields(i));
		if (!objects.some((o) => o.key === this.object?.key))
			this.object = objects[0] ?? null;
		return this.object;
	}

	/** Return a test of columns, which needs no fields. */
	columns(from)
	{
		const { events, ops } = this.model;
		const switches = new Set([...ops.values()].filter((o) => o.name === "sched_switch" || o.name === "context").map((o) => o.op));
		return {
			event: () => true,
			context: (i) => events.tid[i] === events.tid[from],
			kind: (i) => events.op[i] === events.op[from],
			cpu: (i) => events.cpu[i] === events.cpu[from],
			switch: (i) => switches.has(events.op[i]),
		}[this.how.value];
	}

	/** Return the next event about the same object as @from, from @first on. */
	async ofObject(from, first, by)
	{
		const { model } = this, { events } = model, turn = this.turn, wanted = await this.objectAt(from);
		if (!wanted)
			return { i: -1, why: "this event names no object, and its thread is not known" };
		const can = canBeAbout(model, wanted);
		for (let i = first; i >= 0 && i < events.n;) {
			const chunk = events.chunkOf(i), lines = await events.lines(chunk);
			if (turn !== this.turn)
				return { i: -1, why: "" };
			for (; i >= chunk.from && i < chunk.from + chunk.nr; i += by) {
				const fields = lines[i - chunk.from] ?? "";
				if (can(i, fields) && ++this.looked && objectsOf(model, i, fields).some((o) => o.key === wanted.key))
					return { i, why: "" };
			}
		}
		return { i: -1, why: `no further event is about ${wanted.title}` };
	}

	/**
	 * Return { i, why }: the next event of the chosen kind, or -1 and a sentence.  @from
	 * is the event where the step begins, or one behind the last; it is itself the next one if
	 * it is not @chosen.
	 */
	async step(by, from, chosen)
	{
		const { events } = this.model, first = !chosen && by > 0 ? from : from + by;
		this.turn++;
		if (!events.n || (by > 0 && from >= events.n))
			return { i: -1, why: "no further event" };
		// Behind the last event, that one says which thread, object ... is meant.
		const like = Math.min(from, events.n - 1);
		if (this.how.value === "object")
			return this.ofObject(like, first, by);
		const same = this.columns(like);
		for (let i = first; i >= 0 && i < events.n; i += by) {
			if (same(i))
				return { i, why: "" };
		}
		return { i: -1, why: "no further event of this kind" };
	}
}
