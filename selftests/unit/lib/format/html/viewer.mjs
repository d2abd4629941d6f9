// SPDX-License-Identifier: GPL-2.0-only
// Test the modules of the viewer that need no browser, on a page that ktape has written.
// usage: viewer.mjs PAGE STATS [PAGE2 STATS2 PAGE3]
//	STATS: what ktape stats --json prints; PAGE2: of a trace in which a thread waits while
//	others take turns hundreds of times; PAGE3: in which one waits in two run queues

import { readFileSync } from "node:fs";

import { blocksOf } from "./blocks.mjs";
import { Reader, crc32c, fromBase64 } from "../../../../../userspace/viewer/bytes.mjs";
import { Painter } from "../../../../../userspace/viewer/draw.mjs";
import { parseFilter, runFilter } from "../../../../../userspace/viewer/filter.mjs";
import { NO_BEGIN, NO_END, RUN, UNSURE, WAIT, isRunnable } from "../../../../../userspace/viewer/kinds.mjs";
import { notesOf } from "../../../../../userspace/viewer/head.mjs";
import { indexOf, intervalOf } from "../../../../../userspace/viewer/link.mjs";
import { readBlocks } from "../../../../../userspace/viewer/load.mjs";
import { Model } from "../../../../../userspace/viewer/model.mjs";
import { completeness } from "../../../../../userspace/viewer/tables.mjs";
import { count, duration, exactly, fieldsOf, moment, onClock } from "../../../../../userspace/viewer/text.mjs";
import { Stepper } from "../../../../../userspace/viewer/step.mjs";
import { View, tickStep, tickText } from "../../../../../userspace/viewer/view.mjs";
import { exportEvents, measure } from "../../../../../userspace/viewer/range.mjs";

const page = readFileSync(process.argv[2], "latin1");
const stats = JSON.parse(readFileSync(process.argv[3], "utf8"));
const blocks = () => blocksOf(page), more = process.argv.length > 4;

let n = 0;
const wrong = [];
function equal(a, b, what)
{
	const [x, y] = [a, b].map((v) => JSON.stringify(v));
	if (x !== y)
		wrong.push(`${what}: ${x}, not ${y}`);
}

async function test(name, body)
{
	wrong.length = 0;
	try {
		await body();
	} catch (e) {
		wrong.push(e.stack);
	}
	console.log(`${wrong.length ? "not ok" : "ok"} ${++n} - ${name}`);
	for (const line of wrong)
		console.log(`# ${String(line).replace(/\n/g, "\n# ")}`);
	if (wrong.length)
		process.exitCode = 1;
}

const quiet = async () => true;
const data = await readBlocks(blocks(), quiet);
const model = new Model(data);
const { spans, events } = model;

