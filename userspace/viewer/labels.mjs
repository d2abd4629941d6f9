// SPDX-License-Identifier: GPL-2.0-only
// The labels of the tracks: elements that the keyboard reaches, with buttons; dragging.

import { GAP, trackHeight } from "./draw.mjs";
import { make } from "./text.mjs";

export class Labels {
	constructor(timeline)
	{
		this.timeline = timeline;
		this.box = document.getElementById("labels");
	}

	get width()
	{
		return this.box.clientWidth;
	}

	of(track)
	{
		return [...this.box.children].find((e) => e.dataset.id === track.id);
	}

	hasFocus()
	{
		return this.box.contains(document.activeElement);
	}

	/** Show the labels of the visible tracks. */
	draw(visible, height)
	{
		const { pinned } = this.timeline.tracks;
		const keep = new Map([...this.box.children].map((e) => [e.dataset.id, e])), labels = [];
		this.box.style.height = `${height}px`;
		for (const t of visible) {
			const label = keep.get(t.id) ?? this.make(t);
			keep.delete(t.id);
			label.style.top = `${t.y}px`;
			label.style.height = `${trackHeight(t) - GAP}px`;
			label.classList.toggle("pinned", pinned.has(t.id));
			label.querySelector(".pin").setAttribute("aria-pressed", pinned.has(t.id));
			labels.push(label);
		}
		for (const label of keep.values()) {
			const focused = label.contains(document.activeElement);
			// One that is scrolled away keeps the focus, one of a hidden track cannot.
			if (focused && this.timeline.shown.some((t) => t.id === label.dataset.id))
				continue;
			label.remove();
			if (focused)
				this.timeline.box.focus({ preventScroll: true });
		}
		// Tab goes from the top to the bottom.  What has the focus would lose it by moving.
		let below = null;
		for (const label of labels.reverse()) {
			if (label.parentNode !== this.box || (label.nextSibling !== below && !label.contains(document.activeElement)))
				this.box.insertBefore(label, below);
			below = label;
		}
	}

	make(track)
	{
		const { timeline } = this;
		const button = (sign, what, name, act) => make("button", { type: "button", class: name, title: what, "aria-label": `${what}: ${track.label}`, click: act }, sign);
		const label = make("div", { class: `label ${track.kind}`, "data-id": track.id, tabindex: "0", role: "group",
			"aria-label": `track ${track.label}`, title: [track.label, ...(track.called.length ? [`called before: ${track.called.join(", ")}`] : []), ...(track.names.length ? [`rows: ${track.names.join(", ")}`] : [])].join("; ") },
			make("span", { class: "name" }, track.label),
			make("span", { class: "acts" },
				button("▲", "Move up (Alt + ↑)", "up", () => timeline.move(track, -1)),
				button("▼", "Move down (Alt + ↓)", "down", () => timeline.move(track, 1)),
				button("⌖", "Keep on top (k)", "pin", () => timeline.pin(track)),
				button("×", "Hide (h)", "hide", () => timeline.hide(track))));
		label.addEventListener("pointerdown", (e) => this.grab(e, label, track));
		label.addEventListener("keydown", (e) => this.key(e, track));
		return label;
	}

	/** Keys of a label that has the focus; all others are those of the page. */
	key(e, track)
	{
		const { timeline } = this, by = { ArrowUp: -1, ArrowDown: 1 }[e.key];
		const act = e.altKey ? by && (() => timeline.move(track, by)) :
			by ? () => timeline.focus(timeline.shown[timeline.shown.indexOf(track) + by]) :
				{ h: () => timeline.hide(track), k: () => timeline.pin(track) }[e.key];
		if (!act || e.ctrlKey || e.metaKey)
			return;
		e.preventDefault();
		e.stopPropagation();
		act();
	}

	/** Drag a label up or down: the track changes places with those it comes over. */
	grab(e, label, track)
	{
		const { timeline } = this;
		if (e.button !== 0 || e.target.closest("button"))
			return;
		label.setPointerCapture(e.pointerId);
		label.classList.add("grabbed");
		let moved = false;
		const over = (m) => {
			const near = timeline.trackAt(m.clientY), { pinned } = timeline.tracks;
			if (!near || near === track || pinned.has(near.id) !== pinned.has(track.id))
				return;
			// Only beyond the middle, so that tracks of unequal heights do not flicker.
			const past = timeline.contentY(m.clientY) - near.y - trackHeight(near) / 2;
			if (near.y > track.y ? past <= 0 : past >= 0)
				return;
			if (!moved)
				timeline.tracks.remember();
			moved = true;
			timeline.moveTo(track, near);
		};
		const end = () => {
			label.removeEventListener("pointermove", over);
			label.classList.remove("grabbed");
		};
		label.addEventListener("pointermove", over);
		label.addEventListener("pointerup", end, { once: true });
		label.addEventListener("pointercancel", end, { once: true });
	}
}
