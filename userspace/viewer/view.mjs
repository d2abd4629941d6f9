// SPDX-License-Identifier: GPL-2.0-only
// The visible interval.  Moments are whole nanoseconds since the first event, which
// doubles hold exactly for 104 days; the absolute origin is a BigInt (text.mjs).

import { onClock } from "./text.mjs";

const LEAST = 1;	// ns that the window can show at least

export class View {
	constructor(first, last)
	{
		this.first = first;
		this.last = Math.max(last, first + LEAST);
		this.from = this.first;
		this.to = this.last;
		this.listeners = [];
	}

	onChange(listener)
	{
		this.listeners.push(listener);
	}

	get length()
	{
		return this.to - this.from;
	}

	/** Show an interval, limited to the trace and a little around it. */
	set(from, to)
	{
		const margin = (this.last - this.first) * 0.02 + LEAST;
		let length = Math.max(to - from, LEAST);
		length = Math.min(length, this.last - this.first + 2 * margin);
		from = Math.max(from, this.first - margin);
		from = Math.min(from, this.last + margin - length);
		if (from === this.from && from + length === this.to)
			return;
		this.from = from;
		this.to = from + length;
		for (const listener of this.listeners)
			listener();
	}

	/** Zoom by a factor, with the moment @at staying where it is. */
	zoom(factor, at = (this.from + this.to) / 2)
	{
		const length = Math.max(this.length * factor, LEAST);
		const share = (at - this.from) / this.length;
		const from = at - length * share;
		this.set(from, from + length);
	}

	/** Move by a share of what is visible. */
	pan(share)
	{
		const by = this.length * share;
		this.set(this.from + by, this.to + by);
	}

	fit()
	{
		const margin = (this.last - this.first) * 0.005;
		this.set(this.first - margin, this.last + margin);
	}

	/** Show an interval with room around it. */
	show(from, to)
	{
		const room = Math.max((to - from) * 0.6, 20);
		this.set(from - room, to + room);
	}

	x(t, width)
	{
		return (t - this.from) / this.length * width;
	}

	t(x, width)
	{
		return this.from + x / width * this.length;
	}
}

/** Name a tick: whole seconds when far out, and as many decimals as differ when close. */
export function tickText(t, step)
{
	const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step)))), text = onClock("0", t);
	return `${text.slice(0, text.length - (digits ? 9 - digits : 10))} s`;
}

/** Return the distance of ruler ticks: 1, 2 or 5 times a power of ten, of whole ns. */
export function tickStep(length, most)
{
	let step = Math.pow(10, Math.floor(Math.log10(Math.max(length / most, 1))));
	for (const times of [1, 2, 5, 10]) {
		if (length / (step * times) <= most) {
			step *= times;
			break;
		}
	}
	return step;
}
