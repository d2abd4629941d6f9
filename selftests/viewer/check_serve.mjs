// SPDX-License-Identifier: GPL-2.0-only
// Use the pages of ktape serve in a browser: the index, the viewer of a trace, live
// pages, and the page that hands a trace over.  No wait is without an end.
// usage: check_serve.mjs CHROMIUM KTAPE FOLDER SHOTS
//	FOLDER: traces demo (nothing lost) and lossy (something lost)

import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";

import { Browser } from "./chromium.mjs";
import { differ, plan, test } from "./tap.mjs";

const [chromium, ktape, folder, shots] = process.argv.slice(2);
const KEPT = 7200, MANY = KEPT + 1000;	// intervals that a live page keeps, and more
const LIMIT = 600000;	// ms to start or end, on a busy machine

/** Wait for a promise, but not for ever. */
function within(promise, what)
{
	let timer;
	const late = new Promise((_, fail) => {
		timer = setTimeout(() => fail(new Error(`${what}: not within ${LIMIT / 1000} s`)), LIMIT);
	});
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const server = spawn(ktape, ["serve", "--live", "--device", join(folder, "none"), folder], { stdio: ["ignore", "pipe", "ignore"] });
const ended = once(server, "exit");

/** The address that ktape serve prints. */
async function address()
{
	const [line] = await within(Promise.race([once(server.stdout, "data"), ended.then(() => [""])]), "the address of ktape serve");
	if (!line)
		throw new Error("ktape serve has ended without an address");
	return String(line).trim();
}

/** End ktape serve. */
async function end()
{
	server.kill("SIGTERM");
	await within(ended, "the end of ktape serve").finally(() => server.kill("SIGKILL"));
}

const url = await address().catch((e) => {
	server.kill("SIGKILL");
	throw e;
});
const browser = new Browser(chromium, { local: true });

/** The intervals that a stream has: those of ktape top. */
function intervals(name)
{
	return execFileSync(ktape, ["top", "-j", "-t", "500ms", "-k", "40", "-i", join(folder, name)], { timeout: LIMIT }).toString().trim().split("\n").map((l) => JSON.parse(l));
}

try {
	const tab = await browser.page(1366, 768);
	const text = (id) => tab.run(`document.getElementById("${id}").textContent`);
	const cells = (id) => tab.run(`[...document.querySelectorAll("#${id} tbody tr")].map((r) => [...r.cells].map((c) => c.textContent))`);

	/** Click an element as a person would. */
	async function press(selector)
	{
		const [x, y] = await tab.run(`(() => { const e = document.querySelector(${JSON.stringify(selector)}); e.scrollIntoView({ block: "center" });
			const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`);
		await tab.mouse("mousePressed", x, y);
		await tab.mouse("mouseReleased", x, y);
	}

	async function load(path)
	{
		await tab.send("Page.navigate", { url: url + path });
		await tab.until(`location.href === ${JSON.stringify(url + path)} && document.readyState === "complete"`);
	}

	await test("the index lists the traces of the folder", async () => {
		await load("");
		const names = await tab.run("[...document.querySelectorAll('td.name')].map((c) => c.textContent).sort()");
		return differ(names, ["demo", "lossy"]);
	});
	await tab.shot(join(shots, "serve-index-light.png"));
	await test("a link of the index opens the viewer, whose trace is the whole one", async () => {
		await press("a[href='html/demo']");
		await tab.until("document.documentElement?.dataset.ready === '1'");
		const [damages, events] = await tab.run("[ktape.data.damages, ktape.model.events.n]");
		return events > 100 ? differ(damages, []) : `${events} events`;
	});
	await test("the viewer works in its sandbox: search, jump, a selection in the address", async () => {
		await tab.run("document.querySelector('#tab-latencies tr.jump').click()");
		await tab.drawn();
		await tab.key("f");
		const [selected, origin] = await tab.run("[ktape.selected.span >= 0, self.origin]");
		return differ([selected, origin], [true, "null"]);
	});
	await tab.shot(join(shots, "serve-viewer-light.png"));

	const wanted = intervals("demo");
	/** When an interval begins, after the first one. */
	const begin = (v) => Number(BigInt(v.from_ns) - BigInt(wanted[0].from_ns));
	await test("a live page has the intervals of ktape top", async () => {
		await load("live/demo");
		await tab.until(`ktape.lanes.views.length >= ${wanted.length - 1}`);
		const shown = await tab.run("ktape.lanes.views");
		return wanted.length > 3 ? differ(shown.slice(0, wanted.length - 1).map(({ from, ...v }) => v), wanted.slice(0, -1)) ||
			differ(shown.map((v) => v.from), shown.map(begin)) : `${wanted.length} intervals`;
	});
	await tab.shot(join(shots, "serve-live-light.png"));
	await test("the tables have the numbers of the interval that is clicked", async () => {
		const v = wanted[Math.floor(wanted.length / 2)];
		const [x, y] = await tab.run(`(() => { const r = document.getElementById("lanes").getBoundingClientRect();
			return [r.left + ktape.lanes.x(${begin(v) + v.span_ns / 2}), r.top + 10]; })()`);
		await tab.click(x, y);
		const share = (part) => `${(100 * part / v.span_ns).toFixed(1)} %`;
		return differ(await cells("cpus"), v.cpus.map((c) => [String(c.cpu), share(c.run_ns), share(c.irq_ns), share(c.softirq_ns),
			share(c.idle_ns), String(c.switches), String(c.lost)])) ||
			differ((await cells("threads")).map((r) => [r[0], r[1], r[5]]), v.threads.map((t) => [String(t.tid), t.name, String(t.switches)])) ||
			((await text("which")).startsWith(`Interval ${v.number}, chosen: `) ? "" : await text("which"));
	});
	await test("a lane is as full as its CPU was busy", async () => {
		const wrong = [], v = wanted[Math.floor(wanted.length / 2)];
		for (const [i, c] of v.cpus.entries()) {
			const [blue, height] = await tab.run(`(() => { const l = ktape.lanes, d = devicePixelRatio;
				l.chosen = null; l.draw();
				const x = Math.round(l.x(${begin(v) + v.span_ns / 2}) * d);
				const { data } = l.g.getImageData(x, (4 + ${i} * 38) * d, 1, 34 * d);
				const want = l.colour("run").match(/\\w\\w/g).map((h) => parseInt(h, 16));
				let n = 0;
				for (let k = 0; k < data.length; k += 4)
					n += want.every((w, at) => Math.abs(data[k + at] - w) < 30);
				return [n, data.length / 4]; })()`);
			if (Math.abs(blue / height - c.run_ns / v.span_ns) > 0.07)
				wrong.push(`CPU ${c.cpu}: ${blue} of ${height} pixels, ${c.run_ns} of ${v.span_ns} ns`);
		}
		return wrong.join("\n");
	});
	await test("arrows choose the interval beside it, Escape the last one", async () => {
		await tab.run("document.getElementById('lanes').focus()");
		await tab.key("ArrowLeft");
		await tab.key("ArrowLeft");
		const chosen = await tab.run("ktape.lanes.chosen.number - ktape.lanes.views.at(-1).number");
		await tab.key("Escape");
		return differ([chosen, await tab.run("ktape.lanes.chosen")], [-2, null]);
	});
	await test("pause keeps what comes for later", async () => {
		await press("#pause");
		const [before, label] = await tab.run("(() => { const e = ktape.lanes.views.at(-1); ktape.add({ ...e, number: e.number + 1, from_ns: String(BigInt(e.from_ns) + BigInt(e.span_ns)) });"
			+ " return [ktape.lanes.views.length, document.getElementById('pause').textContent]; })()");
		await press("#pause");
		const after = await tab.run("ktape.lanes.views.length");
		return differ([label, after - before], ["Go on", 1]);
	});
	await test("what has come while the page was paused is drawn once, not once for each interval", async () => {
		await load("live/demo");
		await tab.until(`ktape.lanes.views.length >= ${wanted.length - 1}`);
		await press("#pause");
		const [waiting, views, cpus, drawn] = await tab.run(`new Promise((done) => { const { lanes, add } = ktape, e = lanes.views.at(-1), before = lanes.drawings;
			for (let i = 1; i <= ${MANY}; i++)
				add({ ...e, number: e.number + i, from_ns: String(BigInt(e.from_ns) + BigInt(i * e.span_ns)), cpus: e.cpus.map((c) => ({ ...c, cpu: c.cpu + (i === 1 ? 100 : 0) })) });
			const waiting = ktape.waiting.length;
			document.getElementById("pause").click();
			requestAnimationFrame(() => requestAnimationFrame(() => done([waiting, lanes.views.length, lanes.cpus(), lanes.drawings - before]))); })`);
		const known = wanted[0].cpus.map((c) => c.cpu);
		return differ([waiting, views, drawn], [KEPT, KEPT, 1]) || differ(cpus, known);
	});
	await test("a CPU that only an old interval has keeps its lane, and times begin with the first interval", async () => {
		const [cpus, lanes, from] = await tab.run(`new Promise((done) => { const { lanes, add } = ktape, e = lanes.views.at(-1);
			for (let i = 1; i <= ${MANY}; i++)
				add({ ...e, number: e.number + i, from_ns: String(BigInt(e.from_ns) + BigInt(i * e.span_ns)), cpus: e.cpus.map((c) => ({ ...c, cpu: c.cpu + (i === 1 ? 100 : 0) })) });
			requestAnimationFrame(() => requestAnimationFrame(() => done([lanes.cpus(), lanes.canvas.clientHeight, document.getElementById("which").textContent]))); })`);
		const v = await tab.run("ktape.lanes.views.at(-1)"), known = wanted[0].cpus.map((c) => c.cpu);
		const first = (begin(v) / 1e9).toFixed(1);
		return differ(cpus, [...known, ...known.map((c) => c + 100)]) || (lanes > known.length * 2 * 18 && from.includes(` from ${first} s,`) ? "" : `${lanes} pixels, ${from}, not ${first} s`);
	});
	await test("of messages the last ones are kept", async () => {
		await tab.run("for (let i = 1; i <= 1000; i++) ktape.note(`message ${i}`)");
		return differ([await tab.run("ktape.notes.length"), await text("notes")],
			[5, ["(995 earlier messages)", ...[996, 997, 998, 999, 1000].map((i) => `message ${i}`)].join("\n")]);
	});
	await test("# and ? of an address are no part of the trace's name", async () => {
		for (const more of ["#part", "?x=1", "?x=1#part"]) {
			await load(`live/demo${more}`);
			await tab.until(`ktape.lanes.views.length >= ${wanted.length - 1}`);
		}
		await load("perfetto/demo?x=1#part");
		await tab.run("globalThis.fetched = []; globalThis.fetch = async (u) => { fetched.push(u); return new Response('no', { status: 500 }); }; window.open = () => ({ close() {} })");
		await press("#open");
		await tab.until("fetched.length && /cannot/.test(document.getElementById('state').textContent)");
		return differ(await tab.run("fetched"), ["pftrace/demo"]);
	});
	await test("losses are drawn and counted", async () => {
		await load("live/lossy");
		// A follower waits for the end of the last interval, and knows losses earlier.
		const all = intervals("lossy"), lost = all.slice(0, -1), sum = (list) => list.reduce((n, v) => n + v.lost, 0);
		await tab.until(`ktape.lanes.views.length >= ${lost.length}`);
		if (!lost.some((v) => v.lost || v.uncounted))
			return "no interval has a loss";
		const [red, total, told] = await tab.run(`(() => { const l = ktape.lanes, bad = l.colour("bad").match(/\\w\\w/g).map((h) => parseInt(h, 16));
			l.draw();
			const { data } = l.g.getImageData(0, 0, l.canvas.width, l.canvas.height);
			let n = 0;
			for (let k = 0; k < data.length; k += 4)
				n += bad.every((w, at) => Math.abs(data[k + at] - w) < 12);
			return [n, l.views.reduce((sum, v) => sum + v.lost, 0), l.views.at(-1).lost_total]; })()`);
		if (total < sum(lost) || total > sum(all))
			return `${total}, not ${sum(lost)} to ${sum(all)}`;
		return red > 20 ? differ(total, told) : `${red} pixels`;
	});
	await test("a session that cannot be read: the page says why", async () => {
		await load("live");
		await tab.until("/ended/.test(document.getElementById('state').textContent)");
		return /ktape: .*none: No such file/.test(await text("notes")) ? "" : await text("notes");
	});
	await tab.theme("dark");
	await load("live/demo");
	await tab.until(`ktape.lanes.views.length >= ${wanted.length - 1}`);
	await tab.shot(join(shots, "serve-live-dark.png"));
	await test("at 200 % nothing is cut off sideways, on all pages", async () => {
		const wide = [];
		await tab.resize(683, 450, 2);
		for (const path of ["", "live/demo", "perfetto/demo"]) {
			await load(path);
			const [inner, outer] = await tab.run("[document.documentElement.scrollWidth, window.innerWidth]");
			if (inner > outer)
				wide.push(`${path}: ${inner} of ${outer} pixels`);
		}
		await tab.shot(join(shots, "serve-perfetto-dark.png"));
		await tab.resize(1366, 768);
		return wide.join("\n");
	});
	await test("the button hands the trace to ui.perfetto.dev when that answers, byte by byte", async () => {
		const trace = execFileSync(ktape, ["convert", "-q", "-t", "perfetto", "-o", "-", join(folder, "demo")], { timeout: LIMIT, maxBuffer: 1 << 30 });
		await load("perfetto/demo");
		// The other tab does not load; in its place an object answers PING.
		await tab.run(`(() => { globalThis.opened = []; globalThis.got = null; window.open = (u) => { opened.push(u);
			return globalThis.other = { closed: false, postMessage: (m, origin) => {
				if (m?.perfetto)
					got = { title: m.perfetto.title, origin, buffer: m.perfetto.buffer };
				const e = new MessageEvent("message", { data: "PONG", origin: "https://ui.perfetto.dev" });
				Object.defineProperty(e, "source", { value: other });
				if (m === "PING")
					window.dispatchEvent(e); } }; }; })()`);
		const before = await tab.run("opened.length");
		await press("#open");
		await tab.until("/Handed over|Not handed|cannot/.test(document.getElementById('state').textContent)");
		const hash = await tab.run("crypto.subtle.digest('SHA-256', got?.buffer ?? new ArrayBuffer(0)).then((h) => [...new Uint8Array(h)].map((b) => b.toString(16).padStart(2, '0')).join(''))");
		return differ([before, await text("state"), await tab.run("[opened, got?.title, got?.origin]"), hash],
			[0, "Handed over to ui.perfetto.dev.", [["https://ui.perfetto.dev"], "demo.pftrace", "https://ui.perfetto.dev"],
				createHash("sha256").update(trace).digest("hex")]);
	});
	await test("the pages have asked this server, and no other", () =>
		differ(tab.requests.filter((r) => !r.startsWith(url) && !r.startsWith("blob:") && !r.startsWith("data:")), []));
	await test("no error was thrown", () => differ(tab.errors, []));
} finally {
	// The browser reads streams: the server ends, although it does.
	await end().finally(() => browser.close());
}
plan();
