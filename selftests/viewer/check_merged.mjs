// SPDX-License-Identifier: GPL-2.0-only
// Pages that have less than the trace: merged spans, some of the events, one process.
// Their numbers and jumps are those of the page with everything and of ktape stats, or the
// page says that they are not exact.
// usage: check_merged.mjs CHROMIUM KTAPE TRACE SHOTS

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";

import { Browser } from "./chromium.mjs";
import { differ, plan, test } from "./tap.mjs";

const [chromium, ktape, trace, shots] = process.argv.slice(2);
const folder = resolve(shots, "less"), browser = new Browser(chromium);
const statsOf = (path) => JSON.parse(execFileSync(ktape, ["stats", "--json", path], { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] }).toString());
const stats = statsOf(trace), someone = stats.threads.find((t) => t.tid > 0 && t.waits).tid;

/** Convert the trace, and open the page in a new tab. */
async function openPage(name, to, ...more)
{
	const path = join(folder, `${name}.html`), tab = await browser.page(1366, 768);
	execFileSync(ktape, ["convert", "-q", "--to", to, "-o", path, ...more, trace], { stdio: ["ignore", "ignore", "pipe"] });
	await tab.open(`file://${path}`);
	return tab;
}

/** Measure an interval: { captions, tables: rows of cells, notes }, as they are on the screen. */
function interval(tab, { from, to })
{
	return tab.run(`(() => { const range = { from: ${from}, to: ${to} }, box = document.getElementById("tab-range");
		ktape.timeline.range = range; ktape.choose({ range });
		return { captions: [...box.querySelectorAll("caption")].map((c) => c.textContent), notes: [...box.querySelectorAll("p.note")].map((p) => p.textContent),
			tables: [...box.querySelectorAll("table")].map((t) => [...t.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.textContent))) }; })()`);
}

