// SPDX-License-Identifier: GPL-2.0-only
// Open the page of make viewer from disk in a browser without a network, drop files on
// it, convert, cancel, and open the result.
// usage: check_convert.mjs CHROMIUM PAGE KTAPE TRACES SHOTS [quick]
//   TRACES: folder of traces: native (a folder), large.bin, *.trx, *.bin and others
//   quick: few files, each damaged once, and nothing of what is slow

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

import { unnamed } from "./access.mjs";
import { Browser, Tab } from "./chromium.mjs";
import { differ, plan, test } from "./tap.mjs";
import { damage, hexDigits, intelHex, sRecords } from "./texts.mjs";

const [chromium, page, ktape, traces, shots, how] = process.argv.slice(2);
const url = `file://${resolve(page)}`;
const quick = how === "quick", MUTATIONS = quick ? 1 : 3;
const path = (name) => resolve(join(traces, name));
const bytesOf = (...choice) => readFileSync(choice.map(path).find(existsSync));
const base64 = (bytes) => bytes.toString("base64").replace(/.{76}/g, "$&\n");

/* Texts to drop and to paste: [name, text, the bytes that the command gets]. */
const trx = bytesOf("demo_threadx.trx", "demo.trx"), tband = bytesOf("tband_stream_bare.bin", "demo.tband");
const texts = [["text.ihex", intelHex(trx)], ["text.srec", sRecords(trx)], ["text.hex", hexDigits(tband)],
	["text.b64", base64(tband), tband], ["url.b64", tband.toString("base64url"), tband]];
for (const [name, text] of texts)
	writeFileSync(path(name), text);
const few = ["demo.tband", "demo.trx", "demo_threadx.trx", "pipe.ktape.zst", "rkh_ahsm.bin", "text.b64"];
const names = readdirSync(traces).filter((f) => statSync(join(traces, f)).isFile() && f !== "large.bin" && (!quick || few.includes(f))).sort();
const pasted = texts.filter(([name]) => !quick || name === "text.hex");
const browser = new Browser(chromium);

/* The page decodes base64; the command gets the bytes under the same name. */
function decoded(file)
{
	if (!file.endsWith(".b64"))
		return file;
	const plain = resolve(shots, "decoded", basename(file));
	mkdirSync(resolve(shots, "decoded"), { recursive: true });
	writeFileSync(plain, Buffer.from(readFileSync(file, "latin1"), "base64"));
	return plain;
}

/** A damaged copy: of base64, of the bytes that it stands for. */
function spoil(name, bytes, i)
{
	return name.endsWith(".b64") ? base64(damage(Buffer.from(bytes.toString(), "base64"), i)) : damage(bytes, i);
}

/** What ktape convert prints of an input, with the name that the page gives it. */
function native(file, to, out, more = [])
{
	const plain = decoded(file);
	const { status, stderr } = spawnSync(resolve(ktape), ["convert", "--to", to, ...more, "-o", out, basename(plain)], { cwd: resolve(plain, ".."), stdio: ["ignore", "ignore", "pipe"] });
	return { code: status, messages: String(stderr).replaceAll(out, "/out/result") };
}

