// SPDX-License-Identifier: GPL-2.0-only
// Open pages of traces of an RTOS in a browser: their tables have the numbers of ktape
// stats --rtos --services --json, and each row that has a moment leads to it.
// usage: check_rtos.mjs CHROMIUM FOLDER SHOTS
//	FOLDER: NAME.html and NAME.json for each trace

import { readFileSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";

import { Browser } from "./chromium.mjs";
import { differ, plan, test } from "./tap.mjs";

const [chromium, folder, shots] = process.argv.slice(2);
const names = readdirSync(folder).filter((f) => f.endsWith(".html")).map((f) => basename(f, ".html")).sort();
const browser = new Browser(chromium);

const digits = (text) => Number(text.replace(/[^\d]/g, ""));
const sorted = (list) => [...list].sort((x, y) => JSON.stringify(x) < JSON.stringify(y) ? -1 : 1);

/** The numbers of each table as ktape stats has them: [tab, cells that are compared, rows]. */
function wanted(d)
{
	const name = (id) => d.services[id] ?? `event ${id}`;
	return [
		["profile", (r) => [r[0], digits(r[2]), r[4] && digits(r[4]), r[5] && digits(r[5]), r[6] && digits(r[6])],
			[...d.thread_list.map((t) => [t.name, t.ticks, t.events, t.suspensions, t.resumptions]),
				["(interrupts)", d.interrupt_ticks, "", "", ""], ["(idle)", d.idle_ticks, "", "", ""]]],
		["performance", (r) => [r[0], digits(r[1])], [
			["context switches", d.context_switches], ["preemptions", d.preemptions], ["time slices", d.time_slices],
			["thread suspensions", d.suspensions], ["thread resumptions", d.resumptions], ["interrupts", d.interrupts],
			["nested interrupts", d.nested_interrupts], ["priority inversions", d.det_prio_inversions],
			["of these non-deterministic", d.undet_prio_inversions], ["of these without end in the trace", d.open_prio_inversions], ["events, with inserted RUNNING", d.events],
			["threads", d.threads], ["objects", d.objects], ["ticks", d.max_relative_ticks]]],
		["services", (r) => r.length === 3 ? [r[0], digits(r[1])] : [r[0], r[1], digits(r[2])], [
			...d.popular.map(([id, n]) => [name(id), n]),
			...d.thread_list.flatMap((t) => t.popular.map(([id, n]) => [t.name, name(id), n]))]],
		["stack", (r) => [r[0], digits(r[2]), r[3] === "not known" ? null : digits(r[3])], d.thread_list.filter((t) => t.stack_size)
			.map((t) => [t.name, t.stack_size, t.stack_event_ns === undefined ? null : t.stack_min_available])],
		["inversions", (r) => [r[1], /^non-/.test(r[4]), digits(r[5]), digits(r[6])], d.inversions.map((v) => [v.mutex_name ?? v.mutex, v.bad, v.event, v.end ?? 0])],
		["responses", (r) => [r[0], r[1], digits(r[2]), digits(r[3]), digits(r[4])], (d.responses ?? []).map((r) =>
			[r.name ?? r.object, r.signal === null ? "(all)" : r.signal_name ?? String(r.signal), r.posts, r.gets, r.count])],
	];
}

/** Which tabs a trace has: those with numbers. */
function tabsOf(d)
{
	const threads = d.thread_list.length;
	return [["profile", threads || d.interrupt_ticks || d.idle_ticks], ["performance", threads || d.interrupts], ["services", d.popular.length],
		["stack", d.thread_list.some((t) => t.stack_size)], ["inversions", d.det_prio_inversions], ["responses", d.responses]]
		.filter(([, has]) => has).map(([id]) => id);
}

try {
	const tab = await browser.page(1366, 768);
	for (const name of names) {
		const d = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
		const cells = (id) => tab.run(`[...document.querySelectorAll("#tab-${id} tbody tr")].map((r) => [...r.cells].map((c) => c.textContent))`);
		await tab.theme("light");
		await tab.open(`file://${resolve(folder, `${name}.html`)}`);
		await test(`${name}: the tables that it has can be chosen, and no others`, async () => differ(await tab.run(
			`["profile", "performance", "services", "stack", "inversions", "responses"].filter((id) => !document.querySelector("[data-tab=" + id + "]").hidden)`), tabsOf(d)));
		await test(`${name}: the numbers of its tables are those of ktape stats --json`, async () => {
			for (const [id, pick, rows] of wanted(d)) {
				if (!tabsOf(d).includes(id))
					continue;
				const why = differ(sorted((await cells(id)).map(pick)), sorted(rows));
				if (why)
					return `${id}: ${why}`;
			}
			return "";
		});
		await test(`${name}: each row that has a moment leads to it`, async () => {
			const wrong = [];
			let nr = 0;
			for (const id of tabsOf(d)) {
				for (const i of (await tab.run(`[...document.querySelectorAll("#tab-${id} tbody tr")].map((r, i) => r.className === "jump" ? i : -1)`)).filter((k) => k >= 0)) {
					await tab.run(`ktape.clear(); ktape.view.fit(); document.querySelector("[data-tab=${id}]").click(); document.querySelectorAll("#tab-${id} tbody tr")[${i}].click()`);
					await tab.until("ktape.selected.event >= 0 || ktape.selected.span >= 0 || ktape.timeline.range");
					nr++;
					if (id !== "services")
						continue;
					const [row, title] = [(await cells(id))[i], await tab.run("new Promise((done) => setTimeout(() => done(document.querySelector('#details h2')?.textContent)))")];
					// Formats other than ThreadX's name some events otherwise than the service.
					if (name.endsWith("trx") && title !== row[row.length - 3])
						wrong.push(`${row}: ${title}`);
				}
			}
			return nr ? wrong.slice(0, 3).join("\n") : "no row has a moment";
		});
		for (const theme of ["light", "dark"]) {
			await tab.theme(theme);
			await tab.shot(join(shots, `${name}-${theme}.png`));
		}
	}
	await test("no error was thrown", () => differ(tab.errors, []));
} finally {
	await browser.close();
}
plan();
