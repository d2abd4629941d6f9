// SPDX-License-Identifier: GPL-2.0-only
// The page: read the data, make the parts, connect them, keys, search, permalink.

import { MERGED, WAIT, isRunnable } from "./kinds.mjs";
import { fillHead } from "./head.mjs";
import { linkOf, takeLink } from "./link.mjs";
import { EventList } from "./list.mjs";
import { blockOf, readBlocks } from "./load.mjs";
import { Model } from "./model.mjs";
import { objectsOf } from "./objects.mjs";
import { describeEvent, exportEvents, rangeTable } from "./range.mjs";
import { rtosTables } from "./rtos.mjs";
import { Stepper } from "./step.mjs";
import { cpuTable, insteadTable, latencyTable, threadTable } from "./tables.mjs";
import { bothWays, count, duration, make, moment, onClock } from "./text.mjs";
import { Timeline } from "./timeline.mjs";
import { View } from "./view.mjs";

const $ = (id) => document.getElementById(id);
const SLICE = 30;	// ms of reading between two looks at the screen

class Page {
	constructor(data)
	{
		this.data = data;
		this.model = new Model(data);
		this.view = new View(this.model.first, this.model.last);
		this.timeline = new Timeline(this.model, this.view, (what) => this.choose(what));
		this.list = new EventList(this.model, (what) => this.choose(what));
		this.stepper = new Stepper(this.model);
		this.selected = { span: -1, event: -1 };
		fillHead(this.model, data);
		this.fillTables();
		this.list.tell();
		this.view.onChange(() => this.changed());
		this.listen();
		this.view.fit();
		this.fromLink();
	}

	// ---- tables ----------------------------------------------------------------------

	fillTables()
	{
		const { stats } = this.data, jump = (to) => this.jump(to);
		for (const [id, fill] of [["latencies", latencyTable], ["threads", threadTable],
			["cpus", cpuTable], ["instead", insteadTable]]) {
			$(`tab-${id}`).replaceChildren(stats ? fill(this.model, stats, jump) :
				make("p", { class: "empty" }, "The input has no statistics of this kind."));
		}
		this.fillRtosTables(jump);
		$("tab-range").replaceChildren(make("p", { class: "empty" }, "Drag over the tracks to select an interval and measure it."));
	}

	/** Traces of an RTOS have more tables, and not those of Linux in which nothing is. */
	fillRtosTables(jump)
	{
		const { rtos, stats } = this.data, button = (id) => document.querySelector(`[data-tab=${id}]`);
		for (const { id, fill, has } of rtosTables) {
			button(id).hidden = !rtos || !has(rtos);
			if (rtos && has(rtos))
				$(`tab-${id}`).replaceChildren(fill(this.model, rtos, jump));
		}
		if (!rtos)
			return;
		// The execution profile of TraceX has the threads.
		button("threads").hidden = rtos.thread_list.length > 0 || !stats?.threads.length;
		button("latencies").hidden = !stats?.series.some((s) => s.count || s.uncertain);
		button("instead").hidden = !stats?.instead.length;
		this.openTab(document.querySelector("[role=tab]:not([hidden])").dataset.tab);
	}

	openTab(id)
	{
		for (const tab of document.querySelectorAll("[role=tab]")) {
			const on = tab.dataset.tab === id;
			tab.setAttribute("aria-selected", on);
			tab.tabIndex = on ? 0 : -1;
			$(`tab-${tab.dataset.tab}`).hidden = !on;
		}
		if (id === "list")
			this.list.show(this.selected);
	}

	// ---- selecting --------------------------------------------------------------------

	choose({ span, event, range, track })
	{
		if (range) {
			$("tab-range").replaceChildren(rangeTable(this.model, range, (to) => this.jump(to)));
			this.openTab("range");
			$("said").textContent = `selected ${bothWays(range.to - range.from)}`;
			this.toLink();
			return;
		}
		if (span >= 0)
			this.selectSpan(span);
		else if (event >= 0)
			this.selectEvent(event, true);
		else if (track)
			this.clear();
		else
			this.clear();
	}

