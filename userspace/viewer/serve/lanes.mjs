// SPDX-License-Identifier: GPL-2.0-only
// Intervals on a canvas: a lane for each CPU, the rate of events, the wait for a CPU,
// and losses.  Time goes from left to right, as in the trace.

const LABELS = 96, RULER = 22, GAP = 4;	// pixels
const CPU = 34, SMALL = 14, MANY = 16;	// heights; many CPUs have small lanes

const STEPS = [1e10, 3e10, 6e10, 3e11];	// ns that are shown of a short trace

/* Shares of a CPU's time, from the bottom. */
export const SHARES = [["run", "run_ns"], ["irq", "irq_ns"], ["softirq", "softirq_ns"], ["unknown", "unknown_ns"]];

export function duration(ns)
{
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
		if (ns >= size)
			return `${(ns / size).toFixed(ns / size >= 100 ? 0 : ns / size >= 10 ? 1 : 2)} ${unit}`;
	}
	return `${ns} ns`;
}

const rate = (n) => n >= 1e6 ? `${(n / 1e6).toFixed(1)} M/s` : n >= 1e3 ? `${(n / 1e3).toFixed(1)} k/s` : `${n.toFixed(0)} /s`;
const perSecond = (v) => v.events * 1e9 / (v.span_ns || 1);
const waited = (v) => v.series.find((s) => s.kind === "run_queue" && s.key === null && s.count)?.p99 ?? 0;

/* Values that lanes of curves have, and how the largest one is written. */
const CURVES = [["events", perSecond, rate], ["waited (p99)", waited, duration]];

/** Return a step of the ruler, in ns, for about @nr steps of an interval. */
function step(ns, nr)
{
	let size = 1e8;
	while (ns / size > nr)
		size *= [2, 2.5, 2][Math.round(Math.log10(size) * 3) % 3];
	return size;
}

export class Lanes {
	constructor(canvas)
	{
		this.canvas = canvas;
		this.views = [];
		this.zero = 0n;		// when the first interval began, also if it is not kept
		this.seen = new Set();	// CPUs, also those of intervals that are not kept
		this.span = 60e9;	// ns that are shown
		this.chosen = null;	// interval
		this.drawings = 0;	// for tests
	}

	/** Add an interval, and keep the last @most.  "from" is its begin after the first one's. */
	add(v, most)
	{
		if (!this.views.length)
			this.zero = BigInt(v.from_ns);
		v = { ...v, from: Number(BigInt(v.from_ns) - this.zero) };
		for (const { cpu } of v.cpus)
			this.seen.add(cpu);
		this.views.push(v);
		if (this.views.length > most)
			this.views.splice(0, this.views.length - most);
	}

	colour(name)
	{
		return getComputedStyle(this.canvas).getPropertyValue(`--${name}`);
	}

	/** The CPUs of all intervals: one that was silent at first has a lane later. */
	cpus()
	{
		return [...this.seen].sort((a, b) => a - b);
	}

	get to()
	{
		const last = this.views.at(-1);
		return last ? last.from + last.span_ns : 0;
	}

	/** What the width stands for: less than @span while there is not that much. */
	get length()
	{
		const all = this.to - (this.views[0]?.from ?? 0);
		return STEPS.find((ns) => ns >= all && ns < this.span) ?? this.span;
	}

	get from()
	{
		return Math.max(this.to - this.length, this.views[0]?.from ?? 0);
	}

	x(ns)
	{
		const to = Math.max(this.to, this.from + this.length);
		return LABELS + (ns - this.from) / (to - this.from) * (this.width - LABELS);
	}

	/** Return the interval that is drawn at a place of the canvas, or null. */
	at(x)
	{
		return this.views.find((v) => this.x(v.from) <= x && x < this.x(v.from + v.span_ns) && x >= LABELS) ?? null;
	}