await test("a page without damage has no damages, and all it says that it has", () => {
	equal(data.damages, [], "damages");
	equal(events.n, data.about.events, "events");
	equal(spans.n, data.about.spans, "spans");
});
await test("the statistics are those of ktape stats --json", () => equal(data.stats, stats, "stats"));
await test("events are in order of time", () => {
	for (let i = 1; i < events.n; i++) {
		if (events.t[i] < events.t[i - 1])
			throw new Error(`event ${i}`);
	}
});
await test("the time that threads run is that of the statistics", () => {
	for (const c of stats.cpus) {
		let ns = 0;
		for (let i = 0; i < spans.n; i++)
			ns += spans.kind[i] === RUN && spans.cpu[i] === c.cpu && spans.tid[i] > 0 ? spans.end[i] - spans.begin[i] : 0;
		let inside = c.run_ns + c.irq_ns + c.softirq_ns;
		// Interrupts of idle time are in neither.
		if (ns > inside + 2000 || ns < c.run_ns - 2000)
			throw new Error(`CPU ${c.cpu}: ${ns} ns, statistics ${c.run_ns} to ${inside}`);
	}
});
await test("the longest wait for a CPU is the maximum of run_queue", () => {
	const series = stats.series.find((s) => s.kind === "run_queue" && s.key === null);
	const i = model.longestOf("run_queue", null);
	equal(!!series.count, i >= 0, "a wait");
	if (i < 0)
		return;
	if (Math.abs(spans.end[i] - spans.begin[i] - series.max) > 2)
		throw new Error(`${spans.end[i] - spans.begin[i]}, not ${series.max}`);
	equal(model.placeOf(i).track.id, `thread:${spans.tid[i]}`, "track");
	const end = Number(BigInt(series.max_end_ns) - BigInt(data.about.mono_ns));
	if (Math.abs(end - spans.end[i]) > 2)
		throw new Error(`it ends at ${spans.end[i]}, by the statistics at ${end}`);
});
await test("a wait that is runnable has something that ran instead", () => {
	for (let i = 0; i < spans.n; i++) {
		if (spans.kind[i] !== WAIT || !isRunnable(spans.b[i]) || spans.flags[i])
			continue;
		const ns = model.ranOn(spans.cpu[i], spans.begin[i], spans.end[i]).reduce((sum, r) => sum + r.ns, 0);
		if (Math.abs(ns - (spans.end[i] - spans.begin[i])) > 2 && spans.begin[i] > events.t[20])
			throw new Error(`span ${i}: ${ns} of ${spans.end[i] - spans.begin[i]} ns`);
	}
});
/** Compare what ran while threads waited, of the spans of a page and of the statistics. */
function compareInstead(model, stats)
{
	const { spans } = model, pairs = new Map(), sums = new Map();
	for (let i = 0; i < spans.n; i++) {
		if (spans.kind[i] !== WAIT || !isRunnable(spans.b[i]) || spans.flags[i] & (NO_BEGIN | NO_END | UNSURE))
			continue;
		for (const { tid, ns } of model.ranInstead(i))
			pairs.set(`${spans.tid[i]} ${tid}`, (pairs.get(`${spans.tid[i]} ${tid}`) ?? 0) + ns);
	}
	for (const p of stats.instead.filter((x) => x.other >= 0))
		sums.set(`${p.tid} ${p.other}`, p);
	equal([...pairs.keys()].sort(), [...sums.keys()].sort(), "pairs");
	for (const [pair, ns] of pairs) {
		const p = sums.get(pair);
		if (p && Math.abs(ns - p.ns) > 2 * p.waits)
			wrong.push(`${pair}: ${ns}, not ${p.ns}`);
	}
	equal(pairs.size > 0, true, "a thread that waited");
}

