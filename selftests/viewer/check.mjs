// SPDX-License-Identifier: GPL-2.0-only
// Open pages in a browser without a network, use them as a person would, and compare
// what is on the screen with what ktape stats --json prints.
// usage: check.mjs CHROMIUM PAGE STATS LOSSY LOST SHOTS
//	LOST: what ktape dump says on standard error about the trace of the page LOSSY
//	STATS and LOST have each a file .jsonl beside them: all that ktape dump prints of
//	the trace, as JSON lines

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { alike, unnamed } from "./access.mjs";
import { Browser } from "./chromium.mjs";
import { differ, plan, test } from "./tap.mjs";
import { series as kinds } from "../../userspace/viewer/kinds.mjs";

const [chromium, page, statsFile, lossy, lostFile, shots] = process.argv.slice(2);
const stats = JSON.parse(readFileSync(statsFile, "utf8"));
const url = (path) => `file://${resolve(path)}`;
const browser = new Browser(chromium);

try {
	const tab = await browser.page(1366, 768);
	const cells = (id) => tab.run(`[...document.querySelectorAll("#tab-${id} tbody tr")].map((r) => [...r.cells].map((c) => c.textContent))`);

	await test("a page opens from disk", async () => {
		await tab.open(url(page));
		return differ(await tab.run("[!document.getElementById('page').hidden, ktape.data.damages]"), [true, []]);
	});
	await test("it has asked for nothing but itself", () => differ(tab.requests, [url(page)]));
	/** Read the headline as numbers: emitted, stored, filtered, lost; no number: null. */
	async function headline()
	{
		const line = await tab.run("document.querySelector('#state summary').textContent");
		const number = (pattern) => {
			const m = pattern.exec(line.replace(/[\u2009\u202f]/g, " "));
			return m && Number(m[1].replace(/\D/g, ""));
		};
		return { line, emitted: number(/: emitted ([\d ]+) = stored/), stored: number(/stored ([\d ]+?) ?[+,]/), filtered: number(/filtered ([\d ]+?) ?[+,]/), lost: number(/lost ([\d ]+)/) };
	}

	/** Count in another way, by the records that ktape dump prints: the ledgers are among them. */
	function countsOf(file)
	{
		const rings = new Map(), n = { stored: 0, emitted: 0, filtered: 0, lost: 0 };
		for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) {
			const e = JSON.parse(line);
			// A time extension is a part of the record behind it.
			if (e.ring === "registry" || e.event === "time_extend")
				continue;
			n.stored++;
			const f = e.fields;
			if (e.ring === "control")
				n.emitted++;
			// Of the event rings: from the first start (1), whose ledgers leave out zeros, to the
			// last stop (0).
			if (e.event !== "ledger" || f.ring !== 0 || f.moment > 1)
				continue;
			const key = `${e.cpu} ${f.class}`, now = { ...f, lost: f.full + f.nested + f.too_big + f.shed + f.rate };
			if (!rings.has(key))
				rings.set(key, { first: f.moment === 1 ? now : { emitted: 0, filtered: 0, lost: 0 } });
			rings.get(key).last = now;
		}
		for (const { first, last } of rings.values()) {
			for (const name of ["emitted", "filtered", "lost"])
				n[name] += last[name] - first[name];
		}
		return n;
	}

	await test("the line about completeness has the equation of the ledgers", async () => {
		const have = await headline(), want = countsOf(`${statsFile}.jsonl`);
		return differ([have.emitted, have.stored, have.filtered, have.lost], [want.emitted, want.stored, want.filtered, want.emitted - want.stored - want.filtered]);
	});
	await test("the numbers of all tables are those of ktape stats --json", async () => {
		const bare = (rows) => rows.map((r) => r.map((c) => c.replace(/(\d) (?=\d{3})/g, "$1")));
		const value = (v, unit) => v === undefined ? "" : unit === "ns" ? duration(v) : `${v} ${unit}`;
		const some = (n) => n ? String(n) : "", share = (ns) => `${(100 * ns / stats.span_ns).toFixed(2)} %`;
		const quantile = (s, q) => {
			const [low, high] = s.bounds?.[q] ?? [s[q], s[q]];
			return s[q] === undefined ? "" : value(s[q], s.unit) + (low === s[q] && high === s[q] ? "" : high === null ? " ?" : " ~");
		};
		const series = stats.series.filter((s) => s.count || s.uncertain).slice(0, 400);
		const tables = {
			latencies: series.map((s) => [s.kind, s.key === null ? `(all) ${kinds[s.kind].help}` : s.name, String(s.count), ...["p50", "p90", "p99", "p99.9"].map((q) => quantile(s, q)),
				value(s.max, s.unit), some(s.errors), some(s.uncertain), ""]),
			threads: stats.threads.slice(0, 400).map((t) => [String(t.tid), t.name, some(t.tgid), duration(t.run_ns), share(t.run_ns), String(t.switches),
				duration(t.wait_ns), String(t.waits), duration(t.wait_max_ns)]),
			cpus: stats.cpus.map((c) => [String(c.cpu), ...["run", "idle", "irq", "softirq", "unknown"].map((k) => share(c[`${k}_ns`])),
				String(c.switches), `${c.lost}${c.uncounted_gaps ? " + ?" : ""}`]),
		};
		for (const [id, table] of Object.entries(tables)) {
			const wanted = bare(table), rows = bare(await cells(id)), at = wanted.findIndex((r, i) => differ(rows[i], r));
			if (at >= 0 || rows.length !== wanted.length)
				return `${id}, row ${at}: ${rows[at]}, not ${wanted[at]}; ${rows.length} rows, not ${wanted.length}`;
		}
		// Names of threads have their numbers behind them.
		const who = (text) => text === "idle" ? 0 : text === "not known" ? -1 : Number(/\d+$/.exec(text)[0]);
		const shown = (await cells("instead")).map(([tid, ns, n, other]) => [who(tid), ns, n.replace(/ /g, ""), who(other)]);
		const pairs = stats.instead.slice(0, 400).map((p) => [p.tid, duration(p.ns), String(p.waits), p.other < 0 ? -1 : p.other]);
		return differ(shown.length, pairs.length) || pairs.map((p, i) => differ(shown[i], p)).find(Boolean) || "";
	});
	await test("the charts of the latencies have the counts of the histograms, and doubtful values their bounds", async () => {
		const [charts, bounds] = await tab.run(`[[...document.querySelectorAll("#tab-latencies tbody tr")].map((r) => [...r.querySelectorAll(".bars i")].map((i) => i.title.replace(/ times.*|\\D/g, ""))),
			[...document.querySelectorAll("#tab-latencies tbody tr")].map((r) => [...r.querySelectorAll("td:nth-child(n+4) > span:not(.bars)")].map((c) => [/[~?]$/.test(c.textContent), c.title !== ""]))]`);
		const wanted = stats.series.filter((s) => s.count || s.uncertain).slice(0, 400);
		return differ(charts, wanted.map((s) => (s.histogram ?? []).map(([, n]) => String(n)))) || differ(bounds.flat().filter(([sign, title]) => sign !== title), []);
	});
	await test("a row of a table leads to its moment", async () => {
		await tab.run("document.querySelector('#tab-latencies tr.jump').click()");
		await tab.drawn();
		const [ns, inside] = await tab.run(`(() => { const i = ktape.selected.span, s = ktape.model.spans;
			return [s.end[i] - s.begin[i], ktape.view.from <= s.begin[i] && ktape.view.to >= s.end[i]]; })()`);
		return Math.abs(ns - stats.series[0].max) <= 2 && inside ? "" : `${ns}, not ${stats.series[0].max}; ${inside}`;
	});
	await test("every row of the latencies leads to the moment that ktape stats has", async () => {
		const wanted = stats.series.filter((s) => s.count || s.uncertain).slice(0, 400), wrong = [];
		for (const [i, s] of wanted.entries()) {
			if (!s.count)
				continue;
			const [from, to, range, span, zero] = await tab.run(`(() => {
				document.querySelectorAll("#tab-latencies tbody tr")[${i}].click();
				const p = ktape, k = p.selected.span, s = p.model.spans;
				return [p.view.from, p.view.to, p.timeline.range, k < 0 ? null : [s.begin[k], s.end[k]], p.model.about.mono_ns]; })()`);
			const end = Number(BigInt(s.max_end_ns) - BigInt(zero)), begin = s.unit === "ns" ? end - s.max : end;
			const near = (x, y) => Math.abs(x - y) <= 2, shown = [range && [range.from, range.to], span].filter(Boolean);
			if (from > end || to < end || (s.unit === "ns" && s.max && !shown.some(([x, y]) => near(x, begin) && near(y, end)) &&
			    s.kind !== "wakeup"))
				wrong.push(`${s.kind} ${s.name}: ${begin} to ${end}, shown ${JSON.stringify([from, to, range, span])}`);
		}
		return wrong.slice(0, 5).join("\n");
	});
	await tab.run("ktape.clear(); document.querySelector('#tab-latencies tr.jump').click()");
	await tab.shot(join(shots, "laptop-light.png"));
	await test("keys zoom and move: f, w, s, a, d, arrows", async () => {
		await tab.run("ktape.clear(); document.body.focus()");
		await tab.key("f");
		const whole = await tab.run("ktape.view.length");
		await tab.key("w");
		const near = await tab.run("[ktape.view.length, ktape.view.from]");
		await tab.key("d");
		const moved = await tab.run("ktape.view.from");
		await tab.key("a");
		await tab.key("s");
		const back = await tab.run("ktape.view.length");
		return near[0] < whole && moved > near[1] && Math.abs(back - whole) < whole / 1000 ? "" :
			JSON.stringify([whole, near, moved, back]);
	});
	await test("zooming ends at 1 ns, with the same place in the middle", async () => {
		const t = await tab.run("Math.round(ktape.view.last * 0.77)");
		await tab.run(`for (let i = 0; i < 120; i++) ktape.view.zoom(0.5, ${t})`);
		await tab.drawn();
		const [from, to] = await tab.run("[ktape.view.from, ktape.view.to]");
		return to - from >= 1 && to - from < 2.1 && from <= t && to >= t ? "" : `${from} to ${to}, ${t}`;
	});
	await test("a click selects what is drawn there, with all its fields", async () => {
		await tab.run("ktape.view.fit(); ktape.jump({ span: ktape.model.longestOf('syscall', null) })");
		await tab.drawn();
		const [x, y, i] = await tab.run(`(() => { const i = ktape.selected.span, place = ktape.model.placeOf(i),
			box = document.getElementById("canvas").getBoundingClientRect(), s = ktape.model.spans;
			const x = box.left + ktape.view.x((s.begin[i] + s.end[i]) / 2, box.width);
			const y = box.top + place.track.y - ktape.timeline.box.scrollTop + place.row * 18 + 9;
			ktape.clear(); return [x, y, i]; })()`);
		await tab.click(x, y);
		const [got, text] = await tab.run("[ktape.selected.span, document.getElementById('details').textContent]");
		return got === i && /duration/.test(text) && /result/.test(text) ? "" : `${got}, not ${i}: ${text}`;
	});
	await test("a drag measures an interval and shows what is in it", async () => {
		const box = await tab.run("(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return [r.left, r.top, r.width]; })()");
		await tab.run("ktape.view.fit()");
		await tab.drawn();
		await tab.mouse("mousePressed", box[0] + box[2] * 0.25, box[1] + 60);
		await tab.mouse("mouseMoved", box[0] + box[2] * 0.3, box[1] + 60);
		await tab.mouse("mouseMoved", box[0] + box[2] * 0.5, box[1] + 60);
		await tab.mouse("mouseReleased", box[0] + box[2] * 0.5, box[1] + 60);
		await tab.drawn();
		const [ns, whole, rows] = await tab.run("[ktape.timeline.range.to - ktape.timeline.range.from, ktape.view.length, document.querySelectorAll('#tab-range tbody tr').length]");
		return Math.abs(ns / whole - 0.25) < 0.01 && rows > 3 ? "" : `${ns} of ${whole}, ${rows} rows`;
	});
	const onCanvas = async (...points) => {
		const [left, top, width] = await tab.run("(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return [r.left, r.top, r.width]; })()");
		for (const [type, share, more] of points)
			await tab.mouse(type, left + width * share, top + 60, more);
		await tab.drawn();
		return tab.run("({ range: ktape.timeline.range, drag: ktape.timeline.drag ?? null })");
	};
	await test("Escape gives up a drag, and so does a lost pointer; the right button begins none", async () => {
		await tab.run("ktape.clear(); document.activeElement.blur()");
		const begun = await onCanvas(["mousePressed", 0.2], ["mouseMoved", 0.3], ["mouseMoved", 0.4]);
		await tab.key("Escape");
		const given = await onCanvas(["mouseMoved", 0.5], ["mouseReleased", 0.5]);
		await onCanvas(["mousePressed", 0.2], ["mouseMoved", 0.3], ["mouseMoved", 0.4]);
		await tab.run("(() => { const c = document.getElementById('canvas'); c.releasePointerCapture(ktape.timeline.drag.id); })()");
		const lost = await onCanvas(["mouseMoved", 0.5], ["mouseMoved", 0.6]);
		await onCanvas(["mouseReleased", 0.6]);
		const right = { button: "right", buttons: 2 }, menu = await onCanvas(["mousePressed", 0.2, right], ["mouseMoved", 0.4, right], ["mouseMoved", 0.5, right]);
		await onCanvas(["mouseReleased", 0.5, { button: "right" }]);
		const none = { range: null, drag: null };
		return begun.range && begun.drag ? differ([given, lost, menu], [none, none, none]) : JSON.stringify(begun);
	});
	await test("[ and ] measure from one selected event to another", async () => {
		const at = await tab.run("ktape.model.events.n >> 1");
		const ends = await tab.run(`[ktape.model.events.t[${at}], ktape.model.events.t[${at} + 40]]`), ranges = [];
		await tab.run("ktape.clear(); document.activeElement.blur()");
		for (const [event, key] of [[at, "["], [at + 40, "]"], [at + 40, "["], [at, "["]]) {
			await tab.run(`ktape.selectEvent(${event}, true)`);
			await tab.key(key);
			ranges.push(await tab.run("ktape.timeline.range && [ktape.timeline.range.from, ktape.timeline.range.to]"));
		}
		await tab.run("ktape.clear()");
		return ends[0] < ends[1] ? differ(ranges, [null, ends, null, null]) : `${ends}`;
	});
	await test("from a wait the next shorter one of the thread is one click away, and the next longer one back", async () => {
		const press = (text) => tab.run(`[...document.querySelectorAll("#details button")].find((b) => b.textContent === "${text}").click()`);
		const at = () => tab.run("(() => { const s = ktape.model.spans, i = ktape.selected.span; return [i, s.tid[i], s.end[i] - s.begin[i]]; })()");
		// The longest wait of a thread that waited more than once.
		await tab.run(`(() => { const s = ktape.model.spans, waits = (i) => s.kind[i] === 11 && [0, 9, 16].includes(s.b[i]) && !(s.flags[i] & 8), n = new Map();
			for (let i = 0; i < s.n; i++)
				n.set(s.tid[i], (n.get(s.tid[i]) ?? 0) + waits(i));
			ktape.jump({ span: ktape.model.longest((i) => waits(i) && n.get(s.tid[i]) > 1) }); })()`);
		const first = await at(), waits = await tab.run(`(() => { const s = ktape.model.spans, all = [];
			for (let i = 0; i < s.n; i++) if (s.kind[i] === 11 && s.tid[i] === ${first[1]} && [0, 9, 16].includes(s.b[i]) && !(s.flags[i] & 8)) all.push(s.end[i] - s.begin[i]);
			return all.sort((x, y) => y - x); })()`);
		if (waits.length < 2)
			return `${waits.length} waits`;
		await press("Next shorter");
		const second = await at(), text = await tab.run("document.getElementById('details').textContent");
		await press("Next longer");
		return differ([first[2], second[1], second[2], await at()], [waits[0], first[1], waits[1], first]) || (/2 of \S+ such waits/.test(text.replace(/[\u2009\u202f ]+/g, " ")) ? "" : text);
	});
	await test("search shows tracks by name, and Enter leads to a span", async () => {
		const name = stats.threads.find((t) => t.tid > 0).name;
		await tab.run(`(() => { const s = document.getElementById("search"); s.value = ${JSON.stringify(name)}; s.dispatchEvent(new Event("input")); })()`);
		await tab.run("ktape.clear(); ktape.view.fit()");
		const shown = await tab.run("ktape.timeline.shown.map((t) => [t.label, ...t.called].join())");
		await tab.run(`document.getElementById("search").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }))`);
		const title = await tab.run("ktape.selected.span >= 0 ? ktape.model.title(ktape.selected.span) : ''");
		await tab.run(`(() => { const s = document.getElementById("search"); s.value = ""; s.dispatchEvent(new Event("input")); })()`);
		return shown.length && shown.every((l) => l.includes(name)) && title.includes(name) ? "" : `${shown.slice(0, 5)}: ${title}`;
	});
	await test("the list of events filters, and n and p go through it", async () => {
		await tab.run("ktape.clear(); document.querySelector('[data-tab=list]').click(); ktape.list.setFilter('sched_switch cpu:0')");
		await tab.until("/ of /.test(document.getElementById('event-told').textContent)");
		const [nr, told] = await tab.run("[ktape.list.n, document.getElementById('event-told').textContent.replace(/\\D+/g, ' ')]");
		await tab.run("document.getElementById('step').value = 'switch'; document.activeElement.blur()");
		await tab.key("n");
		const first = await tab.run("ktape.selected.event");
		await tab.key("n");
		const second = await tab.run("ktape.selected.event");
		await tab.key("p");
		const again = await tab.run("ktape.selected.event");
		await tab.run("ktape.list.setFilter('')");
		return nr > 0 && first >= 0 && second > first && again === first ? "" : JSON.stringify([nr, told, first, second, again]);
	});
	await tab.shot(join(shots, "events-light.png"));
	await test("the address leads to the same moment", async () => {
		await tab.run("ktape.jump({ span: ktape.model.longestOf('run_queue', null) })");
		const [hash, state] = await tab.run("[ktape.link, [Math.round(ktape.view.from), Math.round(ktape.view.to), ktape.selected.span]]");
		const other = await browser.page(1366, 768);
		await other.open(url(page) + hash);
		await other.drawn();
		const there = await other.run("[Math.round(ktape.view.from), Math.round(ktape.view.to), ktape.selected.span]");
		await tab.send("Page.bringToFront");
		return differ(there, state);
	});
	await test("every control has a name for screen readers, on every tab and in the help", async () => {
		for (const id of await tab.run("[...document.querySelectorAll('[role=tab]:not([hidden])')].map((e) => e.dataset.tab)")) {
			await tab.run(`document.querySelector("[data-tab=${id}]").click()`);
			const { nr, without } = await unnamed(tab);
			if (nr < 30 || without.length)
				return `${id}: ${nr} controls; without a name: ${without}`;
		}
		await tab.key("?");
		const { nr, without } = await unnamed(tab);
		await tab.shot(join(shots, "help-light.png"));
		await tab.run("document.getElementById('help').close()");
		return nr ? differ(without, []) : "no control in the help";
	});
	await test("screen readers get the events as one table with its head, and rows that lead somewhere as those of a grid", async () => {
		await tab.run("ktape.list.setFilter(''); document.querySelector('[data-tab=list]').click(); ktape.selectEvent(ktape.list.n >> 1, true)");
		await tab.until("document.querySelector('#event-lines .selected')");
		const list = await tab.run(`(() => { const table = document.querySelector("#tab-list [role=table]"), at = document.querySelector("#event-lines .selected");
			return [Number(table.getAttribute("aria-rowcount")) - ktape.list.n, Number(at.getAttribute("aria-rowindex")) - ktape.list.lineOf(ktape.selected.event),
				table.querySelectorAll("[role=columnheader]").length, table.contains(at), at.children.length]; })()`);
		const bad = await tab.run(`[...document.querySelectorAll("tr[tabindex]")].filter((r) => r.closest("table").getAttribute("role") !== "grid").length`);
		await tab.run("document.querySelector('[data-tab=threads]').click(); document.querySelectorAll('#tab-threads tr.jump')[0].focus()");
		await tab.key("ArrowDown");
		const at = await tab.run("[...document.querySelectorAll('#tab-threads tr.jump')].indexOf(document.activeElement)");
		await tab.run("ktape.clear(); document.activeElement.blur()");
		return differ([list, bad, at], [[1, 2, 6, true, 6], 0, 1]);
	});
	await test("colours that stand side by side differ for colour-blind eyes, light and dark", async () => {
		const running = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `t${i}`);
		const groups = [[["ready"], ["blocked"], ["deep"], running], [["idle"], running], [["call"], ["irq"], ["softirq"], ["tick"], ["timer"]],
			[["exception"], ["mark"], ["trigger"]]];
		for (const theme of ["light", "dark"]) {
			await tab.theme(theme);
			await tab.until(`matchMedia("(prefers-color-scheme: ${theme})").matches`);
			const found = alike(await tab.run("(ktape.timeline.painter.newColours(), ktape.timeline.painter.colours)"), groups, 12);
			if (found.length)
				return `${theme}: ${found.join("; ")}`;
		}
		return "";
	});
	await test("text stands out from its background, light and dark", async () => {
		for (const theme of ["light", "dark"]) {
			await tab.theme(theme);
			const low = await tab.run(`(${contrast})()`);
			if (low.length)
				return `${theme}: ${low.join(", ")}`;
		}
		return "";
	});
	await tab.shot(join(shots, "laptop-dark.png"));
	await test("at 200 % nothing is cut off sideways", async () => {
		await tab.resize(683, 384, 2);
		await tab.drawn();
		const [inner, outer] = await tab.run("[document.documentElement.scrollWidth, window.innerWidth]");
		await tab.shot(join(shots, "zoomed-dark.png"));
		await tab.resize(2560, 1300);
		await tab.theme("light");
		await tab.shot(join(shots, "wide-light.png"));
		return inner <= outer ? "" : `${inner} of ${outer} pixels`;
	});
	await test("the whole trace is drawn with at most a span for each pixel of a row", async () => {
		await tab.run("ktape.view.fit(); ktape.timeline.painter.drawn = 0; ktape.timeline.drawNow()");
		const [drawn, width, rows] = await tab.run(`[ktape.timeline.painter.drawn, ktape.timeline.width,
			ktape.timeline.shown.reduce((n, t) => n + t.rows.length, 0)]`);
		console.log(`# ${drawn} of ${await tab.run("ktape.model.spans.n")} spans are drawn`);
		return drawn > 0 && drawn <= rows * (width + 2) ? "" : `${drawn} spans, ${rows} rows of ${width} pixels`;
	});
	await test("a frame takes calls of the canvas for the pixels of the visible rows, not for the spans", async () => {
		const counts = [];
		// Narrow, so that many spans share each pixel.
		await tab.resize(480, 768);
		await tab.drawn();
		await tab.run("ktape.timeline.box.scrollTop = 0");
		for (const share of [1, 0.2, 0.01]) {
			const [calls, rows, width] = await tab.run(`(() => { const { timeline, view } = ktape, g = CanvasRenderingContext2D.prototype, kept = {};
				let calls = 0;
				const middle = (view.first + view.last) / 2, length = (view.last - view.first) * ${share};
				view.set(middle - length / 2, middle + length / 2);
				for (const name of ["fillRect", "strokeRect", "fillText", "drawImage", "putImageData", "stroke", "fill", "clip"]) {
					kept[name] = g[name];
					g[name] = function (...a) { calls++; return kept[name].apply(this, a); };
				}
				try {
					timeline.drawNow();
				} finally {
					Object.assign(g, kept);
				}
				const top = timeline.box.scrollTop, bottom = top + timeline.box.clientHeight;
				return [calls, timeline.shown.filter((t) => t.y < bottom && t.y + 18 * t.rows.length > top).reduce((n, t) => n + Math.max(t.rows.length, 1), 0), timeline.width]; })()`);
			counts.push(`${calls} calls for ${rows} rows of ${width} pixels`);
			// Of a row: an image, a box for each pixel at most, a text for each 26 pixels, notes.
			if (!calls || calls > rows * (width + width / 26 * 2 + 20) + 200)
				return counts.at(-1);
		}
		console.log(`# ${counts.join("; ")}`);
		return "";
	});
	await test("losses are hatched, counted, and make the trace incomplete", async () => {
		await tab.resize(1366, 768);
		await tab.open(url(lossy));
		const [state, losses] = await tab.run("[document.getElementById('state').className, ktape.model.tracks.reduce((n, t) => n + t.losses.length, 0)]");
		await tab.run("ktape.jump({ span: ktape.model.longest((i) => ktape.model.spans.kind[i] === 8) }); ktape.view.fit()");
		await tab.shot(join(shots, "lost-light.png"));
		return state === "bad" && losses > 0 ? "" : `${state}, ${losses} losses`;
	});
	await test("the line about a lossy trace tells all losses that its packets and its ledgers tell", async () => {
		const have = await headline(), want = countsOf(`${lostFile}.jsonl`);
		const told = Number(/(\d+) events lost in \d+ gaps?\s*$/.exec(readFileSync(lostFile, "utf8"))?.[1]);
		const missing = have.emitted === null ? told : want.emitted - want.stored - want.filtered;
		return differ([have.stored, have.lost, have.lost >= told, told > 0], [want.stored, missing, true, true]) || (/incomplete/.test(have.line) ? "" : have.line);
	});
	await test("losses are drawn when ktape dump says that they were, with its counts of events and packets", async () => {
		const told = [...readFileSync(lostFile, "utf8").matchAll(/cpu(\d+): (\d+) events lost between \[([\d.]+)\] and \[([\d.]+)\](?:, (\d+) packets? missing)?/g)];
		const [drawn, zero] = await tab.run(`(() => { const s = ktape.model.spans, found = [];
			for (let i = 0; i < s.n; i++) if (s.kind[i] === 8) found.push([s.cpu[i], s.a[i], s.begin[i], s.end[i], Number(/(\\d+) packets? missing/.exec(new Map(ktape.model.describe(i)).get("reason").replace(/\\s/g, " "))?.[1] ?? 0)]);
			return [found, ktape.model.about.mono_ns]; })()`);
		const ns = (text) => Number(BigInt(text.replace(".", "")) - BigInt(zero)), near = (x, y) => Math.abs(x - y) <= 2;
		const missing = told.filter(([, cpu, n, from, to, packets = 0]) => !drawn.some((d) => d[0] === Number(cpu) && d[1] === Number(n) && near(d[2], ns(from)) && near(d[3], ns(to)) && d[4] === Number(packets)));
		return told.length && !missing.length ? "" : `${told.length} told, not drawn: ${missing.slice(0, 3).map((m) => m[0])}; drawn: ${JSON.stringify(drawn.slice(0, 5))}`;
	});
	await test("a hatched loss is where it was: its pixels have the colour of losses", async () => {
		const [hatched, around] = await tab.run(`(async () => {
			const { model, view, timeline } = ktape, s = model.spans, length = (k) => s.end[k] - s.begin[k];
			const isLoss = (k) => s.kind[k] === 8;
			// A side on which, as far as it is long, no other loss of its CPU is hatched.
			const losses = [...s.kind.keys()].filter(isLoss);
			const free = (k, from, to) => !losses.some((o) => o !== k && s.cpu[o] === s.cpu[k] && s.end[o] > from && s.begin[o] < to);
			const sides = (k) => [[s.begin[k] - length(k), s.begin[k]], [s.end[k], s.end[k] + length(k)]].filter(([from, to]) => free(k, from, to));
			const i = model.longest((k) => isLoss(k) && sides(k).length);
			if (i < 0)
				return null;
			ktape.jump({ span: i });
			view.set(s.begin[i] - length(i), s.end[i] + length(i));
			ktape.clear();
			timeline.drawNow();
			const colour = timeline.painter.colours.lost.match(/\\w\\w/g).map((h) => parseInt(h, 16));
			const g = timeline.canvas.getContext("2d"), y = model.placeOf(i)?.track.y ?? model.tracks.find((t) => t.losses.includes(i)).y;
			const nr = (from, to) => {
				const x = Math.round(view.x(from, timeline.width)), w = Math.round(view.x(to, timeline.width)) - x;
				const { data } = g.getImageData(x + 2, y - timeline.box.scrollTop + 2, Math.max(w - 4, 1), 20);
				let n = 0;
				for (let k = 0; k < data.length; k += 4)
					n += colour.every((c, at) => Math.abs(data[k + at] - c) < 12);
				return n / (data.length / 4);
			};
			return [nr(s.begin[i], s.end[i]), Math.max(...sides(i).map(([from, to]) => nr(from, to)))];
		})()`) ?? [];
		return hatched === undefined ? "each loss has others on both sides" : hatched > 0.05 && around < hatched / 3 ? "" : `${hatched} of the pixels, ${around} beside it`;
	});
	await test("a page with a damaged block says where, and shows the rest", async () => {
		const text = readFileSync(page, "latin1"), at = text.indexOf("data-kind=\"spans\"");
		const from = text.indexOf(">", at) + 200, bad = join(shots, "damaged.html");
		writeFileSync(bad, text.slice(0, from) + (text[from] === "A" ? "B" : "A") + text.slice(from + 1), "latin1");
		await tab.open(url(bad));
		const [notes, rest] = await tab.run("[document.getElementById('notes').textContent, ktape.model.events.n]");
		const offset = text.lastIndexOf("<script", at);
		return notes.includes(`at byte ${offset} `) && rest > 0 ? "" : `${notes}; ${rest} events; ${offset}`;
	});
	await test("no error was thrown", () => differ(tab.errors, []));
} finally {
	await browser.close();
}
plan();

