// SPDX-License-Identifier: GPL-2.0-only
// The time view: ruler, labels, canvas, mouse; which tracks are shown and where.

import { Arrangement } from "./arrange.mjs";
import { LOSS, WAIT } from "./kinds.mjs";
import { Painter, ROW, firstFrom, trackHeight } from "./draw.mjs";
import { Labels } from "./labels.mjs";
import { bothWays, duration, make, moment } from "./text.mjs";

const NEAR = 3;		// pixels around the pointer in which a span is found
const DRAG = 4;		// pixels that make a drag

export class Timeline {
	constructor(model, view, choose)
	{
		this.model = model;
		this.view = view;
		this.choose = choose;	// called with what was clicked
		this.box = document.getElementById("lanes");
		this.labels = new Labels(this);
		this.canvas = document.getElementById("canvas");
		this.rulerCanvas = document.getElementById("ruler");
		this.tip = document.getElementById("tip");
		this.painter = new Painter(model, view);
		this.tracks = new Arrangement(model.tracks);
		this.byId = this.tracks.byId;
		this.filter = "";
		this.range = null;
		this.cursor = null;
		this.event = -1;
		this.layout();
		this.listen();
	}

	// ---- which tracks, and where -------------------------------------------------------

	matches(track)
	{
		return !this.filter || track.kind.includes(this.filter) ||
			[track.label, ...track.called].some((name) => name.toLowerCase().includes(this.filter));
	}

	layout()
	{
		this.shown = this.tracks.shown((t) => this.matches(t));
		let y = 4;
		for (const t of this.shown) {
			t.y = y;
			y += trackHeight(t) + 2;
		}
		this.height = y + 8;
		this.onLayout?.();
		this.draw();
	}

	/** Return true if a track has something in the visible interval. */
	hasAny(track)
	{
		const { from, to } = this.view, { spans } = this.model;
		return track.kind === "cpu" || track.kind === "value" || (track.flags ?? []).some((f) => f.t >= from && f.t <= to) ||
			track.rows.some((lane) => {
				const k = lane.after(from);
				return k < lane.list.length && lane.from[k] < to;
			}) || track.losses.some((i) => spans.begin[i] < to && spans.end[i] > from);
	}

	hideEmpty()
	{
		this.tracks.remember();
		for (const t of this.shown) {
			if (!this.tracks.pinned.has(t.id) && !this.hasAny(t))
				this.tracks.hidden.add(t.id);
		}
		this.layout();
	}

	setFilter(text)
	{
		this.filter = text.trim().toLowerCase();
		this.layout();
	}

	pin(track)
	{
		this.tracks.toggle(this.tracks.pinned, track.id);
		this.layout();
	}

	/** Hide a track.  If its label had the focus, the next one gets it. */
	hide(track)
	{
		const had = this.labels.hasFocus(), at = this.shown.indexOf(track);
		this.tracks.toggle(this.tracks.hidden, track.id);
		this.layout();
		if (had)
			this.focus(this.shown[Math.min(at, this.shown.length - 1)]);
	}

	/** Move a track up or down by one, among the pinned ones or among the others. */
	move(track, by)
	{
		const near = this.shown[this.shown.indexOf(track) + by], { pinned } = this.tracks;
		if (!near || pinned.has(near.id) !== pinned.has(track.id))
			return;
		this.tracks.remember();
		this.moveTo(track, near);
		this.reveal(track);
	}

	/** Put a track where another one is. */
	moveTo(track, near)
	{
		if (!near || near === track)
			return;
		this.tracks.put(track.id, near.id);
		this.layout();
	}

	/** Put a track directly below another one, and scroll to both. */
	bring(id, below)
	{
		const track = this.byId.get(id), near = this.byId.get(below), { tracks } = this;
		if (!track || !near || track === near)
			return;
		tracks.remember();
		tracks.hidden.delete(id);
		if (!this.matches(track) || tracks.pinned.has(below))
			tracks.pinned.add(id);
		tracks.putBelow(id, below);
		this.layout();
		this.reveal(near);
	}