try {
	const tab = await browser.page(1366, 900);
	const text = (id) => tab.run(`document.getElementById("${id}").textContent`);
	const clear = () => tab.run("document.getElementById('clear').click()");
	const idle = () => tab.until("!ktape.job && !document.getElementById('view').disabled");

	/** Drop files as a file manager would, and wait until the page lists them. */
	async function drop(...files)
	{
		const [x, y, before] = await tab.run("(() => { const r = document.getElementById('drop').getBoundingClientRect(); return [r.left + 20, r.top + 20, ktape.entries.length]; })()");
		const data = { items: [], files: files.map((f) => resolve(f)), dragOperationsMask: 1 };
		for (const type of ["dragEnter", "dragOver", "drop"])
			await tab.send("Input.dispatchDragEvent", { type, x, y, data });
		await tab.until(`ktape.entries.length > ${before} && !ktape.adding`);
	}

	/** Paste a text with the keys of the browser: its clipboard has it, copied from a field. */
	async function paste(content)
	{
		const before = await tab.run("ktape.entries.length");
		await tab.send("Page.bringToFront");
		await tab.run(`(() => { const a = document.createElement("textarea"); a.id = "source"; a.value = ${JSON.stringify(content)};
			document.body.append(a); a.focus(); a.select(); })()`);
		for (const [key, command] of [["c", "copy"], ["v", "paste"]]) {
			await tab.send("Input.dispatchKeyEvent", { type: "keyDown", key, modifiers: 2, commands: [command] });
			await tab.send("Input.dispatchKeyEvent", { type: "keyUp", key, modifiers: 2 });
			await tab.run("document.getElementById('source')?.remove()");
		}
		await tab.until(`ktape.entries.length > ${before} && !ktape.adding`);
	}

	async function showPart()
	{
		await tab.run("(() => { const p = document.getElementById('part'); p.open = true; p.scrollIntoView(); })()");
		await tab.shot(join(shots, "convert-part-light.png"));
		await tab.run("document.getElementById('part').open = false");
	}

	async function press(id)
	{
		const [x, y] = await tab.run(`(() => { const e = document.getElementById("${id}"); e.scrollIntoView({ block: "center" });
			const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`);
		await tab.click(x, y);
	}

	/** Convert what is listed to a format.  Return [state, messages, text of the result]. */
	async function convert(to)
	{
		await tab.run(`(async () => { globalThis.made = await ktape.convert("${to}"); })()`);
		return [await text("state"), await text("messages"), await tab.run("made ? made.blob.arrayBuffer().then((b) => { let s = ''; for (const c of new Uint8Array(b)) s += String.fromCharCode(c); return btoa(s); }) : null")];
	}

	await test("the page opens from disk", async () => {
		await tab.open(url);
		const read = await tab.run("document.getElementById('page').hidden ? [] : ktape.formats.filter((f) => f.in).map((f) => f.name)");
		return differ(["native", "tband", "rkh", "tracex"].filter((f) => !read.includes(f)), []);
	});
	await tab.shot(join(shots, "convert-empty-light.png"));
	await test("options are those of ktape convert --list", async () => {
		const listed = execFileSync(resolve(ktape), ["convert", "--list", "--json"]).toString().trim().split("\n").map((l) => JSON.parse(l));
		const shown = await tab.run("ktape.formats");
		return differ(shown, listed);
	});
	for (const name of names) {
		await test(`${name} is dropped and becomes the page that ktape convert writes`, async () => {
			await clear();
			await drop(path(name));
			const [state, messages, made] = await convert("html"), out = join(shots, "native.html");
			const wanted = native(path(name), "html", resolve(out));
			if (made === null)
				return wanted.code ? differ(messages.split("\n")[0], wanted.messages.split("\n")[0]) : `${state} ${messages}`;
			return Buffer.from(made, "base64").equals(readFileSync(out)) ? "" : `other bytes; ${state} ${messages}`;
		});
	}
	await test("a folder is one native trace", async () => {
		await clear();
		await drop(path("native"));
		const inputs = await tab.run("ktape.inputs.map((i) => [i.operand, i.trace])"), out = join(shots, "native.html");
		const [state, messages, made] = await convert("html");
		native(path("native"), "html", resolve(out));
		return differ(inputs, [["native", true]]) || (Buffer.from(made ?? "", "base64").equals(readFileSync(out)) ? "" : `other bytes; ${state} ${messages}`);
	});
	await test("the files of a folder, dropped one by one, are one native trace", async () => {
		await clear();
		await drop(...readdirSync(path("native")).map((f) => join(path("native"), f)));
		const inputs = await tab.run("ktape.inputs.map((i) => [i.operand, i.trace])");
		const [, , made] = await convert("csv");
		return differ(inputs, [["trace", true]]) || (made ? "" : await text("messages"));
	});
	for (const [name, content, bytes] of pasted) {
		await test(`${name} is pasted and becomes what ktape convert writes`, async () => {
			await clear();
			await paste(content);
			const [operand, nr] = await tab.run("[ktape.inputs[0].operand, ktape.inputs.length]"), given = join(shots, operand);
			writeFileSync(given, bytes ?? content);
			for (const to of ["html", "csv"]) {
				const out = resolve(shots, "native.out"), wanted = native(given, to, out), [state, messages, made] = await convert(to);
				const why = differ([nr, wanted.code, Buffer.from(made ?? "", "base64").equals(readFileSync(out))], [1, 0, true]);
				if (why)
					return `${to}: ${why} ${state} ${messages} ${wanted.messages}`;
			}
			return "";
		});
	}
	await test("a part of the trace: times, CPU, events and thread, as with the command", async () => {
		await clear();
		await drop(path("native"));
		const out = resolve(shots, "native.csv"), kept = [];
		native(path("native"), "csv", out);
		const rows = readFileSync(out, "utf8").trim().split("\n").map((line) => line.split(",")), column = (name) => rows[0].indexOf(name);
		const tid = rows.find((r) => Number(r[column("tid")]) > 0)[column("tid")], middle = `${rows[rows.length >> 1][column("ts_ns")]}ns`;
		for (const [key, value] of [["from-time", middle], ["to-time", middle], ["cpu", "1"], ["event", "sched_*,!sched_wakeup"], ["pid", tid]]) {
			const set = (v) => tab.run(`(() => { const e = document.getElementById("part-options-${key}"); e.value = "${v}"; e.dispatchEvent(new Event("input", { bubbles: true })); })()`);
			await set(value);
			const shown = await text("part-set"), [state, messages, made] = await convert("csv");
			const wanted = native(path("native"), "csv", out, [`--${key}`, value]), theirs = readFileSync(out);
			if (shown.startsWith("cpu"))
				await showPart();
			await set("");
			if (!Buffer.from(made ?? "", "base64").equals(theirs) || wanted.code || shown !== `${key} ${value}`)
				return `${key}=${value} (shown: ${shown}): ${state} ${messages} ${wanted.messages}`;
			kept.push(theirs.toString().trim().split("\n").length);
		}
		return kept.every((nr) => nr > 1 && nr < rows.length) ? "" : `${kept} of ${rows.length} lines`;
	});
	await test("a wrong time is refused with the message of the command", async () => {
		await tab.run("document.getElementById('part-options-from-time').value = 'never'");
		const [state, messages, made] = await convert("csv"), wanted = native(path("native"), "csv", resolve(shots, "native.csv"), ["--from-time", "never"]);
		await tab.run("document.getElementById('part-options-from-time').value = ''");
		return differ([state, messages.trim(), made], ["Not converted.", wanted.messages.trim(), null]);
	});
	await test("pasted base64 is what it stands for; each file has its core", async () => {
		await clear();
		await paste(base64(bytesOf("tband_snapshot_bare.bin", "demo.tband")));
		await tab.until("ktape.inputs.length === 1");
		await tab.run("(() => { const c = document.querySelector('#inputs tbody input'); c.value = '3'; c.dispatchEvent(new Event('input')); })()");
		const [state, messages, made] = await convert("csv"), lines = Buffer.from(made ?? "", "base64").toString().split("\n");
		const cpu = lines[0].split(",").indexOf("cpu");
		return lines.length > 3 && lines[1].split(",")[cpu] === "3" ? "" : `${state} ${messages} ${lines.slice(0, 2)}`;
	});
	/** Drop a damaged input and convert it: the messages must be those of the command. */
	async function damaged(bad)
	{
		await clear();
		await drop(bad);
		const out = resolve(shots, "native.csv"), [state, messages, made] = await convert("csv"), wanted = native(bad, "csv", out);
		if (/browser stopped/.test(state))
			return `${state} ${messages}`;
		/* What zstd gets out of damaged data is not the same with 32 and with 64 bits. */
		const told = bad.endsWith(".zst") ? (m) => /compressed data is (damaged|cut off)/.test(m) :
			(m) => m.trim().split("\n").sort();
		if (wanted.code)
			return differ(told(messages), told(wanted.messages));
		accepted++;
		return differ(told(messages), told(wanted.messages)) ||
			(Buffer.from(made ?? "", "base64").equals(readFileSync(out)) ? "" : `accepted, but other bytes: ${state} ${messages}`);
	}
	let accepted = 0;

	for (const name of [...names, "native"]) {
		await test(`${name}, damaged: the messages of ktape convert, and the page lives`, async () => {
			const bad = join(shots, "mutated", name), folder = name === "native";
			for (let i = 0; i < MUTATIONS; i++) {
				rmSync(bad, { recursive: true, force: true });
				cpSync(path(name), bad, { recursive: true });
				for (const part of folder ? readdirSync(bad).filter((f) => f.startsWith("cpu")) : [""])
					writeFileSync(join(bad, part), spoil(name, readFileSync(join(bad, part)), i));
				const why = await damaged(bad);
				if (why)
					return `${i}: ${why}`;
			}
			return "";
		});
	}
	await test("some of the damaged inputs were accepted, and became the same bytes", () =>
		accepted > (quick ? 0 : 3) ? "" : `${accepted} of ${(names.length + 1) * MUTATIONS}`);
	await test("base64 with a character that it does not have is a text like any other", async () => {
		const bad = join(shots, "mutated", "wrong.txt");
		writeFileSync(bad, `${base64(tband)}!`);
		return await damaged(bad);
	});
	await tab.run("document.getElementById('from').value = 'rkh'; ktape.chooseFrom()");
	await tab.shot(join(shots, "convert-damaged-light.png"));
	await tab.run("document.getElementById('from').value = ''; ktape.chooseFrom()");
	await test("a file of more than 100 MB: the page counts what is done, draws meanwhile, and cancels", async () => {
		await clear();
		await drop(path("large.bin"));
		await press("view");
		const counted = new Set();
		let frames = 0;
		while (counted.size < 4) {
			const [running, told] = await tab.run("new Promise((done) => requestAnimationFrame(() => done([Boolean(ktape.job), document.getElementById('counted').textContent])))");
			frames++;
			if (!running)
				return `ended after ${[...counted].join("; ")}: ${await text("state")} ${await text("messages")}`;
			if (told)
				counted.add(told);
		}
		await tab.shot(join(shots, "convert-running-light.png"));
		await press("cancel");
		await idle();
		const { size } = statSync(path("large.bin"));
		console.log(`# ${(size / 1e6).toFixed(0)} MB: ${frames} frames until ${[...counted].pop()}`);
		return differ([await text("state"), await tab.run("document.getElementById('results').children.length"), size > 1e8], ["Cancelled.", 0, true]);
	});
	await test("after that another conversion runs", async () => {
		await clear();
		await drop(path("text.hex"));
		const [state, messages, made] = await convert("csv");
		return made ? "" : `${state} ${messages}`;
	});
	await test("one button converts and opens the viewer in a tab", async () => {
		await clear();
		await drop(path("native"));
		await press("view");
		await tab.until("document.querySelector('#results a.open')");
		for (let i = 0; i < 200; i++) {
			const { targetInfos } = await browser.send("Target.getTargets");
			const target = targetInfos.find((t) => t.type === "page" && t.url.startsWith("blob:"));
			if (target) {
				const { sessionId } = await browser.send("Target.attachToTarget", { targetId: target.targetId, flatten: true });
				const viewer = new Tab(browser, sessionId);
				await viewer.until("document.documentElement?.dataset.ready === '1'");
				const [damages, tracks] = await viewer.run("[ktape.data.damages, ktape.model.tracks.length]");
				await viewer.resize(1366, 768);
				await viewer.shot(join(shots, "convert-viewer-light.png"));
				return tracks > 3 ? differ(damages, []) : `${tracks} tracks`;
			}
			await new Promise((done) => setTimeout(done, 50));
		}
		return "no tab was opened";
	});
	await test("a result that is removed from the list gives its memory back", async () => {
		await tab.send("Page.bringToFront");
		return differ(await tab.run(`(() => { const box = document.getElementById("results"), line = box.firstElementChild, before = box.children.length, gone = [], revoke = URL.revokeObjectURL;
			URL.revokeObjectURL = (url) => { gone.push(url); revoke.call(URL, url); };
			const urls = [...new Set([...line.querySelectorAll("a")].map((a) => a.href))];
			line.querySelector("button").click();
			URL.revokeObjectURL = revoke;
			return [before - box.children.length, line.isConnected, urls.length === 1 && urls[0] === gone[0] && gone.length === 1]; })()`), [1, false, true]);
	});
	await test("a native result is an archive that the page reads again", async () => {
		const [, , tar] = await convert("native");
		await clear();
		writeFileSync(join(shots, "made.tar"), Buffer.from(tar, "base64"));
		await drop(join(shots, "made.tar"));
		const inputs = await tab.run("ktape.inputs.map((i) => [i.operand, i.trace])");
		const [state, messages, made] = await convert("csv");
		return differ(inputs, [["native", true]]) || (made ? "" : `${state} ${messages}`);
	});
	await test("ui.perfetto.dev is opened only after asking", async () => {
		await tab.send("Page.bringToFront");
		await tab.run("globalThis.opened = []; window.open = (u) => { opened.push(u); return null; }");
		await press("perfetto");
		await tab.until("document.getElementById('ask').open");
		await tab.shot(join(shots, "convert-ask-light.png"));
		const before = await tab.run("opened.length");
		await tab.run("document.querySelector('#ask button[value=no]').click()");
		const after = await tab.run("opened.length");
		return differ([before, after], [0, 0]);
	});
	await test("after agreeing the trace is handed over when the site answers", async () => {
		await tab.run(`(() => { globalThis.got = []; window.open = (u) => { opened.push(u);
			return globalThis.other = { closed: false, postMessage: (m, origin) => { got.push([m?.perfetto ? m.perfetto.buffer.byteLength : m, origin]);
				if (m === "PING") { const e = new MessageEvent("message", { data: "PONG", origin: "https://ui.perfetto.dev" });
					Object.defineProperty(e, "source", { value: other }); window.dispatchEvent(e); } } }; }; })()`);
		await press("perfetto");
		await tab.until("document.getElementById('ask').open");
		await tab.run("document.getElementById('send').click()");
		await tab.until("got.length >= 2");
		const [opened, got] = await tab.run("[opened, got]");
		return differ([opened, got[0], got[1][1], got[1][0] > 1000], [["https://ui.perfetto.dev"], ["PING", "https://ui.perfetto.dev"], "https://ui.perfetto.dev", true]);
	});
	await test("every control has a name for screen readers", async () => {
		const { nr, without } = await unnamed(tab);
		return nr > 5 ? differ(without, []) : `${nr} controls`;
	});
	await tab.theme("dark");
	await tab.shot(join(shots, "convert-dark.png"));
	await test("at 200 % nothing is cut off sideways", async () => {
		await tab.resize(683, 450, 2);
		const [inner, outer] = await tab.run("[document.documentElement.scrollWidth, window.innerWidth]");
		return inner <= outer ? "" : `${inner} of ${outer} pixels`;
	});
	await test("it has asked for nothing but itself", () => differ(tab.requests.filter((r) => !r.startsWith("blob:")), [url]));
	await test("no error was thrown", () => differ(tab.errors, []));
} finally {
	await browser.close();
}
plan();