await test("what ran instead of waiting threads is what the statistics have", () => compareInstead(model, stats));
if (more) await test("also of a wait of hundreds of switches", async () => {
	const long = JSON.parse(readFileSync(process.argv[5], "utf8")), most = Math.max(...long.instead.map((p) => p.waits));
	equal(most > 256, true, "switches");
	equal(long.instead.filter((p) => p.other < 0), [], "not known");
	compareInstead(new Model(await readBlocks(blocksOf(readFileSync(process.argv[4], "latin1")), quiet)), long);
});
if (more) await test("a wait in two run queues does not say that the last one's CPU ran what ran", async () => {
	const moved = new Model(await readBlocks(blocksOf(readFileSync(process.argv[6], "latin1")), quiet)), waits = [...moved.spans.kind.keys()].filter((k) =>
		moved.spans.kind[k] === WAIT && isRunnable(moved.spans.b[k]) && moved.ranMost(k) !== undefined);
	const text = (k) => Painter.prototype.instead.call({ model: moved }, k, moved.ranMost(k)), queues = (k) => moved.queuesOf(k).length;
	equal(waits.some((k) => queues(k) > 1) && waits.some((k) => queues(k) === 1), true, "waits of both kinds");
	for (const k of waits) {
		equal(/^; CPU \d+ /.test(text(k)), queues(k) === 1, text(k));
		equal(new Map(moved.describe(k)).has("run queues"), queues(k) > 1, "fields");
	}
});
await test("what a waiting thread's CPU did is said in words, also if it was idle", () => {
	const model = { spans: { cpu: [5], begin: [0], end: [1] }, queuesOf: () => [1], threadIn: () => "sh 7" };
	equal([0, 7].map((tid) => Painter.prototype.instead.call({ model }, 0, tid)), ["; CPU 5 was idle", "; CPU 5 ran sh 7"], "texts");
});
await test("a plot is steps, also where several are within half a pixel", () => {
	// Times in pixels: three steps within half a pixel, then nothing for long.
	const t = [0, 10, 10.2, 10.3, 60, 80, 80.4], v = [1, 5, 0, 2, 3, 4, 1];
	const view = { from: 0, to: 100, last: 100, x: (at) => at }, path = [];
	const g = { beginPath() {}, stroke() {}, moveTo: (x, y) => path.push([x, y]), lineTo: (x, y) => path.push([x, y]) };
	Painter.prototype.line.call({ view }, g, { low: 0, high: 5 }, { t, v }, 0, 100, "");
	for (let k = 1; k < path.length; k++) {
		if (path[k][0] !== path[k - 1][0] && path[k][1] !== path[k - 1][1])
			wrong.push(`a slope from ${path[k - 1]} to ${path[k]}`);
	}
	const heights = (from, to) => new Set(path.filter(([x]) => x >= from && x <= to).map(([, y]) => y)).size;
	equal(heights(10, 10.5), 4, "heights of 1, 5, 0, 2 at 10");
	// It has the last value where it goes on, and at the end of the plot.
	const of = (value) => path.find(([x]) => x === 0)[1] + (1 - value) * unit;
	const unit = (Math.max(...path.map(([, y]) => y)) - Math.min(...path.map(([, y]) => y))) / 5;
	equal(path.filter(([x]) => x === 60)[0][1], of(2), "height at 60");
	equal(path.at(-1), [100, of(1)], "end");
});
await test("a changed data block is named with its offset, and the rest is read", async () => {
	for (const [k, block] of blocks().entries()) {
		if (block.kind === "fields")
			continue;
		const all = blocks(), middle = block.text.length >> 1;
		all[k].text = block.text.slice(0, middle) + (block.text[middle] === "A" ? "B" : "A") + block.text.slice(middle + 1);
		const read = await readBlocks(all, quiet);
		if (!read.damages.some((d) => d.includes(`block ${k + 1} (${block.kind}), at byte ${block.at} `)))
			throw new Error(`${block.kind}: ${read.damages}`);
		equal(completeness(read).state, "bad", "state");
		new Model(read);
	}
});
await test("blocks with hostile sizes, texts and kinds are damages", async () => {
	const change = async (k, what) => {
		const all = blocks();
		Object.assign(all[k], what);
		const { damages } = await readBlocks(all, quiet);
		if (!damages.length)
			throw new Error(JSON.stringify(what).slice(0, 80));
	};
	for (const what of [{ nr: 1e12 }, { nr: NaN }, { bytes: 1e15 }, { bytes: 1 }, { text: "" }, { text: "????" },
		{ text: "AAA" }, { kind: "surprise" }, { crc: NaN }])
		await change(0, what);
	equal((await readBlocks([], quiet)).damages.length, 1, "no blocks");
	equal((await readBlocks(blocks().slice(0, -1), quiet)).damages.length, 1, "cut off");
	new Model(await readBlocks([], quiet));
});
await test("filters by name, class, CPU, thread and field", async () => {
	const run = async (text) => (await runFilter(parseFilter(text, model), model, quiet)).length;
	const where = (f) => { let k = 0; for (let i = 0; i < events.n; i++) k += !!f(i); return k; };
	equal(await run("sched_switch"), where((i) => model.opName(events.op[i]) === "sched_switch"), "name");
	equal(await run("name:sched_*"), where((i) => model.opName(events.op[i]).startsWith("sched_")), "glob");
	equal(await run("cpu:0"), where((i) => events.cpu[i] === 0), "cpu");
	equal(await run("class:sched cpu:1"), where((i) => events.cpu[i] === 1 && model.ops.get(events.op[i]).kind === "sched"), "class");
	equal(await run("thread:0"), where((i) => events.tid[i] === 0), "thread");
	let next = 0, tid = -1;
	for (let i = 0; i < events.n; i++) {
		const field = fieldsOf(await events.fields(i)).find(([k]) => k === "next_tid");
		tid = tid < 0 && field ? Number(field[1]) : tid;
		next += !!field && Number(field[1]) === tid;
	}
	equal(await run(`next_tid=${tid}`), next, "field");
	equal(await run("next_tid<0"), 0, "less");
	const name = [...model.names].find(([tid, text]) => /^\w+$/.test(text) && where((i) => events.tid[i] === tid))[1];
	equal(await run(`thread:"${name}"`), await run(`thread:${name}`), "a quoted name");
	for (const [text, n] of [["comm=\"a b\"", 1], ["comm=\"a b\" x=\"c d\" \"e f\"", 3], ["comm!=\"a b", 1], ["\"a b\" c", 1]])
		equal(parseFilter(text, model).slow.length, n, text);
	equal(parseFilter("comm=\"a b\"", model).slow[0]([["comm", "a b"]], ""), true, "a blank in a value");
	for (const bad of ["cpu:x", "class:"])
		equal(!!parseFilter(bad, model).error, true, bad);
});
await test("fields keep 64 bits, and split as JSON does", () => {
	equal(fieldsOf("{\"a\":18446744073709551615,\"b\":\"x\\\"},{\",\"c\":[1,\"]\",2],\"d\":{\"e\":1},\"f\":true}"),
		[["a", "18446744073709551615"], ["b", "x\"},{"], ["c", "[1,\"]\",2]"], ["d", "{\"e\":1}"], ["f", "true"]], "fields");
	equal(fieldsOf("{}"), [], "none");
	equal(fieldsOf(""), [], "nothing");
});
await test("the view zooms to 1 ns far from 0, and stays within the trace", () => {
	const far = 9e15, view = new View(0, far);
	for (let i = 0; i < 200; i++)
		view.zoom(0.5, far - 7);
	equal(view.length >= 1 && view.length < 3, true, `length ${view.length}`);
	equal(view.from <= far - 7 && view.to >= far - 7, true, "the place stays");
	view.fit();
	for (let i = 0; i < 50; i++)
		view.pan(1);
	equal(view.to < far * 1.05, true, "end");
	equal(tickStep(1000, 10), 100, "step");
	equal(tickStep(1, 12), 1, "no step within a nanosecond");
});
await test("numbers of an address are those of a span, an event or a time of the trace, or none", () => {
	equal(["0", "1", "9", "10", "1.5", "1e0", "-1", "", "x", "99999999999999999999", null].map((t) => indexOf(t, 10)), [0, 1, 9, -1, -1, -1, -1, -1, -1, -1, -1], "index");
	const at = { first: 0, last: 1000 };
	equal(["10,20", "-9,5", "20,10", "5,5", "0,Infinity", "1.5,2", "a,b", "1", "", null].map((t) => intervalOf(t, at)),
		[{ from: 10, to: 20 }, { from: -9, to: 5 }, null, null, null, null, null, null, null, null], "interval");
	equal(intervalOf("-1000000,99999999999999999999999", at), { from: -51, to: 1051 }, "limits");
	equal(intervalOf("5000,6000", at), null, "behind the end");
});
await test("ticks that stand side by side read differently, and say the time", () => {
	for (const from of [0, 7478407958, 8.9e15]) {
		for (const length of [1, 13, 999, 5e4, 3e9]) {
			const step = tickStep(length, 12), at = Math.ceil(from / step) * step, texts = [0, 1, 2].map((k) => tickText(at + k * step, step));
			equal(new Set(texts).size, 3, `${texts}`);
			equal(texts[0].replace(" s", "").padEnd(30, "0"), onClock("0", at).slice(0, texts[0].length - 2).padEnd(30, "0"), `${at} by ${step}`);
		}
	}
	equal([tickText(2e9, 1e9), tickText(2.5e9, 1e8), tickText(-1, 1), tickText(3, 5)], ["2 s", "2.5 s", "-0.000000001 s", "0.000000003 s"], "texts");
});
await test("a search goes through all spans of a name, and back, also those that begin together", () => {
	const begin = [5, 1, 5, 5, 9, 5], name = [1, 1, 2, 1, 1, 1], like = { spans: { n: 6, begin, name } };
	const walk = (from, by) => {
		const found = [];
		for (let i = -1; (i = model.nextCalled.call(like, new Set([1]), i, from, by)) >= 0 && found.length < 9;)
			found.push(i);
		return found;
	};
	equal([walk(0, 1), walk(10, -1), walk(6, 1), walk(0, -1)], [[1, 0, 3, 5, 4], [4, 5, 3, 0, 1], [4], []], "spans");
});
await test("a step back from behind the last event is to that one", async () => {
	const select = { value: "event" };
	globalThis.document = { getElementById: () => select };
	const stepper = new Stepper(model), at = async (how, ...more) => {
		select.value = how;
		return (await stepper.step(...more)).i;
	};
	for (const how of ["event", "kind", "cpu", "context"])
		equal(await at(how, -1, events.n, false), events.n - 1, how);
	equal([await at("event", 1, events.n, false), await at("event", 1, events.n - 1, true), await at("event", 1, 3, false), await at("event", -1, 3, true)], [-1, -1, 3, 2], "steps");
	delete globalThis.document;
});
await test("what the ledgers say was emitted is told, and what is missing of it", () => {
	const text = (cpus, wrong = 0) => completeness({ ledger: { wrong, findings: [], cpus }, stats: { gaps: 0, lost: 0 }, damages: [] }).text;
	const cpu = { cpu: 0, emitted: 10, records: 7, filtered: 1, lost: 2, missed: 0, reasons: { full: 2, nested: 0, too_big: 0, shed: 0, rate: 0 } };
	equal(text([cpu]), "incomplete: emitted 10 = stored 7 + filtered 1 + lost 2 (ring full)", "full rings");
	equal(text([cpu, { ...cpu, emitted: 14, missed: 4 }]),
		"incomplete: emitted 24 = stored 14 + filtered 2 + lost 8 (4 ring full; 4 overwritten unread)", "overwritten");
	equal(text([cpu, { ...cpu, reasons: { full: 0, nested: 0, too_big: 0, shed: 1, rate: 1 } }]),
		"incomplete: emitted 20 = stored 14 + filtered 2 + lost 4 (2 ring full; 1 shed: of low priority; 1 rate limit)", "other reasons");
	equal(text([{ ...cpu, reasons: {} }]), "incomplete: emitted 10 = stored 7 + filtered 1 + lost 2 (by the tracer)", "no reason");
	equal(text([{ ...cpu, emitted: 100, lost: 0, reasons: {} }], 2),
		"2 findings of ktape verify, incomplete: emitted 100 = stored 7 + filtered 1 + lost 92 (in missing or damaged packets)", "damage");
	equal(text([cpu, { ...cpu, emitted: null }]),
		"incomplete: stored 14, filtered 2, known to be lost 4 (ring full); how many were emitted is not known without the start and the stop of the session", "no ledger");
	equal(text([{ ...cpu, emitted: 9 }], 1),
		"1 finding of ktape verify, incomplete: stored 7, filtered 1, known to be lost 2 (ring full); emitted 9, which is less", "too many records");
	const late = (overwritten) => completeness({ ledger: { wrong: 0, findings: [], cpus: [{ ...cpu, emitted: 100, lost: 0, reasons: {} }] },
		stats: { gaps: 0, lost: 0, cpus: [{ cpu: 0, late: true, overwritten }] }, damages: [] }).text;
	equal(late(92), "incomplete: emitted 100 = stored 7 + filtered 1 + overwritten 92 + lost 0", "a flight recorder");
	equal(late(90), "incomplete: emitted 100 = stored 7 + filtered 1 + overwritten 90 + lost 2 (in missing or damaged packets)", "and damage");
});
await test("a page with a part of the trace says that the ledger is of the whole", () => {
	const cpus = [{ cpu: 0, emitted: 5, records: 5, filtered: 0, lost: 0, missed: 0 }], ledger = { wrong: 0, findings: [], cpus };
	const text = (more) => completeness({ ledger, stats, damages: [], ...more }).text;
	equal([text({}), text({ selection: [] })].map((t) => t.split(":")[0]), ["complete", "complete"], "all");
	equal(/^the whole trace is complete: .*; this page has a part of it$/.test(text({ selection: [["--pid", "1"]] })), true, "a part");
});
await test("the head names the kinds of spans that a full page left out", () => {
	const notes = (left_out) => notesOf({ ...data.about, left_out }, data).filter((t) => /because it is full/.test(t));
	equal([notes(undefined), notes({})], [[], []], "nothing");
	equal(notes({ lost: 3, "system call": 1200 }).map((t) => [/"([^"]*)"/.exec(t)[1], /: (.+) spans/.exec(t)[1]]),
		[["lost", "3"], ["system call", count(1200)]], "kinds");
});
await test("times as text", () => {
	equal([duration(0), duration(999), duration(1500), duration(2.5e6), duration(12e9)], ["0 ns", "999 ns", "1.500 µs", "2.500 ms", "12.00 s"], "durations");
	equal([duration(999949), duration(999950), duration(999999), duration(999949999), duration(999999999), duration(-999999)],
		["999.9 µs", "1.000 ms", "1.000 ms", "999.9 ms", "1.000 s", "-1.000 ms"], "the next unit");
	equal(exactly(168647722), `${count(168647722)} ns`, "exactly");
	equal(moment(1234567891), "1.234 567 891 s", "moment");
	equal(onClock("1795424806915379658", 1), "1795424806.915379659", "clock");
	equal(onClock("-5", 2), "-0.000000003", "before 0");
	equal(count(1234567), "1 234 567", "count");
});
await test("the export of an interval has its events", async () => {
	const from = events.t[5], to = events.t[Math.min(50, events.n - 1)], m = measure(model, from, to);
	const text = await exportEvents(model, from, to, "json", quiet);
	equal(text.split("\n").length - 1, m.events, "lines");
	for (const line of text.trim().split("\n"))
		JSON.parse(line);
	equal((await exportEvents(model, from, to, "csv", quiet)).split("\r\n").length - 2, m.events, "csv");
});
await test("numbers, checksum and base64", () => {
	const r = new Reader(Uint8Array.of(0x80, 1, 3, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f));
	equal([r.number(), r.signed(), r.signed(), r.number()], [128, -2, 2, 2 ** 53 - 1], "numbers");
	let failed = false;
	try {
		r.number();
	} catch {
		failed = true;
	}
	equal(failed, true, "the end");
	equal(crc32c(new TextEncoder().encode("123456789")), 0xe3069283, "crc32c");
	equal([...fromBase64("AQID")], [1, 2, 3], "base64");
	equal([...fromBase64("AQ==")], [1], "base64 with padding");
});
console.log(`1..${n}`);
