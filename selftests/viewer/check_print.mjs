// SPDX-License-Identifier: GPL-2.0-only
// Print a page to a PDF in a browser, and read its text with pdftotext.
// usage: check_print.mjs CHROMIUM PAGE STATS SHOTS

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { Browser } from "./chromium.mjs";
import { differ, plan, test } from "./tap.mjs";

const [chromium, page, statsFile, shots] = process.argv.slice(2);
const stats = JSON.parse(readFileSync(statsFile, "utf8"));
const pdf = join(shots, "page.pdf");
const browser = new Browser(chromium);
const plain = (text) => text.replace(/[\u2009\u202f\u00a0]/g, " ").replace(/\s+/g, " ");

try {
	const tab = await browser.page(1366, 768);
	let text = "";
	await tab.open(`file://${resolve(page)}`);
	const line = plain(await tab.run("document.querySelector('#state summary').textContent"));
	const cpus = await tab.run("ktape.timeline.shown.map((t) => t.label).filter((l) => l.startsWith('CPU '))");
	await test("the page is printed to a PDF", async () => {
		const { data } = await tab.send("Page.printToPDF", { preferCSSPageSize: true, printBackground: true });
		writeFileSync(pdf, Buffer.from(data, "base64"));
		text = plain(execFileSync("pdftotext", ["-layout", pdf, "-"], { maxBuffer: 1 << 26 }).toString());
		return text.length > 1000 ? "" : `${text.length} characters of text`;
	});
	await test("the PDF has the line about completeness", () =>
		/emitted [\d ]+ = stored/.test(line) && text.includes(line) ? "" : `${line}: ${text.slice(0, 600)}`);
	await test("the PDF has the rows of the tables", () => {
		const names = [...new Set([...stats.series.filter((s) => s.count).slice(0, 10).map((s) => s.kind),
			...stats.threads.slice(0, 10).map((t) => t.name)])];
		return names.length > 3 ? differ(names.filter((name) => !text.includes(plain(name).trim())), []) : `${names}`;
	});
	await test("the time view is inside the paper, with the tracks of all CPUs", async () => {
		await tab.run("window.dispatchEvent(new Event('beforeprint'))");
		const [right, width, wide] = await tab.run(`(() => { const c = document.getElementById("canvas").getBoundingClientRect();
			return [c.right, document.body.getBoundingClientRect().right, c.width]; })()`);
		await tab.run("window.dispatchEvent(new Event('afterprint'))");
		const missing = cpus.filter((label) => !text.includes(label));
		return wide > 300 && right <= width + 1 && cpus.length && !missing.length ? "" : `${wide} wide, to ${right} of ${width}; without ${missing}`;
	});
} finally {
	await browser.close();
}
plan();