/** Compare rows by their first cell.  Those that say that they are not exact may differ. */
function alike(got, wanted, mayDiffer)
{
	const by = new Map(wanted.map((r) => [r[0], r])), sure = (r) => !r.some((c) => /≈|not exact/.test(c));
	const wrong = got.filter((r) => mayDiffer && !sure(r) ? false : JSON.stringify(r) !== JSON.stringify(by.get(r[0])) && r[0] !== "idle");
	return wrong.map((r) => `${r}, not ${by.get(r[0])}`).join("\n");
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
try {
	const full = await openPage("full", "html:spans=10000000,events=10000000"), { n, last } = await full.run("({ n: ktape.model.spans.n, last: ktape.model.last })");
	const room = Math.max(1000, Math.min(4000, n >> 1)), merged = await openPage("merged", `html:spans=${room}`), whole = { from: -1, to: last + 1 };

	await test("the merged page says how many spans it has of how many", async () => {
		const [has, of, notes] = await merged.run("[ktape.model.spans.n, ktape.model.about.all_spans, document.getElementById('notes').textContent.replace(/[\\u2009\\u202f ]/g, '')]");
		return has <= room && of === n && notes.includes(`has${n}spans`) ? "" : `${has} of ${of}, not ${n}: ${notes}`;
	});
	await test("the interval of the whole trace has the same numbers in both pages", async () => {
		const [x, y] = [await interval(full, whole), await interval(merged, whole)];
		return x.tables[1].length < 2 ? `only ${x.tables[1].length} kinds` : differ([y.captions[0], y.tables[2], y.tables[1].length], [x.captions[0], x.tables[2], x.tables[1].length]) ||
			alike(y.tables[0].slice(0, 10), x.tables[0]) || alike(y.tables[1], x.tables[1]);
	});
	// An interval with an end within merged spans, and few enough spans to have all of them.
	const part = await merged.run(`(() => { const s = ktape.model.spans, length = Math.round(${last} / 100);
		for (const [i, m] of s.merged) {
			const from = Math.round((s.begin[i] + s.end[i]) / 2);
			if (m.count > 2 && s.kind[i] === 10 && from + length < ${last})
				return { from, to: from + length };
		}
		return null; })()`);
	while (await full.run(`(() => { const s = ktape.model.spans;
		return [...s.kind.keys()].filter((i) => s.begin[i] < ${part.to} && s.end[i] > ${part.from}).length; })()`) > room / 4)
		part.to = part.from + Math.round((part.to - part.from) / 2);
	let option = "";
	await test("numbers of a part are the same, or marked, with the option that makes them exact", async () => {
		const [x, y] = [await interval(full, part), await interval(merged, part)];
		await merged.shot(join(shots, "merged-light.png"));
		option = /html:(exact=\S+)/.exec(y.notes.join(" "))?.[1] ?? "";
		return alike(y.tables[0].slice(0, 10), x.tables[0], true) || alike(y.tables[1], x.tables[1], true) ||
			(y.tables.flat(2).some((c) => c.startsWith("≈")) && option ? differ(x.notes, []) : `nothing is marked: ${y.notes}`);
	});
	await test("a page that is converted with this option has the exact numbers", async () => {
		const tab = await openPage("exact", `html:spans=${room},${option}`), [x, y] = [await interval(full, part), await interval(tab, part)];
		return differ([y.notes, y.tables[1], y.tables[2]], [[], x.tables[1], x.tables[2]]) || alike(y.tables[0].slice(0, 10), x.tables[0]);
	});
	await test("rows of the latencies lead to their moments, and to no merged span", async () => {
		const wanted = stats.series.filter((s) => s.count || s.uncertain).slice(0, 100), wrong = [];
		for (const [i, s] of wanted.entries()) {
			if (!s.count)
				continue;
			const [from, to, flags, zero] = await merged.run(`(() => { document.querySelectorAll("#tab-latencies tbody tr")[${i}].click();
				return [ktape.view.from, ktape.view.to, ktape.model.spans.flags[ktape.selected.span] ?? 0, ktape.model.about.mono_ns]; })()`);
			const end = Number(BigInt(s.max_end_ns) - BigInt(zero));
			if (from > end || to < end || flags & 8)
				wrong.push(`${s.kind} ${s.name}: ${end}, shown ${from} to ${to}, flags ${flags}`);
		}
		return wrong.slice(0, 5).join("\n");
	});
	await test("rows of the threads lead to waits as long as they say, or to the thread alone", async () => {
		const wrong = [];
		let right = 0;
		for (const [i, t] of stats.threads.slice(0, 60).entries()) {
			const [span, tid, ns, flags] = await merged.run(`(() => { ktape.clear(); document.querySelectorAll("#tab-threads tbody tr")[${i}].click();
				const k = ktape.selected.span, s = ktape.model.spans; return [k, s.tid[k], s.end[k] - s.begin[k], s.flags[k]]; })()`);
			if (span >= 0 && (tid !== t.tid || Math.abs(ns - t.wait_max_ns) > 2 || flags & 8))
				wrong.push(`${t.name} ${t.tid}: ${ns} of ${tid}, flags ${flags}, not ${t.wait_max_ns}`);
			right += span >= 0;
		}
		return wrong.slice(0, 5).join("\n") || (right ? "" : "no row leads to a wait");
	});
	await test("what ran instead of a wait is said to be not exact where spans of its CPU are merged", async () => {
		const [certain, mixed, wrong] = await merged.run(`(() => { const { model } = ktape, s = model.spans, wrong = []; let certain = 0, mixed = 0;
			for (let i = 0; i < s.n; i++) {
				if (s.kind[i] !== 11 || s.flags[i] & 8 || ![0, 9, 16].includes(s.b[i]))
					continue;
				const unsure = model.queuesOf(i).some((q) => { const lane = model.runs.get(q.cpu);
					return [...lane.list].some((k) => s.flags[k] & 8 && s.begin[k] < q.to && s.end[k] > q.from); });
				ktape.selectSpan(i);
				if (/not exact: short spans/.test(document.getElementById("details").textContent) !== unsure)
					wrong.push(i);
				unsure ? mixed++ : certain++;
				if (certain + mixed > 150)
					break;
			}
			return [certain, mixed, wrong]; })()`);
		return mixed && !wrong.length ? "" : `${certain} certain, ${mixed} mixed, wrong: ${wrong}`;
	});

	const some = await openPage("events", "html:events=1000"), download = await browser.downloadsTo(folder);
	await test("an interval of a page with some of the events says so, and gives no rate", async () => {
		const [x, y] = [await interval(full, whole), await interval(some, whole)];
		return differ(y.tables[1], x.tables[1]) || (/of the events that this page has/.test(y.captions[2]) && !/page has/.test(x.captions[2]) ? "" : y.captions[2]) ||
			differ([y.tables[2].every((r) => r[2] === ""), x.tables[2].every((r) => r[2] !== "")], [true, true]);
	});
	await test("what such a page saves has a name that says so", async () => {
		const names = [];
		for (const tab of [some, full]) {
			await tab.send("Page.bringToFront");
			names.push(basename(await download(() => tab.run("document.getElementById('csv').click()"))));
		}
		return differ(names, ["ktape-events-part.csv", "ktape-events.csv"]) || (/saved only those events/.test(await some.run("document.getElementById('said').textContent")) ? "" : "it does not say so");
	});

	const one = await openPage("pid", "html", "--pid", String(someone)), selected = join(folder, "selected");
	execFileSync(ktape, ["convert", "-q", "--pid", String(someone), "--to", "native:form=pipe", "-o", selected, trace]);
	await test("the tables of a page of one thread are those of ktape stats of its events", async () => {
		const ofOne = statsOf(selected);
		const rows = await one.run("[...document.querySelectorAll('#tab-threads tbody tr')].map((r) => [r.cells[0].textContent, r.cells[5].textContent.replace(/\\D/g, '')])");
		const times = await one.run("[...document.querySelectorAll('#tab-latencies tbody tr')].map((r) => r.cells[2].textContent.replace(/\\D/g, ''))");
		// A trace names threads of which nothing was selected, too.
		const active = (all) => all.filter(([, n]) => n !== "0");
		return differ(active(rows), active(ofOne.threads.slice(0, 400).map((t) => [String(t.tid), String(t.switches)]))) ||
			differ(times, ofOne.series.filter((s) => s.count || s.uncertain).slice(0, 400).map((s) => String(s.count)));
	});
	await test("its head says that the ledger is of the whole trace", async () => {
		const [head, all] = [await one.run("document.querySelector('#state summary').textContent"), await full.run("document.querySelector('#state summary').textContent")];
		return /the whole trace is (in)?complete: .*; this page has a part of it$/.test(head) ? differ(/this page has a part/.test(all), false) : head;
	});
	await test("no error was thrown", () => differ([full, merged, some, one].flatMap((t) => t.errors), []));
} finally {
	await browser.close();
}
plan();
