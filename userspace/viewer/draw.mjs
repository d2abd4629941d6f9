// SPDX-License-Identifier: GPL-2.0-only
// Draw tracks on a canvas.  Of spans narrower than a pixel one is drawn for each
// pixel, and the search for the next one skips the others, so the cost depends on
// the width of the window and not on the number of spans.  The narrow spans of a row
// are pixels of an image that is drawn at once: thousands of rectangles are too slow.

import { LOSS, LOST, MERGED, OFF_ALL, ON, RUN, WAIT, isRunnable, kinds } from "./kinds.mjs";
import { duration } from "./text.mjs";
import { tickStep, tickText } from "./view.mjs";

export const ROW = 18, GAP = 5, PLOT = 44;
const TEXT_LEAST = 26;	// pixels of a span that gets its name
const TEXT_LONG = 150;	// pixels of a wait that also says what ran instead
const PALE = 140;	// of 255: merged spans
const QUIET = new Set(["idle", "blocked"]);
const THREADS = 8;	// colours --t0 ... of running threads

/** Return the height of a track in pixels. */
export function trackHeight(track)
{
	if (track.kind === "value")
		return PLOT + GAP;
	return Math.max(track.rows.length, 1) * ROW + GAP;
}

/** Return the first of sorted times that is not before @from. */
export function firstFrom(times, from)
{
	let low = 0, high = times.length;
	while (low < high) {
		const middle = low + high >> 1;
		if (times[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/** Return a value of a counter, the digits of large ones cut. */
function plain(v)
{
	return Math.abs(v) < 1e12 ? String(v) : v.toPrecision(4);
}

/** The colours of style.css, which depend on the system's light or dark setting. */
export function readColours()
{
	const style = getComputedStyle(document.documentElement), colours = {};
	for (const name of ["ink", "faint", "paper", "line", "band", "accent", "run", "idle", "irq",
		"softirq", "tick", "timer", "lost", "ready", "blocked", "deep", "call", "work", "mark",
		"block", "state", "exception", "trigger", "off", "filtered", "span-ink"])
		colours[name] = style.getPropertyValue(`--${name}`).trim();
	for (let i = 0; i < THREADS; i++)
		colours[`t${i}`] = style.getPropertyValue(`--t${i}`).trim();
	return colours;
}

/** Return the name of a span's colour. */
export function colourOf(spans, i)
{
	const kind = spans.kind[i];
	if (kind === RUN)
		return spans.tid[i] > 0 ? `t${spans.tid[i] * 7 % THREADS}` : "idle";
	if (kind === ON)
		return `t${spans.tid[i] * 7 % THREADS}`;
	if (kind === WAIT)
		return isRunnable(spans.b[i]) ? "ready" : spans.b[i] === 2 ? "deep" : "blocked";
	return kinds[kind]?.colour ?? "state";
}

/** The pattern over intervals in which events were lost. */
function hatch(g, colours)
{
	const tile = document.createElement("canvas");
	tile.width = tile.height = 8;
	const p = tile.getContext("2d");
	p.strokeStyle = colours.lost;
	p.lineWidth = 2;
	p.beginPath();
	for (const d of [-8, 0, 8]) {
		p.moveTo(d, 8);
		p.lineTo(d + 8, 0);
	}
	p.stroke();
	return g.createPattern(tile, "repeat");
}

/** The pattern over what was not recorded: dots, unlike the lines of a loss. */
function dots(g, colours)
{
	const tile = document.createElement("canvas");
	tile.width = tile.height = 6;
	const p = tile.getContext("2d");
	p.fillStyle = colours.off;
	p.fillRect(0, 0, 2, 2);
	p.fillRect(3, 3, 2, 2);
	return g.createPattern(tile, "repeat");
}

export class Painter {
	constructor(model, view)
	{
		this.model = model;
		this.view = view;
		this.colours = readColours();
		this.selected = -1;
		this.drawn = 0;	// spans, since a test has set it to 0
		this.texts = new Map();	// of long waits
		this.pixels = new Map();	// colours as pixels
	}

	newColours()
	{
		this.colours = readColours();
		this.pattern = this.dots = null;
		this.pixels.clear();
	}

	/** Return a colour as a pixel of an image. */
	pixel(name, merged)
	{
		const key = merged ? `${name} ` : name;
		let value = this.pixels.get(key);
		if (value === undefined) {
			const [r, g, b] = (this.colours[name] || this.colours.state).match(/\w\w/g).map((h) => parseInt(h, 16));
			value = (merged ? PALE : 255) << 24 | b << 16 | g << 8 | r;
			this.pixels.set(key, value);
		}
		return value;
	}

	/** Return the image for the narrow spans of a row: one pixel high, empty. */
	newStrip(width)
	{
		if (this.strip?.canvas.width !== width) {
			const canvas = document.createElement("canvas");
			canvas.width = width;
			canvas.height = 1;
			const g = canvas.getContext("2d"), image = g.createImageData(width, 1);
			this.strip = { canvas, g, image, pixels: new Uint32Array(image.data.buffer), any: false };
		}
		if (this.strip.any)
			this.strip.pixels.fill(0);
		this.strip.any = false;
		return this.strip;
	}

	/** Draw one row of spans at height @y. */
	lane(g, lane, y, width, height = ROW)
	{
		const { view, model: { spans } } = this;
		const n = lane.list.length, scale = width / view.length, strip = this.newStrip(Math.ceil(width)), wide = [];
		let k = lane.after(view.from), drawn = 0;
		while (k < n && lane.from[k] < view.to) {
			const i = lane.list[k];
			const x = (lane.from[k] - view.from) * scale, x2 = (lane.to[k] - view.from) * scale;
			drawn++;
			if (x2 - x >= 1 || i === this.selected) {
				wide.push(k++);
				continue;
			}
			const at = Math.floor(Math.max(x, 0));
			strip.pixels[at] = this.pixel(colourOf(spans, i), spans.flags[i] & MERGED);
			strip.any = true;
			// The next span that reaches beyond this pixel.
			k = Math.max(lane.next(view.from + (at + 1) / scale, k), k + 1);
		}
		this.drawn += drawn;
		if (strip.any) {
			strip.g.putImageData(strip.image, 0, 0);
			g.imageSmoothingEnabled = false;
			g.drawImage(strip.canvas, 0, y + 1, strip.canvas.width, height - 2);
		}
		for (const at of wide)
			this.wide(g, lane, at, y, width, height, scale);
	}

	/** Draw a span that is at least a pixel wide. */
	wide(g, lane, k, y, width, height, scale)
	{
		const { view, colours, model: { spans } } = this, i = lane.list[k];
		const from = (lane.from[k] - view.from) * scale, to = (lane.to[k] - view.from) * scale;
		const x = Math.max(from, -2), x2 = Math.min(to, width + 2);
		g.fillStyle = colours[colourOf(spans, i)] || colours.state;
		g.globalAlpha = spans.flags[i] & MERGED ? PALE / 255 : 1;
		g.fillRect(x, y + 1, Math.max(x2 - x, 1), height - 2);
		g.globalAlpha = 1;
		if (i === this.selected)
			this.frame(g, x, y, x2 - x, height);
		if (to - from >= TEXT_LEAST)
			this.name(g, i, x, x2, y, height);
	}

	frame(g, x, y, w, h)
	{
		g.strokeStyle = this.colours.ink;
		g.lineWidth = 2;
		g.strokeRect(x, y + 1, Math.max(w, 2), h - 2);
	}

	name(g, i, x, x2, y, height)
	{
		const from = Math.max(x, 0) + 3, room = Math.min(x2, g.canvas.clientWidth) - from - 2;
		if (room < TEXT_LEAST - 8)
			return;
		g.save();
		g.beginPath();
		g.rect(from, y, room, height);
		g.clip();
		// Quiet spans have a colour near the paper's, loud ones are light in both settings.
		g.fillStyle = this.colours[QUIET.has(colourOf(this.model.spans, i)) ? "ink" : "span-ink"];
		g.fillText(this.text(i, room), from, y + height / 2 + 0.5);
		g.restore();
	}

	/** Return the text on a span: a long wait for a CPU also says what ran there. */
	text(i, room)
	{
		const { model } = this, { spans } = model;
		if (room < TEXT_LONG || spans.kind[i] !== WAIT || !isRunnable(spans.b[i]) || spans.flags[i] & MERGED)
			return model.title(i);
		if (!this.texts.has(i)) {
			const first = model.ranMost(i);
			this.texts.set(i, `${model.title(i)}${first !== undefined ? this.instead(i, first) : ""}`);
		}
		return this.texts.get(i);
	}

	/** Say what ran longest instead: on which CPU only if the thread waited for no other one. */
	instead(i, tid)
	{
		const { model } = this, { spans } = model, who = model.threadIn(tid, spans.begin[i], spans.end[i]);
		if (model.queuesOf(i).length > 1)
			return `; ${tid ? `${who} ran` : "idle"} most of it`;
		return `; CPU ${spans.cpu[i]} ${tid ? `ran ${who}` : "was idle"}`;
	}

	/** Draw dots over an interval in which something was not recorded. */
	unknown(g, from, to, y, height, width, text)
	{
		const { view, colours } = this;
		const x = Math.max(view.x(from, width), -4), x2 = Math.min(view.x(to, width), width + 4);
		if (x2 < 0 || x > width)
			return;
		this.dots ??= dots(g, colours);
		g.fillStyle = this.dots;
		g.fillRect(x, y, Math.max(x2 - x, 1), height);
		this.note(g, text, Math.max(x, 0), x2, y);
	}

	/** Write a text on a ground of its own, if there is room for it. */
	note(g, text, x, x2, y)
	{
		const length = g.measureText(text).width;
		if (!text || x2 - x < length + 14)
			return false;
		g.fillStyle = this.colours.paper;
		g.fillRect(x + 4, y + 3, length + 6, ROW - 6);
		g.fillStyle = this.colours.ink;
		g.fillText(text, x + 7, y + ROW / 2);
		return true;
	}

	/** What is not enabled: over the spans, which are not certain there. */
	notRecorded(g, track, y, height, width)
	{
		const { model, view } = this, { spans } = model;
		for (const [row, lane] of track.under.entries()) {
			for (let k = lane ? lane.after(view.from) : 0; lane && k < lane.list.length && lane.from[k] < view.to; k++) {
				const all = spans.b[lane.list[k]], top = y + row * ROW;
				this.unknown(g, lane.from[k], lane.to[k], all ? top + 1 : top + ROW - 3, all ? ROW - 2 : 2, width,
					all ? model.title(lane.list[k]) : "");
			}
		}
		const pauses = track.off.get(OFF_ALL);
		if (pauses) {
			for (let k = pauses.after(view.from); k < pauses.list.length && pauses.from[k] < view.to; k++)
				this.unknown(g, pauses.from[k], pauses.to[k], y, height, width, "not recording");
		} else if (track.kind === "thread") {
			for (const [times, tall, text] of [[model.pauses, height, "not recording"], [model.blind, ROW, ""]]) {
				for (const p of times) {
					if (p.from < view.to && p.to > view.from)
						this.unknown(g, p.from, p.to, y, tall, width, text);
				}
			}
		}
	}

	losses(g, track, y, height, width)
	{
		const { view, model } = this, { spans } = model;
		this.pattern ??= hatch(g, this.colours);
		for (const i of track.losses) {
			if (spans.end[i] < view.from || spans.begin[i] > view.to || spans.kind[i] === LOSS)
				continue;
			const x = Math.max(view.x(spans.begin[i], width), -4);
			const w = Math.max(Math.min(view.x(spans.end[i], width), width + 4) - x, 4);
			g.fillStyle = this.pattern;
			g.fillRect(x, y, w, height);
			g.strokeStyle = this.colours.lost;
			g.lineWidth = i === this.selected ? 3 : 1;
			g.strokeRect(x, y + 0.5, w, height - 1);
			if (spans.kind[i] === LOST)
				this.note(g, model.title(i), Math.max(x, 0), x + w, y) || this.note(g, model.lossCount(i), Math.max(x, 0), x + w, y);
		}
	}

	plot(g, track, y, width)
	{
		const { colours } = this;
		for (const [k, line] of track.lines.entries())
			this.line(g, track, line, y, width, track.lines.length > 1 ? colours[`t${k % THREADS}`] : colours.accent);
		g.fillStyle = colours.faint;
		g.fillText(track.tracer ? `at most ${duration(track.high)} in each ms` : plain(track.high), 4, y + 9);
	}

	/** Draw the steps of a counter.  Of the steps within half a pixel the range is drawn. */
	line(g, track, { t, v }, y, width, colour)
	{
		const { view } = this, high = PLOT - 6;
		const at = (value) => y + 3 + high - (value - track.low) / (track.high - track.low) * high;
		const first = Math.max(firstFrom(t, view.from) - 1, 0);
		g.beginPath();
		g.strokeStyle = colour;
		g.lineWidth = 1.5;
		// The pen is at @last; from there on the values were between @low and @top.
		let last = 0, low = 0, top = 0, k = first;
		const close = (value) => {
			if (low !== top) {
				g.lineTo(last, at(low));
				g.lineTo(last, at(top));
			}
			g.lineTo(last, at(value));
		};
		for (; k < t.length && t[k] <= view.to; k++) {
			const x = view.x(t[k], width);
			if (k === first) {
				last = Math.max(x, 0);
				g.moveTo(last, at(v[k]));
				low = top = v[k];
				continue;
			}
			if (x - last >= 0.5) {
				close(v[k - 1]);
				g.lineTo(x, at(v[k - 1]));
				last = x;
				low = top = v[k - 1];
			}
			low = Math.min(low, v[k]);
			top = Math.max(top, v[k]);
		}
		if (k > first) {
			close(v[k - 1]);
			g.lineTo(k === t.length ? Math.min(view.x(view.last, width), width) : width, at(v[k - 1]));
		}
		g.stroke();
	}

	flags(g, track, y, width)
	{
		const { view, colours } = this;
		let last = -9;
		for (const flag of track.flags) {
			if (flag.t < view.from || flag.t > view.to)
				continue;
			const x = view.x(flag.t, width);
			if (x - last < 1 && flag.what === "mark")
				continue;
			last = x;
			g.fillStyle = colours[flag.what];
			g.beginPath();
			g.moveTo(x, y + 2);
			g.lineTo(x + 9, y + 6);
			g.lineTo(x, y + 10);
			g.fill();
			g.fillRect(x, y + 2, 1.5, ROW - 4);
		}
	}

	track(g, track, y, width)
	{
		const height = trackHeight(track) - GAP;
		g.fillStyle = this.colours.band;
		g.fillRect(0, y, width, height);
		if (track.kind === "value")
			this.plot(g, track, y, width);
		else if (track.kind === "flag")
			this.flags(g, track, y, width);
		for (const [row, lane] of track.rows.entries())
			this.lane(g, lane, y + row * ROW, width);
		this.notRecorded(g, track, y, height, width);
		this.losses(g, track, y, height, width);
	}

	ruler(g, width, height)
	{
		const { view, colours } = this, step = tickStep(view.length, width / 110);
		g.clearRect(0, 0, width, height);
		g.fillStyle = colours.faint;
		g.strokeStyle = colours.line;
		g.lineWidth = 1;
		g.beginPath();
		// Ticks are counted from the first one, so that sums do not drift.
		const first = Math.ceil(view.from / step);
		for (let n = first; n * step <= view.to; n++) {
			const x = Math.round(view.x(n * step, width)) + 0.5;
			g.moveTo(x, height - 6);
			g.lineTo(x, height);
			g.fillText(tickText(n * step, step), x + 3, height / 2);
		}
		g.stroke();
	}

	/** An arrow from what woke a thread to where it became runnable. */
	arrow(g, x, y, y2)
	{
		const { colours } = this, down = y2 > y ? 1 : -1;
		g.strokeStyle = g.fillStyle = colours.ink;
		g.lineWidth = 1.5;
		g.beginPath();
		g.moveTo(x, y);
		g.lineTo(x, y2);
		g.stroke();
		g.beginPath();
		g.moveTo(x, y2);
		g.lineTo(x - 4, y2 - 7 * down);
		g.lineTo(x + 4, y2 - 7 * down);
		g.fill();
		g.beginPath();
		g.arc(x, y, 3, 0, 7);
		g.fill();
	}
}