	clear()
	{
		this.selected = { span: -1, event: -1 };
		this.timeline.painter.selected = -1;
		this.timeline.event = -1;
		this.timeline.range = this.ends = null;
		this.list.select(-1);
		$("details").replaceChildren(make("p", { class: "empty" }, "Click a span or an event to see its fields. Press ? for keys."));
		this.timeline.draw();
		this.toLink();
	}

	showDetails(title, rows, extra)
	{
		$("details").replaceChildren(make("h2", {}, title), make("div", { class: "do" }, ...extra),
			make("dl", {}, ...rows.flatMap(([k, v]) => [make("dt", {}, k), make("dd", {}, String(v))])));
		$("said").textContent = `${title}, ${rows.slice(0, 4).map(([k, v]) => `${k} ${v}`).join(", ")}`;
	}

	selectSpan(i)
	{
		const { spans } = this.model;
		this.selected = { span: i, event: -1 };
		this.timeline.painter.selected = i;
		this.timeline.event = -1;
		const jump = (text, act) => make("button", { type: "button", click: act }, text);
		const extra = [jump("Zoom to it", () => this.view.show(spans.begin[i], spans.end[i])),
			jump("Measure it", () => {
				this.timeline.range = { from: spans.begin[i], to: spans.end[i] };
				this.choose({ range: this.timeline.range });
				this.timeline.draw();
			})];
		if (spans.kind[i] === WAIT && isRunnable(spans.b[i])) {
			const bring = (id) => this.timeline.bring(id, `thread:${spans.tid[i]}`);
			for (const { tid } of this.model.ranInstead(i).filter((o) => o.tid > 0).slice(0, 2))
				extra.push(jump(`Show ${this.model.threadIn(tid, spans.begin[i], spans.end[i])} beside it`, () => bring(`thread:${tid}`)));
			for (const cpu of new Set(this.model.queuesOf(i).map((q) => q.cpu)))
				extra.push(jump(`Show CPU ${cpu} beside it`, () => bring(`cpu:${cpu}`)));
		}
		if (spans.kind[i] === WAIT && spans.a[i] > 0)
			extra.push(jump("Show who woke it", () => this.jump({ track: `thread:${spans.a[i]}`, keep: true })));
		const like = spans.flags[i] & MERGED ? { n: 0 } : this.model.amongLike(i);
		for (const [text, k] of [["Next longer", like.longer], ["Next shorter", like.shorter]]) {
			if (k >= 0)
				extra.push(jump(text, () => this.jump({ span: k })));
		}
		this.showDetails(this.model.title(i), [...this.model.facts(i), ["begin", moment(spans.begin[i])], ["end", moment(spans.end[i])],
			["CLOCK_MONOTONIC", `${onClock(this.model.about.mono_ns, spans.begin[i])} s`],
			...(like.n > 1 ? [["by length", `${count(like.rank + 1)} of ${count(like.n)} ${spans.kind[i] === WAIT ? "such waits of this thread" : "of this name"}${this.model.merges ? "; merged ones are not counted" : ""}`]] : [])], extra);
		this.list.showTime(spans.begin[i]);
		this.timeline.draw();
		this.toLink();
	}

	async selectEvent(i, show)
	{
		this.selected = { span: -1, event: i };
		this.timeline.painter.selected = -1;
		this.timeline.event = i;
		this.list.select(i);
		const t = this.model.events.t[i];
		if (show && (t < this.view.from || t > this.view.to))
			this.view.set(t - this.view.length / 2, t + this.view.length / 2);
		this.timeline.draw();
		this.toLink();
		const rows = await describeEvent(this.model, i), objects = objectsOf(this.model, i, await this.model.events.fields(i));
		if (this.selected.event !== i)
			return;
		this.described = { event: i, objects };
		this.showDetails(rows[0][1], [["time", moment(t)], ...rows.slice(1)], objects.map((o) => this.followButton(o)));
	}

	/** A button that goes to the next event about an object; n and p then stay with it. */
	followButton(o)
	{
		return make("button", { type: "button", click: () => {
			$("step").value = "object";
			this.stepper.object = o;
			this.step(1);
		} }, `Next of ${o.title}`);
	}