	draw()
	{
		const cpus = this.cpus(), height = cpus.length > MANY ? SMALL : CPU, scale = devicePixelRatio;
		const whole = cpus.length * (height + GAP) + CURVES.length * (CPU + GAP) + SMALL + GAP + RULER;
		this.width = this.canvas.clientWidth;
		this.canvas.height = Math.round(whole * scale);
		this.canvas.width = Math.round(this.width * scale);
		this.canvas.style.height = `${whole}px`;
		this.shown = this.views.filter((v) => v.from + v.span_ns > this.from);
		const g = this.g = this.canvas.getContext("2d");
		g.scale(scale, scale);
		g.font = "12px system-ui, sans-serif";
		g.textBaseline = "middle";
		this.drawings++;
		this.cpuLanes(cpus, height);
		let y = GAP + cpus.length * (height + GAP);
		for (const curve of CURVES) {
			this.curve(curve, y);
			y += CPU + GAP;
		}
		this.losses(y);
		this.ruler(y + SMALL + GAP);
		this.mark(y + SMALL);
	}

	label(text, y, height)
	{
		this.g.fillStyle = this.colour("ink");
		this.g.fillText(text, 6, y + height / 2, LABELS - 10);
		this.g.fillStyle = this.colour("panel");
		this.g.fillRect(LABELS, y, this.width - LABELS, height);
	}

	/** Draw a box of an interval.  Boxes touch, so that equal ones are one. */
	box(v, y, height, colour)
	{
		const x = Math.max(this.x(v.from), LABELS);
		this.g.fillStyle = colour;
		this.g.fillRect(x, y, Math.max(this.x(v.from + v.span_ns) - x, 1), height);
	}

	cpuLanes(cpus, height)
	{
		const colours = SHARES.map(([name]) => this.colour(name)), tops = new Map();
		for (const [i, cpu] of cpus.entries()) {
			tops.set(cpu, GAP + i * (height + GAP));
			this.label(`CPU ${cpu}`, tops.get(cpu), height);
		}
		for (const v of this.shown) {
			for (const c of v.cpus) {
				let bottom = tops.get(c.cpu) + height;
				for (const [i, [, member]] of SHARES.entries()) {
					const part = v.span_ns ? Math.min(c[member] / v.span_ns, 1) * height : 0;
					bottom -= part;
					if (part > 0)
						this.box(v, bottom, part, colours[i]);
				}
			}
		}
	}

	curve([name, value, write], y)
	{
		const most = Math.max(0, ...this.shown.map(value));
		this.label(name, y, CPU);
		for (const v of this.shown) {
			const part = most ? value(v) / most * CPU : 0;
			if (part > 0)
				this.box(v, y + CPU - part, part, this.colour("curve"));
		}
		this.g.fillStyle = this.colour("ink");
		this.g.textAlign = "right";
		this.g.fillText(most ? `top: ${write(most)}` : "none", this.width - 4, y + 8);
		this.g.textAlign = "left";
	}

	losses(y)
	{
		this.label("lost", y, SMALL);
		for (const v of this.shown) {
			if (v.lost || v.uncounted)
				this.box(v, y, SMALL, this.colour("bad"));
		}
	}

	ruler(y)
	{
		const g = this.g, size = step(this.length, Math.max((this.width - LABELS) / 90, 1));
		g.fillStyle = this.colour("faint");
		for (let t = Math.ceil(this.from / size) * size; t <= this.from + this.length; t += size) {
			const x = this.x(t);
			g.fillRect(x, y, 1, 4);
			if (x < this.width - 50)
				g.fillText(`${Math.round(t / 1e8) / 10} s`, x + 3, y + 11);
		}
	}

	mark(bottom)
	{
		if (!this.chosen)
			return;
		const x = Math.max(this.x(this.chosen.from), LABELS);
		this.g.strokeStyle = this.colour("ink");
		this.g.lineWidth = 1.5;
		this.g.strokeRect(x, 1, Math.max(this.x(this.chosen.from + this.chosen.span_ns) - x, 2), bottom);
	}
}
