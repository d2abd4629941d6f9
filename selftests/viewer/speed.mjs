// SPDX-License-Identifier: GPL-2.0-only
// Measure pages in a browser: bytes, loading, frames while panning, memory.  Numbers are
// printed, with PASS or MISS of each budget; a miss ends with status 1.  No test runs this.
// usage: speed.mjs CHROMIUM PAGE...

import { readFileSync, readdirSync, statSync } from "node:fs";
import { resolve } from "node:path";

import { Browser } from "./chromium.mjs";

const FRAMES = 90;
const TICKS = 100;	// of /proc in a second
const LOAD = 2000, FRAME = 16, SPANS = 600000;	// ms, ms; for at most so many spans
const [chromium, ...pages] = process.argv.slice(2);

/* Run in the page: milliseconds of each frame's work while the view moves. */
function frames(count, share)
{
	const { view, timeline } = window.ktape, times = [];
	const whole = view.last - view.first;
	view.set(view.first + whole * 0.3, view.first + whole * (0.3 + share));
	return new Promise((done) => {
		const step = () => {
			const begin = performance.now();
			view.pan(times.length % 30 < 15 ? 0.02 : -0.02);
			timeline.drawNow();
			// Reading a pixel waits until the canvas is drawn.
			timeline.canvas.getContext("2d").getImageData(0, 0, 1, 1);
			times.push(performance.now() - begin);
			if (times.length < count)
				requestAnimationFrame(step);
			else
				done(times.slice(5).sort((x, y) => x - y));
		};
		requestAnimationFrame(step);
	});
}

/* Return MiB and CPU milliseconds so far of the largest renderer below a process. */
function renderer(root)
{
	const parents = new Map(), sizes = new Map();
	for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
		try {
			const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
			const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number);
			parents.set(Number(pid), fields[1]);
			const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
			if (rss && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer"))
				sizes.set(Number(pid), { mib: Number(rss[1]) / 1024, cpu: (fields[11] + fields[12]) * 1000 / TICKS });
		} catch {
			// The process has ended.
		}
	}
	const below = (pid) => pid === root || (pid > 1 && below(parents.get(pid) ?? 0));
	return [...sizes].filter(([pid]) => below(pid)).map(([, size]) => size).reduce((x, y) => x.mib > y.mib ? x : y, { mib: 0, cpu: 0 });
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1);
let missed = false;
const table = [["page", "spans", "of", "MB", "load ms", "CPU ms", "frame median", "p95", "1 % median", "p95", "MiB"]];
for (const page of pages) {
	const browser = new Browser(chromium);
	try {
		const tab = await browser.page(1366, 768);
		await tab.open(`file://${resolve(page)}`);
		const [load, spans, all] = await tab.run("[performance.getEntriesByName('ktape-ready')[0].startTime, ktape.model.spans.n, ktape.model.about.all_spans]");
		const { cpu } = renderer(browser.process.pid);
		const whole = await tab.run(`(${frames})(${FRAMES}, 0.6)`), near = await tab.run(`(${frames})(${FRAMES}, 0.01)`);
		table.push([page.replace(/.*\//, ""), spans, all, (statSync(page).size / 1e6).toFixed(1), load.toFixed(0), cpu.toFixed(0),
			at(whole, 0.5), at(whole, 0.95), at(near, 0.5), at(near, 0.95), renderer(browser.process.pid).mib.toFixed(0)]);
		for (const [what, value, most] of [["load", load, LOAD], ["median frame", Number(at(whole, 0.5)), FRAME]]) {
			if (spans <= SPANS) {
				const met = value <= most;
				missed ||= !met;
				console.log(`${met ? "PASS" : "MISS"} ${page.replace(/.*\//, "")}, ${spans} spans: ${what} ${value.toFixed(1)} ms, budget ${most} ms`);
			}
		}
	} finally {
		await browser.close();
	}
}
const widths = table[0].map((_, c) => Math.max(...table.map((row) => String(row[c]).length)));
if (missed)
	process.exitCode = 1;
for (const row of table)
	console.log(row.map((v, c) => c ? String(v).padStart(widths[c]) : String(v).padEnd(widths[c])).join("  "));