	/** Show an interval that no span has: what a value of ktape stats was measured over. */
	showMoment({ span, from, to, cpu = -1, tid = -1, title, key })
	{
		const { timeline, model } = this, ids = [`thread:${tid}`, `cpu:${cpu}`];
		const place = span >= 0 ? model.placeOf(span) : null;
		const track = place?.track ?? timeline.byId.get(ids.find((id) => timeline.byId.has(id)));
		this.clear();
		if (to > from)
			timeline.range = { from: Math.round(from), to: Math.round(to) };
		this.view.show(from, Math.max(to, span >= 0 ? model.spans.end[span] : to));
		if (track)
			timeline.reveal(track);
		if (span >= 0) {
			this.selectSpan(span);
			return;
		}
		this.list.showTime(to);
		this.showDetails(title, [...(key === null ? [] : [["of", key]]), ["begin", moment(from)], ["end", moment(to)], ["duration", bothWays(to - from)],
			...(cpu < 0 ? [] : [["CPU", String(cpu)]]), ...(tid < 0 ? [] : [["thread", model.threadAt(tid, to)]])], []);
		timeline.draw();
		this.toLink();
	}

	/** Show the event that a row of a table is about. */
	async jumpToEvent(wanted)
	{
		const i = await this.model.findEvent(wanted);
		if (i < 0) {
			this.showMoment({ span: -1, from: wanted.t, to: wanted.t, title: wanted.name ?? "event", key: null });
			return;
		}
		const track = this.timeline.byId.get(`thread:${this.model.events.tid[i]}`);
		if (track)
			this.timeline.reveal(track);
		await this.selectEvent(i, true);
	}

	/** Show what a row of a table is about. */
	jump({ span, track, keep, event, ...more })
	{
		const { spans } = this.model;
		if (event) {
			this.jumpToEvent(event);
			return;
		}
		if (more.to !== undefined && (span < 0 || spans.begin[span] >= more.to - 2)) {
			this.showMoment({ span, ...more });
		} else if (span >= 0) {
			const place = this.model.placeOf(span);
			this.view.show(spans.begin[span], spans.end[span]);
			if (place)
				this.timeline.reveal(place.track);
			this.selectSpan(span);
		} else if (track && this.timeline.byId.has(track)) {
			this.timeline.reveal(this.timeline.byId.get(track));
		} else if (!keep) {
			this.say("nothing is drawn for this row");
		}
	}

	// ---- next and previous ----------------------------------------------------------------

	/** Where n and p start from: the selected event, or the first visible one. */
	here()
	{
		const { events } = this.model, { span, event } = this.selected;
		if (event >= 0)
			return event;
		return events.after(span >= 0 ? this.model.spans.begin[span] : this.view.from);
	}

	async step(by)
	{
		const { i, why } = await this.stepper.step(by, this.here(), this.selected.event >= 0);
		if (i >= 0)
			await this.selectEvent(i, true);
		else if (why)
			this.say(why);
	}

	// ---- keys, buttons ----------------------------------------------------------------------