	showAll()
	{
		this.tracks.showAll();
		this.layout();
	}

	/** Undo the last change of the arrangement.  Return false if there is none. */
	undo()
	{
		const done = this.tracks.undo();
		this.layout();
		return done;
	}

	/** Move the focus to the label of a track. */
	focus(track)
	{
		if (!track)
			return;
		this.reveal(track);
		this.drawNow();
		this.labels.of(track)?.focus();
	}

	/** Return the height in the list of all tracks of a point of the window. */
	contentY(clientY)
	{
		return clientY - this.box.getBoundingClientRect().top + this.box.scrollTop;
	}

	trackAt(clientY)
	{
		const y = this.contentY(clientY);
		return this.shown.find((k) => y >= k.y && y < k.y + trackHeight(k));
	}

	/** Scroll until a track is visible. */
	reveal(track)
	{
		if (this.tracks.hidden.delete(track.id) || !this.shown.includes(track)) {
			if (!this.matches(track))
				this.tracks.pinned.add(track.id);
			this.layout();
		}
		const top = this.box.scrollTop, height = this.box.clientHeight;
		if (track.y < top || track.y + trackHeight(track) > top + height)
			this.box.scrollTop = Math.max(0, track.y - height / 3);
	}

	// ---- drawing ----------------------------------------------------------------------

	draw()
	{
		if (this.frame)
			return;
		this.frame = requestAnimationFrame(() => {
			this.frame = 0;
			this.drawNow();
		});
	}

	sized(canvas, width, height)
	{
		const scale = window.devicePixelRatio || 1;
		const w = Math.round(width * scale), h = Math.round(height * scale);
		if (canvas.width !== w || canvas.height !== h) {
			canvas.width = w;
			canvas.height = h;
		}
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
		const g = canvas.getContext("2d");
		g.setTransform(scale, 0, 0, scale, 0, 0);
		g.font = "11px system-ui, sans-serif";
		g.textBaseline = "middle";
		return g;
	}

	get width()
	{
		return Math.max(this.box.clientWidth - this.labelWidth, 50);
	}

	get labelWidth()
	{
		return this.labels.width;
	}

	drawNow()
	{
		const height = this.box.clientHeight, { width } = this, top = this.box.scrollTop;
		this.painter.ruler(this.sized(this.rulerCanvas, width, 24), width, 24);
		const g = this.sized(this.canvas, width, height);
		g.fillStyle = this.painter.colours.paper;
		g.fillRect(0, 0, width, height);
		const visible = this.shown.filter((t) => t.y + trackHeight(t) >= top && t.y <= top + height);
		for (const t of visible)
			this.painter.track(g, t, t.y - top, width);
		this.drawRange(g, width, height);
		this.drawArrow(g, width, top);
		this.drawEvent(g, width, height);
		this.labels.draw(visible, this.height);
	}

	drawRange(g, width, height)
	{
		const { view, range, painter } = this;
		if (!range)
			return;
		const x = view.x(range.from, width), x2 = view.x(range.to, width);
		g.fillStyle = painter.colours.accent;
		g.globalAlpha = 0.15;
		g.fillRect(x, 0, x2 - x, height);
		g.globalAlpha = 1;
		g.fillRect(x - 0.5, 0, 1, height);
		g.fillRect(x2 - 0.5, 0, 1, height);
		const text = bothWays(range.to - range.from), length = g.measureText(text).width + 8;
		const at = Math.min(Math.max((x + x2 - length) / 2, 2), width - length - 2);
		g.fillStyle = painter.colours.accent;
		g.fillRect(at, height - 20, length, 16);
		g.fillStyle = painter.colours.paper;
		g.fillText(text, at + 4, height - 12);
	}