/* The same rule as text.mjs: run in the page, whose functions are not visible. */
function duration(ns)
{
	for (const [unit, size, least] of [["s", 1e9, 999950e3], ["ms", 1e6, 999950], ["µs", 1e3, 1e3]]) {
		if (Math.abs(ns) >= least)
			return `${(ns / size).toFixed(ns / size >= 100 ? 1 : ns / size >= 10 ? 2 : 3)} ${unit}`;
	}
	return `${ns} ns`;
}

/* Run in the page: pairs of colours with a contrast below that of WCAG's level AA. */
function contrast()
{
	const probe = document.createElement("i");
	document.body.append(probe);
	const light = (name) => {
		probe.style.color = `var(--${name})`;
		const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map((v) => {
			const c = v / 255;
			return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
		});
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const ratio = (a, b) => {
		const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
		return (x + 0.05) / (y + 0.05);
	};
	const pairs = [["ink", "paper"], ["faint", "paper"], ["faint", "panel"], ["good", "paper"], ["bad", "paper"], ["unknown", "paper"],
		["ink", "idle"], ["ink", "blocked"], ...["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "irq", "softirq", "tick", "timer",
			"ready", "deep", "call", "work", "mark", "block", "state"].map((c) => ["span-ink", c])];
	const low = pairs.filter(([a, b]) => ratio(a, b) < 4.5).map(([a, b]) => `${a} on ${b} ${ratio(a, b).toFixed(2)}`);
	probe.remove();
	return low;
}