	listen()
	{
		const { view, timeline } = this;
		const at = () => timeline.cursor ?? undefined;
		const keys = {
			w: () => view.zoom(0.6, at()), s: () => view.zoom(1 / 0.6, at()),
			a: () => view.pan(-0.2), d: () => view.pan(0.2),
			"+": () => view.zoom(0.6), "-": () => view.zoom(1 / 0.6),
			ArrowLeft: () => view.pan(-0.1), ArrowRight: () => view.pan(0.1),
			ArrowUp: () => timeline.box.scrollBy(0, -60), ArrowDown: () => timeline.box.scrollBy(0, 60),
			PageUp: () => timeline.box.scrollBy(0, -timeline.box.clientHeight * 0.9),
			PageDown: () => timeline.box.scrollBy(0, timeline.box.clientHeight * 0.9),
			f: () => this.fit(), "/": () => $("search").focus(), "?": () => $("help").showModal(),
			n: () => this.step(1), p: () => this.step(-1), m: () => this.markSelection(), u: () => this.undo(),
			"[": () => this.setEnd("from"), "]": () => this.setEnd("to"),
			Escape: () => timeline.giveUp() || this.clear(),
		};
		document.addEventListener("keydown", (e) => {
			const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
			if (e.key === "Escape" && typing)
				e.target.blur();
			// Some keyboards have [ and ] behind AltGr, which counts as Ctrl + Alt.
			const control = (e.ctrlKey || e.altKey || e.metaKey) && !e.getModifierState("AltGraph");
			if (typing || control || $("help").open)
				return;
			const inTable = e.target.closest?.("#tables") && /^(Arrow|Page)/.test(e.key);
			const act = keys[e.key] ?? keys[e.key.toLowerCase()];
			if (!act || inTable)
				return;
			e.preventDefault();
			act();
		});
		for (const tab of document.querySelectorAll("[role=tab]")) {
			$(`tab-${tab.dataset.tab}`).setAttribute("aria-label", tab.textContent);
			tab.addEventListener("click", () => this.openTab(tab.dataset.tab));
			tab.addEventListener("keydown", (e) => this.tabKey(e, tab));
		}
		for (const [id, act] of [["fit", () => this.fit()], ["in", () => view.zoom(0.5)], ["out", () => view.zoom(2)],
			["next", () => this.step(1)], ["previous", () => this.step(-1)], ["show-help", () => $("help").showModal()],
			["show-all", () => timeline.showAll()], ["undo", () => this.undo()], ["hide-empty", () => timeline.hideEmpty()], ["print", () => window.print()],
			["csv", () => this.save("csv")], ["json", () => this.save("json")]])
			$(id).addEventListener("click", act);
		let wait = 0;
		$("search").addEventListener("input", () => timeline.setFilter($("search").value));
		$("search").addEventListener("keydown", (e) => {
			if (e.key === "Enter")
				this.search(e.shiftKey ? -1 : 1);
		});
		$("filter").addEventListener("input", () => {
			clearTimeout(wait);
			wait = setTimeout(() => {
				this.list.setFilter($("filter").value);
				this.linkSoon();
			}, 200);
		});
		window.addEventListener("hashchange", () => this.fromLink());
		timeline.onLayout = () => this.tellHidden();
		this.tellHidden();
		window.addEventListener("beforeprint", () => {
			document.documentElement.classList.add("printing");
			this.afterPrint ??= timeline.print();
		});
		window.addEventListener("afterprint", () => {
			document.documentElement.classList.remove("printing");
			this.afterPrint?.();
			this.afterPrint = null;
		});
	}

	/** The arrangement of the tracks has changed. */
	tellHidden()
	{
		const { hidden, past } = this.timeline.tracks;
		$("show-all").textContent = hidden.size ? `Show all (${hidden.size} hidden)` : "Show all";
		$("show-all").disabled = !hidden.size;
		$("undo").disabled = !past.length;
		this.linkSoon();
	}

	undo()
	{
		if (!this.timeline.undo())
			this.say("the tracks are as they were at first");
	}

	/** Say what has no other place on the page, for some seconds, and to screen readers. */
	say(text)
	{
		$("said").textContent = text;
		$("said").classList.add("seen");
		clearTimeout(this.saidWait);
		this.saidWait = setTimeout(() => $("said").classList.remove("seen"), 4000);
	}

	tabKey(e, tab)
	{
		const tabs = [...document.querySelectorAll("[role=tab]:not([hidden])")], i = tabs.indexOf(tab);
		const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
		if (!by)
			return;
		e.stopPropagation();
		const next = tabs[(i + by + tabs.length) % tabs.length];
		next.focus();
		this.openTab(next.dataset.tab);
	}

	fit()
	{
		const { span } = this.selected, { spans } = this.model, { range } = this.timeline;
		const from = range ? range.from : span >= 0 ? spans.begin[span] : NaN;
		const to = range ? range.to : span >= 0 ? spans.end[span] : NaN;
		const shown = this.view.from <= from && this.view.to >= to && this.view.length < (to - from) * 3;
		if (Number.isNaN(from) || shown)
			this.view.fit();
		else
			this.view.show(from, to);
	}

