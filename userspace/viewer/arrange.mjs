// SPDX-License-Identifier: GPL-2.0-only
// Which tracks are shown, and in which order: pinned ones first, hidden ones not at all.
// Each change can be undone, and an arrangement is a text of an address.

const UNDO = 100;	// arrangements that are remembered

/** Return numbers as a text in which those that follow each other are "3-7". */
export function rangesText(numbers)
{
	const parts = [];
	for (const n of numbers) {
		const last = parts.at(-1);
		if (last && n === last[1] + 1)
			last[1] = n;
		else
			parts.push([n, n]);
	}
	return parts.map(([from, to]) => from === to ? from : `${from}-${to}`).join(",");
}

/** Return the numbers of such a text that are below @n, each once. */
export function parseRanges(text, n)
{
	const numbers = new Set();
	for (const part of text.split(",")) {
		const m = /^(\d+)(?:-(\d+))?$/.exec(part);
		for (let i = m ? Number(m[1]) : n; i <= Number(m?.[2] ?? m?.[1]) && i < n; i++)
			numbers.add(i);
	}
	return [...numbers];
}

export class Arrangement {
	constructor(tracks)
	{
		this.all = tracks.map((t) => t.id);
		this.byId = new Map(tracks.map((t) => [t.id, t]));
		this.pinned = new Set();
		this.hidden = new Set();
		this.order = [...this.all];
		this.past = [];
	}

	/** Remember how it is, before a change that undo() takes back. */
	remember()
	{
		this.past.push({ pinned: new Set(this.pinned), hidden: new Set(this.hidden), order: [...this.order] });
		this.past.splice(0, this.past.length - UNDO);
	}

	/** Return false if nothing is left to undo. */
	undo()
	{
		const last = this.past.pop();
		Object.assign(this, last);
		return Boolean(last);
	}

	/** Return the tracks in their order.  Pinned ones need not match. */
	shown(matches)
	{
		const shown = this.order.map((id) => this.byId.get(id))
			.filter((t) => !this.hidden.has(t.id) && (matches(t) || this.pinned.has(t.id)));
		return [...shown.filter((t) => this.pinned.has(t.id)), ...shown.filter((t) => !this.pinned.has(t.id))];
	}

	toggle(set, id)
	{
		this.remember();
		if (!set.delete(id))
			set.add(id);
	}

	/** Put a track where another one is. */
	put(id, where)
	{
		const from = this.order.indexOf(id), to = this.order.indexOf(where);
		this.order.splice(from, 1);
		this.order.splice(to, 0, id);
	}

	/** Put a track directly below another one. */
	putBelow(id, above)
	{
		this.order.splice(this.order.indexOf(id), 1);
		this.order.splice(this.order.indexOf(above) + 1, 0, id);
	}

	showAll()
	{
		this.remember();
		this.hidden.clear();
	}

	/** Return the parts of an address that say what differs from the first arrangement. */
	parts()
	{
		const number = new Map(this.all.map((id, i) => [id, i])), numbers = (ids) => [...ids].map((id) => number.get(id));
		const moved = this.order.some((id, i) => id !== this.all[i]);
		return [["hide", numbers(this.hidden).sort((x, y) => x - y)], ["pin", numbers(this.pinned).sort((x, y) => x - y)],
			["order", moved ? numbers(this.order) : []]].filter(([, list]) => list.length).map(([name, list]) => [name, rangesText(list)]);
	}

	/** Take an arrangement from an address: @get returns the text of a part, or null. */
	take(get)
	{
		const ids = (name) => parseRanges(get(name) ?? "", this.all.length).map((i) => this.all[i]);
		const order = ids("order"), placed = new Set(order);
		this.hidden = new Set(ids("hide"));
		this.pinned = new Set(ids("pin"));
		this.order = [...order, ...this.all.filter((id) => !placed.has(id))];
	}
}
