// SPDX-License-Identifier: GPL-2.0-only
// The page that converts, as ktape serve serves it: it works without an origin, reads no
// other page of the server, and its results are those of the command.
// usage: check_serve_convert.mjs CHROMIUM KTAPE FOLDER TRACES SHOTS
//	FOLDER: what is served; TRACES: the pipe form pipe.ktape and the folder native, which
//	are converted

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";

import { Browser, Tab } from "./chromium.mjs";
import { differ, plan, test } from "./tap.mjs";

const [chromium, ktape, folder, traces, shots] = process.argv.slice(2);
const LIMIT = 600000;	// ms to start or end, on a busy machine

const server = spawn(ktape, ["serve", folder], { stdio: ["ignore", "pipe", "ignore"] });
const ended = once(server, "exit");
const late = setTimeout(() => server.kill("SIGKILL"), LIMIT);
const [line] = await Promise.race([once(server.stdout, "data"), ended.then(() => [""])]);
clearTimeout(late);
const url = String(line).trim(), browser = new Browser(chromium, { local: true });

try {
	const tab = await browser.page(1366, 900);
	await test("the index leads to the page that converts", async () => {
		await tab.send("Page.navigate", { url });
		await tab.until(`location.href === ${JSON.stringify(url)} && document.readyState === "complete"`);
		await tab.run("document.querySelector('a[href=convert]').click()");
		await tab.until("globalThis.ktape?.formats?.length > 3 && !document.getElementById('page').hidden");
		return differ(await tab.run("[location.href, self.origin]"), [`${url}convert`, "null"]);
	});
	await test("it cannot read the traces that are served", async () => differ(
		await tab.run(`(async () => { try { return (await fetch(${JSON.stringify(url)})).status; } catch (e) { return e.name; } })()`), "TypeError"));
	async function drop(name)
	{
		const [x, y] = await tab.run("(() => { const r = document.getElementById('drop').getBoundingClientRect(); return [r.left + 20, r.top + 20]; })()");
		for (const type of ["dragEnter", "dragOver", "drop"])
			await tab.send("Input.dispatchDragEvent", { type, x, y, data: { items: [], files: [resolve(traces, name)], dragOperationsMask: 1 } });
	}

	await test("a folder that is dropped is refused with what to do", async () => {
		await drop("native");
		await tab.until("document.getElementById('state').textContent.includes('use the button Choose a folder')");
	});
	await test("a trace that is dropped becomes the CSV of ktape convert", async () => {
		await drop("pipe.ktape");
		await tab.until("ktape.entries.length > 0 && !ktape.adding");
		const made = await tab.run("ktape.convert('csv').then((made) => made.blob.text())");
		const wanted = execFileSync(ktape, ["convert", "-q", "--to", "csv", "-o", "-", join(traces, "pipe.ktape")], { maxBuffer: 1 << 30 }).toString();
		return wanted.length > 1000 ? differ(made.length, wanted.length) || (made === wanted ? "" : "other text") : wanted;
	});
	await tab.shot(join(shots, "serve-convert-light.png"));
	await test("one button converts and opens the viewer in a tab, which has no origin either", async () => {
		const [x, y] = await tab.run("(() => { const e = document.getElementById('view'); e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()");
		await tab.click(x, y);
		await tab.until("document.querySelector('#results a.open')");
		for (let i = 0; i < 400; i++) {
			const { targetInfos } = await browser.send("Target.getTargets");
			const target = targetInfos.find((t) => t.type === "page" && t.url.startsWith("blob:"));
			if (target) {
				const { sessionId } = await browser.send("Target.attachToTarget", { targetId: target.targetId, flatten: true });
				const viewer = new Tab(browser, sessionId);
				await viewer.until("document.documentElement?.dataset.ready === '1'");
				const [damages, tracks, origin] = await viewer.run("[ktape.data.damages, ktape.model.tracks.length, self.origin]");
				return tracks > 1 ? differ([damages, origin], [[], "null"]) : `${tracks} tracks`;
			}
			await new Promise((done) => setTimeout(done, 50));
		}
		return "no tab was opened";
	});
} finally {
	await browser.close();
	server.kill("SIGTERM");
	await ended;
	plan();
}