	markSelection()
	{
		const { spans } = this.model, { span } = this.selected;
		if (span < 0)
			return;
		this.timeline.range = { from: spans.begin[span], to: spans.end[span] };
		this.choose({ range: this.timeline.range });
		this.timeline.draw();
	}

	/** Set an end of the interval that is measured at what is selected. */
	setEnd(end)
	{
		const { spans, events } = this.model, { span, event } = this.selected, range = { ...this.timeline.range ?? this.ends };
		if (event < 0 && span < 0) {
			this.say("select an event or a span: [ and ] then begin and end an interval there");
			return;
		}
		range[end] = event >= 0 ? events.t[event] : end === "from" ? spans.begin[span] : spans.end[span];
		// An end that is set on the other side of the other end begins a new interval.
		if (range.from >= range.to)
			delete range[end === "from" ? "to" : "from"];
		this.ends = range;
		this.timeline.range = range.to > range.from ? range : null;
		if (this.timeline.range)
			this.choose({ range });
		else
			this.say(end === "from" ? `the interval begins at ${moment(range.from)}: ] ends it` : `the interval ends at ${moment(range.to)}: [ begins it`);
		this.timeline.draw();
	}

	/** Find the next span whose name has the text of the search box. */
	search(by)
	{
		const text = $("search").value.trim().toLowerCase();
		if (!text)
			return;
		const hits = new Set(this.data.strings.map((s, i) => s.toLowerCase().includes(text) ? i : -1));
		const best = this.model.nextCalled(hits, this.selected.span, this.view.from, by);
		if (best < 0)
			this.say(`no further span is called "${text}"`);
		else
			this.jump({ span: best });
	}

	async save(form)
	{
		const range = this.timeline.range ?? this.view, { about } = this.model, all = this.model.hasEvents(range.from, range.to);
		const text = await exportEvents(this.model, range.from, range.to, form, () => new Promise((done) => setTimeout(done)));
		const url = URL.createObjectURL(new Blob([text], { type: form === "csv" ? "text/csv" : "application/x-ndjson" }));
		const link = make("a", { href: url, download: `ktape-events${all ? "" : "-part"}.${form === "csv" ? "csv" : "jsonl"}` });
		link.click();
		if (!all)
			this.say(`saved only those events that this page has: ${count(about.events)} of ${count(about.all_events)} of the trace (html:events=N, or html:exact=FROM-TO, for all)`);
		setTimeout(() => URL.revokeObjectURL(url), 10000);
	}

	// ---- permalink ------------------------------------------------------------------------------

	changed()
	{
		$("window").textContent = `${moment(this.view.from)} + ${duration(this.view.length)}`;
		this.linkSoon();
	}

	linkSoon()
	{
		clearTimeout(this.linkWait);
		this.linkWait = setTimeout(() => this.toLink(), 300);
	}

	toLink()
	{
		this.link = linkOf(this);
		if (location.hash !== this.link)
			history.replaceState(null, "", this.link);
	}

	fromLink()
	{
		if (location.hash === this.link || !location.hash)
			return;
		try {
			takeLink(this, location.hash);
		} catch (e) {
			this.say(`this address cannot be shown: ${e.message}`);
		}
	}
}

async function start()
{
	const blocks = [...document.querySelectorAll("script[type='text/ktape']")].map((element) => {
		const block = blockOf(element);
		element.remove();
		return block;
	});
	let last = performance.now();
	const data = await readBlocks(blocks, async (share) => {
		if (performance.now() - last < SLICE)
			return;
		$("bar").value = share;
		await new Promise((done) => requestAnimationFrame(done));
		last = performance.now();
	});
	$("loading").hidden = true;
	$("page").hidden = false;
	window.ktape = new Page(data);
	document.documentElement.dataset.ready = "1";
	performance.mark("ktape-ready");
}

start().catch((e) => {
	$("why").textContent = `This page cannot be shown: ${e.message}. It needs a browser of 2023 or newer.`;
});
