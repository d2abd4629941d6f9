// SPDX-License-Identifier: GPL-2.0-only
// Filters, the sequential view, statistics of an interval, and saving it: compared with
// the lines of ktape dump --json of the same trace.
// usage: check_export.mjs CHROMIUM KTAPE PAGE TRACE SHOTS

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";

import { Browser } from "./chromium.mjs";
import { differ, plan, test } from "./tap.mjs";

const [chromium, ktape, page, trace, shots] = process.argv.slice(2);
const folder = resolve(shots, "saved"), browser = new Browser(chromium);
const dump = (...more) => execFileSync(ktape, ["dump", "--json", ...more, trace], { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] })
	.toString().split("\n").filter((l) => l && !/"event":"(registry|time_extend)"/.test(l));
/* Numbers of 64 bits do not fit: fields are compared as texts. */
const parse = (line) => ({ ...JSON.parse(line), text: /"fields":(\{.*\})\}$/.exec(line.replace(/,"source":.*$/, "}"))[1] });
const lines = dump().map(parse);
const listed = JSON.parse(execFileSync(ktape, ["list", "--json"]).toString());

/** Split a line of CSV, in which a quote is doubled, into cells. */
function cells(row)
{
	return [...row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) => m[1]?.replace(/""/g, "\"") ?? m[2]);
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
try {
	const tab = await browser.page(1366, 768), download = await browser.downloadsTo(folder);
	await tab.open(`file://${resolve(page)}`);

	async function press(id)
	{
		const [x, y] = await tab.run(`(() => { const r = document.getElementById("${id}").getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`);
		await tab.click(x, y);
	}

	/** Show an interval of @nr events, about @share of the way; return its lines. */
	async function showPart(share, most)
	{
		const first = Math.floor(lines.length * share), nr = Math.min(most, lines.length - first - 1), from = BigInt(lines[first].ts), to = BigInt(lines[first + nr].ts), zero = BigInt(lines[0].ts);
		await tab.run(`ktape.clear(); ktape.view.set(${from - zero}, ${to - zero})`);
		await tab.drawn();
		return lines.filter((l) => BigInt(l.ts) >= from && BigInt(l.ts) < to);
	}

	await test("JSON lines of the visible interval are the events of ktape dump", async () => {
		const wanted = await showPart(0.4, 500), path = await download(() => press("json"));
		const saved = readFileSync(path, "utf8").trim().split("\n").map(parse);
		return differ(basename(path), "ktape-events.jsonl") || differ(saved.length, wanted.length) ||
			saved.map((l, i) => differ([l.ts, l.cpu, l.tid, l.comm, l.event, l.text],
				[wanted[i].ts, wanted[i].cpu, wanted[i].tid, wanted[i].comm, wanted[i].event, wanted[i].text])).find(Boolean) || "";
	});
	await test("CSV of a selected interval is what ktape dump prints of these times", async () => {
		const part = await showPart(0.6, 300), zero = BigInt(lines[0].ts), [a, b] = [part[50], part[250]].map((l) => BigInt(l.ts));
		await tab.run(`ktape.timeline.range = { from: ${a - zero}, to: ${b - zero} }`);
		// --to-time has the last nanosecond in it.
		const wanted = dump("--from-time", `${a}ns`, "--to-time", `${b - 1n}ns`).map(parse), path = await download(() => press("csv"));
		const [head, ...rows] = readFileSync(path, "utf8").trim().split("\r\n").map(cells);
		return differ([basename(path), head, rows.length], ["ktape-events.csv", ["ts_ns", "cpu", "tid", "comm", "event", "fields"], wanted.length]) ||
			rows.map((r, i) => differ(r, [wanted[i].ts, String(wanted[i].cpu), String(wanted[i].tid ?? ""), wanted[i].comm ?? "", wanted[i].event, wanted[i].text])).find(Boolean) || "";
	});
	await test("all that is saved, as JSON lines and as CSV, is what ktape dump prints: no line differs", async () => {
		await tab.run("ktape.clear(); ktape.view.fit()");
		await tab.drawn();
		const wanted = dump(), json = readFileSync(await download(() => press("json")), "utf8").trim().split("\n");
		const bare = wanted.map((l) => l.replace(/"ring":"\w+",/, "")), rows = readFileSync(await download(() => press("csv")), "utf8").trim().split("\r\n").slice(1);
		const quoted = (text) => `"${text.replace(/"/g, '""')}"`, line = (l) => `${l.ts},${l.cpu},${l.tid ?? ""},${quoted(l.comm ?? "")},${l.event},${quoted(l.text)}`;
		const names = new Map();
		for (const l of lines)
			names.set(l.tid, (names.get(l.tid) ?? new Set()).add(l.comm));
		const several = [...names.values()].filter((set) => set.size > 1).length;
		console.log(`# ${json.length} lines, ${several} threads with several names`);
		return differ([json.length, rows.length], [bare.length, bare.length]) || json.map((l, i) => differ(l, bare[i])).find(Boolean) ||
			rows.map((l, i) => differ(l, line(lines[i]))).find(Boolean) || "";
	});
	await test("an interval says how often each event was in it, and how long threads ran", async () => {
		// Not while the session paused, sched_switch was off, or events were lost: there the page claims less.
		const share = await tab.run(`(() => { const s = ktape.model.spans, times = ${JSON.stringify(lines.map((l) => Number(BigInt(l.ts) - BigInt(lines[0].ts))))};
			const gaps = [...s.kind.keys()].filter((i) => s.kind[i] === 8 || (s.kind[i] === 17 && [0, 4].includes(s.depth[i])));
			return [0.5, 0.4, 0.6, 0.3, 0.2, 0.7, 0.1].find((share) => { const first = Math.floor(times.length * share), last = Math.min(first + 2000, times.length - 1);
				return !gaps.some((i) => s.end[i] > times[first] && s.begin[i] < times[last]); }) ?? -1; })()`);
		if (share < 0)
			return "no part of the trace has all switches";
		const wanted = await showPart(share, 2000), box = await tab.run("(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return [r.left, r.top, r.width]; })()");
		for (const [type, at] of [["mousePressed", 1], ["mouseMoved", 0.5], ["mouseReleased", 0.25]])
			await tab.mouse(type, box[0] + box[2] * at - 1, box[1] + 40);
		await tab.drawn();
		const range = await tab.run("ktape.timeline.range"), zero = BigInt(lines[0].ts), counts = new Map();
		const inside = wanted.filter((l) => BigInt(l.ts) - zero >= range.from && BigInt(l.ts) - zero < range.to);
		for (const l of inside)
			counts.set(l.event, (counts.get(l.event) ?? 0) + 1);
		const [captions, rows] = await tab.run("[[...document.querySelectorAll('#tab-range caption')].map((c) => c.textContent), [...document.querySelectorAll('#tab-range table')].map((t) => [...t.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent)))]");
		const shown = rows[2].map(([name, n]) => [name, Number(n.replace(/\D/g, ""))]).sort();
		await tab.shot(join(shots, "interval-light.png"));
		// Who ran, from the switches.  Before the first one of a CPU the record "context" says it.
		const ran = new Map(), last = new Map(), add = (cpu, to) => {
			const { tid, from } = last.get(cpu) ?? { tid: -1, from: range.to };
			const ns = Math.min(to, range.to) - Math.max(from, range.from);
			if (ns > 0)
				ran.set(tid, (ran.get(tid) ?? 0) + ns);
		};
		for (const l of lines) {
			const at = Number(BigInt(l.ts) - zero), tid = l.event === "sched_switch" ? l.fields.next_tid : l.event === "context" ? l.fields.tid : -1;
			if (tid < 0)
				continue;
			add(l.cpu, at);
			last.set(l.cpu, { tid, from: at });
		}
		for (const cpu of last.keys())
			add(cpu, range.to);
		const longest = [...ran].sort((x, y) => y[1] - x[1]).slice(0, 12).map(([, ns]) => (100 * ns / (range.to - range.from)).toFixed(1));
		return differ([Number(captions[2].replace(/\D/g, "")), shown], [inside.length, [...counts].sort((x, y) => y[1] - x[1]).slice(0, 16).sort()]) ||
			differ(rows[0].map((r) => parseFloat(r[2]).toFixed(1)), longest);
	});
	await test("Enter on a row of the interval leads to what it counts", async () => {
		await tab.run("ktape.selected.span = -1; document.querySelectorAll('#tab-range table')[1].querySelector('tr.jump').focus()");
		await tab.key("Enter");
		return await tab.run("ktape.selected.span") >= 0 ? "" : "nothing was selected";
	});
	const classOf = new Map(listed.map((e) => [e.name, e.class]));
	const most = lines[lines.length >> 1], someone = lines.find((l) => l.tid > 0), number = lines.find((l) => l.fields.tid > 0)?.fields.tid;
	for (const [text, keep] of [
		["sched_sw*", (l) => /^sched_sw/.test(l.event)],
		["name:sched_switch", (l) => l.event === "sched_switch"],
		["class:sched", (l) => classOf.get(l.event) === "sched"],
		[`cpu:${most.cpu}`, (l) => l.cpu === most.cpu],
		["cpu:0,1 class:irq", (l) => l.cpu <= 1 && classOf.get(l.event) === "irq"],
		[`thread:${someone.tid}`, (l) => l.tid === someone.tid],
		[`tid=${number}`, (l) => l.fields.tid === number],
		["next_prio<120", (l) => l.fields.next_prio < 120],
		["next_tid!=0 sched_switch", (l) => l.event === "sched_switch" && l.fields.next_tid !== 0],
		[`"${JSON.stringify(someone.comm).slice(1, -1)}"`, (l) => l.text.toLowerCase().includes(someone.comm.toLowerCase())],
	]) {
		await test(`the filter ${text} lists the events that have it, in their order`, async () => {
			await tab.run(`(() => { document.querySelector("[data-tab=list]").click(); document.getElementById("event-told").textContent = "";
				const f = document.getElementById("filter"); f.value = ${JSON.stringify(text)}; f.dispatchEvent(new Event("input")); })()`);
			await tab.until("/ of /.test(document.getElementById('event-told').textContent)");
			const got = await tab.run("[...ktape.list.found]"), wanted = lines.map((l, i) => keep(l) ? i : -1).filter((i) => i >= 0);
			return differ([got.length, got.find((i, k) => i !== wanted[k])], [wanted.length, undefined]);
		});
	}
	await test("the address keeps the filter", async () => {
		await tab.until("location.hash.endsWith(`filter=${encodeURIComponent(document.getElementById('filter').value)}`)");
		const hash = await tab.run("location.hash"), n = await tab.run("ktape.list.n"), other = await browser.page(1366, 768);
		await other.open(`file://${resolve(page)}${hash}`);
		await other.until(`ktape.list.n === ${n}`);
		await tab.send("Page.bringToFront");
		return differ(await other.run("document.getElementById('filter').value"), await tab.run("document.getElementById('filter').value"));
	});
	await test("a wrong filter says what is wrong, and changes nothing", async () => {
		const before = await tab.run("ktape.list.n");
		await tab.run("ktape.list.setFilter('cpu:x')");
		return differ(await tab.run("[ktape.list.n, document.getElementById('event-told').textContent]"), [before, "cpu:x: give numbers of CPUs, such as cpu:0,2"]);
	});
	await test("the sequential view has a line for each event, with its time, CPU, thread and fields", async () => {
		await tab.run("ktape.list.setFilter('')");
		await tab.until(`ktape.list.n === ${lines.length}`);
		const at = lines.length >> 1;
		await tab.run(`ktape.selectEvent(${at}, true)`);
		await tab.until(`document.querySelector("#event-lines .selected")?.dataset.event === "${at}"`);
		const shown = await tab.run("[...document.querySelectorAll('#event-lines .line')].map((r) => [Number(r.dataset.event), ...[...r.children].map((c) => c.textContent)])");
		const zero = BigInt(lines[0].ts);
		return shown.length > 3 ? shown.map(([i, t, , cpu, , name, fields]) => differ([t, cpu, name, fields],
			[(Number(BigInt(lines[i].ts) - zero) / 1e9).toFixed(9), String(lines[i].cpu), lines[i].event, lines[i].text.slice(1, -1).replace(/"/g, "").slice(0, 400)])).find(Boolean) ?? "" : `${shown.length} lines`;
	});
	await test("m measures the selected span: the time is that of its fields", async () => {
		await tab.run("ktape.jump({ span: ktape.model.longestOf('run_queue', null) }); document.activeElement.blur()");
		await tab.key("m");
		const [range, span, said] = await tab.run(`(() => { const s = ktape.model.spans, i = ktape.selected.span;
			return [ktape.timeline.range, { from: s.begin[i], to: s.end[i] }, document.querySelector("#tab-range caption").textContent]; })()`);
		const exact = / = ([^=]+) ns on all CPUs$/.exec(said)?.[1].replace(/\D/g, "");
		return differ(range, span) || (/^[\d.]+ (s|ms|µs|ns) = /.test(said) ? differ(exact, String(span.to - span.from)) : said);
	});
	await test("no error was thrown", () => differ(tab.errors, []));
} finally {
	await browser.close();
}
plan();
