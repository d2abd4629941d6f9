// SPDX-License-Identifier: GPL-2.0-only
// What threads are called: at an event, at a moment, in an interval, at last.

/** Return the last entry whose @key is at most @value, or the first one. */
function lastUntil(list, key, value)
{
	let low = 0, high = list.length - 1;
	while (low < high) {
		const middle = low + high + 1 >> 1;
		if (list[middle][key] <= value)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

export class Called {
	/** @called: tid -> [{ event, t, name }], @strings: texts of the names. */
	constructor({ called, strings, events })
	{
		this.called = called;
		this.strings = strings;
		this.events = events;
		this.other = new Map();	// tid -> name, of threads that are not in @called
	}

	text(entry)
	{
		return entry.name < 0 ? null : this.strings[entry.name] ?? null;
	}

	/** Return the name of a thread at a moment, null = none. */
	at(tid, t)
	{
		const list = this.called.get(tid);
		return list ? this.text(list[lastUntil(list, "t", t)]) : this.other.get(tid) ?? null;
	}

	/** Return the name of an event's thread, null = none. */
	atEvent(i)
	{
		const tid = this.events.tid[i], list = this.called.get(tid);
		return list ? this.text(list[lastUntil(list, "event", i)]) : this.other.get(tid) ?? null;
	}

	/** Return the names that a thread has in an interval, in their order. */
	during(tid, from, to)
	{
		const list = this.called.get(tid), names = new Set();
		if (!list)
			return this.other.has(tid) ? [this.other.get(tid)] : [];
		for (let k = lastUntil(list, "t", from); k < list.length && (!names.size || list[k].t < to); k++)
			names.add(this.text(list[k]) ?? "");
		names.delete("");
		return [...names];
	}

	/** Return all names of a thread. */
	all(tid)
	{
		return this.during(tid, -Infinity, Infinity);
	}
}
