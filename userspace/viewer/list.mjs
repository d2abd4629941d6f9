// SPDX-License-Identifier: GPL-2.0-only
// The sequential view: one event after the other, only the visible lines as elements.

import { parseFilter, runFilter } from "./filter.mjs";
import { count, duration, make } from "./text.mjs";

const LINE = 20;	// pixels
const TALLEST = 8e6;	// pixels that browsers can scroll safely

export class EventList {
	constructor(model, choose)
	{
		this.model = model;
		this.choose = choose;
		this.box = document.getElementById("events");
		this.table = document.getElementById("event-table");
		this.body = document.getElementById("event-lines");
		this.told = document.getElementById("event-told");
		this.found = null;
		this.text = "";		// of the filter
		this.selected = -1;
		this.turn = 0;
		this.box.addEventListener("scroll", () => this.draw());
		new ResizeObserver(() => this.draw()).observe(this.box);
	}

	get n()
	{
		return this.found ? this.found.length : this.model.events.n;
	}

	index(k)
	{
		return this.found ? this.found[k] : k;
	}

	/** Return the line of an event, or of the first one after it. */
	lineOf(i)
	{
		if (!this.found)
			return i;
		let low = 0, high = this.found.length;
		while (low < high) {
			const middle = low + high >> 1;
			if (this.found[middle] < i)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	async setFilter(text)
	{
		const turn = ++this.turn, filter = parseFilter(text, this.model);
		this.text = text.trim();
		if (filter.error) {
			this.told.textContent = filter.error;
			return;
		}
		this.told.textContent = "searching ...";
		const found = filter.fast.length || filter.slow ?
			await runFilter(filter, this.model, async () => {
				await new Promise((done) => setTimeout(done));
				return turn === this.turn;
			}) : undefined;
		if (found === null)
			return;
		this.found = found ?? null;
		this.tell();
		this.select(this.selected);
	}

	tell()
	{
		const { about } = this.model;
		const left = about.all_events > about.events ? `; the page has the fields of ${count(about.events)} of ${count(about.all_events)} events (html:events=N)` : "";
		this.told.textContent = `${count(this.n)} of ${count(this.model.events.n)} events${left}`;
	}

	select(i)
	{
		this.selected = i;
		if (i >= 0) {
			const y = this.lineOf(i) * this.scale, height = this.box.clientHeight;
			if (y < this.box.scrollTop || y > this.box.scrollTop + height - 3 * LINE)
				this.box.scrollTop = Math.max(0, y - height / 3);
		}
		this.draw();
	}

	/** Scroll to a moment. */
	showTime(t)
	{
		this.box.scrollTop = this.lineOf(this.model.events.after(t)) * this.scale;
		this.draw();
	}

	/** The list became visible: scroll to what is selected. */
	show({ event, span })
	{
		if (event >= 0)
			this.select(event);
		else if (span >= 0)
			this.showTime(this.model.spans.begin[span]);
		this.draw();
	}

	/** Pixels of scrolling for a line: less than its height if there are very many. */
	get scale()
	{
		return Math.min(LINE, TALLEST / Math.max(this.n, 1));
	}

	async draw()
	{
		const { events } = this.model, turn = this.drawing = (this.drawing ?? 0) + 1;
		const height = this.box.clientHeight, first = Math.max(0, Math.floor(this.box.scrollTop / this.scale));
		const nr = Math.min(this.n - first, Math.ceil(height / LINE) + 1);
		this.table.setAttribute("aria-rowcount", this.n + 1);
		this.body.style.height = `${Math.max(this.n * this.scale, 1)}px`;
		if (!height)
			return;
		const lines = [];
		for (let k = first; k < first + nr; k++) {
			const i = this.index(k);
			lines.push({ i, before: k ? this.index(k - 1) : i, fields: await events.fields(i) });
			if (turn !== this.drawing)
				return;
		}
		this.body.replaceChildren(...lines.map((l, k) => this.line(l, first + k, first * this.scale + k * LINE)));
	}

	line({ i, before, fields }, k, top)
	{
		const { model } = this, { events } = model;
		return make("div", {
			class: `line${i === this.selected ? " selected" : ""}`, style: `top:${top}px`,
			// The head is row 1.
			role: "row", "aria-rowindex": k + 2, "data-event": i, click: () => this.choose({ event: i }),
		},
			make("span", { class: "t", role: "cell" }, `${(events.t[i] / 1e9).toFixed(9)}`),
			make("span", { class: "d", role: "cell" }, i === before ? "" : `+${duration(events.t[i] - events.t[before])}`),
			make("span", { class: "c", role: "cell" }, String(events.cpu[i])),
			make("span", { class: "w", role: "cell" }, model.threadOf(i)),
			make("span", { class: "e", role: "cell" }, model.eventName(events.op[i], fields)),
			make("span", { class: "f", role: "cell" }, fields.slice(1, -1).replace(/"/g, "").slice(0, 400)));
	}
}