	drawArrow(g, width, top)
	{
		const i = this.painter.selected, { spans } = this.model;
		if (i < 0 || spans.kind[i] !== WAIT || spans.a[i] <= 0)
			return;
		const from = this.byId.get(`thread:${spans.a[i]}`), to = this.byId.get(`thread:${spans.tid[i]}`);
		if (!from || !to || !this.shown.includes(from) || !this.shown.includes(to))
			return;
		const down = to.y > from.y;
		this.painter.arrow(g, this.view.x(this.model.wokenAt(i), width), from.y - top + (down ? ROW : 0),
			to.y - top + (down ? 0 : ROW));
	}

	drawEvent(g, width, height)
	{
		const { colours } = this.painter;
		if (this.event >= 0) {
			const x = this.view.x(this.model.events.t[this.event], width);
			g.fillStyle = colours.ink;
			g.fillRect(x - 0.75, 0, 1.5, height);
		}
		if (this.cursor !== null) {
			g.fillStyle = colours.faint;
			g.fillRect(this.view.x(this.cursor, width), 0, 0.5, height);
		}
	}

	/**
	 * Prepare printing: only the tracks that are visible now, from the top.  Returns a
	 * function that undoes it.
	 */
	print()
	{
		const { shown, height } = this, top = this.box.scrollTop, bottom = top + this.box.clientHeight;
		const places = shown.map((t) => t.y);
		this.shown = shown.filter((t) => t.y + trackHeight(t) > top && t.y < bottom);
		let y = 4;
		for (const t of this.shown) {
			t.y = y;
			y += trackHeight(t) + 2;
		}
		this.height = y;
		this.box.style.height = `${y}px`;
		this.painter.newColours();
		this.box.scrollTop = 0;
		this.drawNow();
		return () => {
			for (const [k, t] of shown.entries())
				t.y = places[k];
			this.shown = shown;
			this.height = height;
			this.box.style.height = "";
			this.painter.newColours();
			this.drawNow();
			this.box.scrollTop = top;
		};
	}

	// ---- what is under the pointer -----------------------------------------------------

	/** Return { track, span } or { track, event } at a point of the canvas. */
	find(x, y)
	{
		const top = this.box.scrollTop, { width } = this;
		const t = this.view.t(x, width), slack = this.view.length / width * NEAR;
		const track = this.shown.find((k) => y + top >= k.y && y + top < k.y + trackHeight(k));
		if (!track)
			return { t };
		if (track.kind === "flag") {
			let best = null;
			for (const f of track.flags) {
				if (Math.abs(f.t - t) < slack * 3 && (!best || Math.abs(f.t - t) < Math.abs(best.t - t)))
					best = f;
			}
			return { track, t, event: best ? best.i : undefined };
		}
		if (track.kind === "value")
			return { track, t, values: this.valuesAt(track, t) };
		const row = Math.floor((y + top - track.y) / ROW);
		let span = track.rows[row]?.at(t) ?? -1;
		if (span < 0)
			span = track.rows[row]?.at(t, slack) ?? -1;
		const loss = track.losses.find((i) => this.model.spans.kind[i] !== LOSS &&
			this.model.spans.begin[i] <= t + slack && this.model.spans.end[i] >= t - slack);
		return { track, t, span: loss ?? span };
	}

	/** Return the values of a plot's lines at a time: [[name, text]]. */
	valuesAt(track, t)
	{
		return track.lines.map((line) => {
			const k = firstFrom(line.t, t + 1) - 1;
			return [line.name, k < 0 ? "none yet" : track.tracer ? `${duration(line.v[k])} in each ms (estimate)` : String(line.v[k])];
		});
	}

	showTip(found, event)
	{
		const { tip, model } = this;
		let rows = null;
		if (found.span >= 0)
			rows = model.describe(found.span);
		else if (found.event !== undefined)
			rows = [["event", model.opName(model.events.op[found.event])], ["time", moment(model.events.t[found.event])]];
		else if (found.values)
			rows = found.values;
		tip.hidden = !rows;
		if (!rows)
			return;
		tip.replaceChildren(make("dl", {}, ...rows.flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, v)])));
		const w = tip.offsetWidth, h = tip.offsetHeight;
		tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - w - 8)}px`;
		tip.style.top = `${event.clientY + 16 + h > window.innerHeight ? event.clientY - h - 10 : event.clientY + 16}px`;
	}

	// ---- mouse ------------------------------------------------------------------------

	listen()
	{
		const { canvas, box } = this;
		box.addEventListener("scroll", () => this.draw());
		new ResizeObserver(() => this.draw()).observe(box);
		this.view.onChange(() => this.draw());
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
			this.painter.newColours();
			this.draw();
		});
		const point = (e) => {
			const r = canvas.getBoundingClientRect();
			return [e.clientX - r.left, e.clientY - r.top];
		};
		canvas.addEventListener("pointerdown", (e) => {
			const [x, y] = point(e);
			// The right button opens a menu, and a second finger is not a second drag.
			if (this.drag || e.button > 1)
				return;
			this.drag = { id: e.pointerId, x, y, t: this.view.t(x, this.width), from: this.view.from, to: this.view.to,
				range: this.range, pan: e.shiftKey || e.button === 1, far: false };
			canvas.setPointerCapture(e.pointerId);
			if (e.button === 1)
				e.preventDefault();
		});
		canvas.addEventListener("pointermove", (e) => this.moved(e, ...point(e)));
		canvas.addEventListener("pointerup", (e) => {
			if (e.pointerId === this.drag?.id)
				this.released(...point(e));
		});
		// The browser took the pointer away, such as for a gesture of its own.
		for (const lost of ["pointercancel", "lostpointercapture"]) {
			canvas.addEventListener(lost, (e) => {
				if (e.pointerId === this.drag?.id)
					this.giveUp();
			});
		}
		canvas.addEventListener("pointerleave", () => {
			this.tip.hidden = true;
			this.cursor = null;
			this.draw();
		});
		for (const where of [canvas, this.rulerCanvas]) {
			where.addEventListener("wheel", (e) => {
				if (!e.ctrlKey && !e.shiftKey && where === canvas)
					return;
				e.preventDefault();
				if (e.shiftKey)
					this.view.pan((e.deltaY || e.deltaX) / 1000);
				else
					this.view.zoom(Math.exp(e.deltaY / 300), this.view.t(point(e)[0], this.width));
			}, { passive: false });
		}
		canvas.addEventListener("dblclick", () => {
			const i = this.painter.selected;
			if (i >= 0)
				this.view.show(this.model.spans.begin[i], this.model.spans.end[i]);
		});
	}

	moved(e, x, y)
	{
		const { drag, view, width } = this;
		if (drag && e.pointerId !== drag.id)
			return;
		this.cursor = view.t(x, width);
		if (drag && Math.abs(x - drag.x) > DRAG)
			drag.far = true;
		if (drag?.far && drag.pan) {
			const by = (drag.x - x) / width * (drag.to - drag.from);
			view.set(drag.from + by, drag.to + by);
		} else if (drag?.far) {
			const t = view.t(x, width);
			this.range = { from: Math.round(Math.min(t, drag.t)), to: Math.round(Math.max(t, drag.t)) };
		}
		if (!drag)
			this.showTip(this.find(x, y), e);
		else
			this.tip.hidden = true;
		this.draw();
	}

	/** End a drag as if it had not begun.  Return false if there is none. */
	giveUp()
	{
		const { drag } = this;
		if (!drag)
			return false;
		this.drag = null;
		this.range = drag.range;
		if (drag.pan)
			this.view.set(drag.from, drag.to);
		this.draw();
		return true;
	}

	released(x, y)
	{
		const { drag } = this;
		this.drag = null;
		if (!drag)
			return;
		if (drag.far && !drag.pan)
			this.choose({ range: this.range });
		else if (!drag.far)
			this.choose(this.find(x, y));
	}
}
