// SPDX-License-Identifier: GPL-2.0-only
// Next and previous by event, thread, object, kind, CPU and switch: n and p go through
// the events that ktape dump --json prints, chosen here from its fields.
// usage: check_step.mjs CHROMIUM KTAPE FOLDER
//	FOLDER: NAME.html for each trace, and a link or folder NAME

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";

import { Browser } from "./chromium.mjs";
import { differ, plan, test } from "./tap.mjs";

const STEPS = 6;	// of each object
const EACH = 2;		// objects of each kind
const [chromium, ktape, folder] = process.argv.slice(2);
const names = readdirSync(folder).filter((f) => f.endsWith(".html")).map((f) => basename(f, ".html")).sort();
const browser = new Browser(chromium);

const threads = ["prev_tid", "next_tid", "tid", "tgid", "old_tid", "parent_tid", "child_tid", "child_tgid", "donor_tid"];
const marks = new Set(["mark", "mark_begin", "mark_end"]);

/* The words in which events of ThreadX have the address of an object: info of ktape dump. */
const words = /^(thread|queue|semaphore|mutex|group|pool|timer|next_thread)_ptr$/;

/** What an event is about, as texts, from a line of ktape dump --json. */
function about({ event, fields, tid, comm, source }, known)
{
	const found = [], put = (kind, value) => found.push(`${kind} ${value}`);
	for (const [name, kind] of [["irq", "irq"], ["vec", "softirq"], ["lock", "lock"], ["skb", "skb"], ["timer", "timer"]]) {
		if (fields[name] !== undefined)
			put(kind, fields[name]);
	}
	if (/^workqueue_/.test(event))
		put("work", fields.work);
	if (/^sys_(enter|exit)/.test(event))
		put("system call", fields.nr);
	if (/^signal_/.test(event))
		put("signal", fields.sig);
	if (/^ipi_/.test(event))
		put("ipi", fields.reason);
	if (/^block_/.test(event))
		put("block device", fields.dev);
	if (/^(net|napi)/.test(event) && fields.dev !== undefined)
		put("network device", fields.dev);
	if (marks.has(event))
		put("mark", fields.task ? `${fields.id} of ${comm} ${tid}` : fields.id);
	if (event === "mark_value")
		put("value", fields.id);
	if (/^isr_/.test(event))
		put("isr", fields.id);
	for (const name of threads) {
		if (fields[name] > 0)
			put("thread", fields[name]);
	}
	const [first] = Object.entries(source?.info ?? {});
	if (first && words.test(first[0]))
		put(known.has(first[1]) ? "thread" : "object", known.has(first[1]) ? first[1] : `0x${first[1].toString(16)}`);
	// RKH: the first address, which is that of the object.
	const address = source?.group && Object.values(source).find((v) => /^0x/.test(v) && Number(v) >= 256);
	if (address)
		put("object", address);
	if (!found.length && tid > 0)
		put("thread", tid);
	return found;
}

try {
	const tab = await browser.page(1366, 768);
	for (const name of names) {
		const lines = execFileSync(ktape, ["dump", "--json", join(folder, name)], { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] }).toString().trim().split("\n")
			.map((l) => JSON.parse(l)).filter((l) => l.event !== "registry" && l.event !== "time_extend" && !l.source?.BaseMetadata);
		const known = new Set(lines.map((l) => l.tid)), objects = new Map();
		for (const [i, line] of lines.entries()) {
			// Events of a user's own say nothing of objects.
			for (const o of line.source?.group === "USR" ? [] : new Set(about(line, known)))
				objects.get(o)?.push(i) ?? objects.set(o, [i]);
		}
		await tab.open(`file://${resolve(folder, `${name}.html`)}`);
		await test(`${name}: the page has the events of ktape dump`, async () =>
			differ(await tab.run("ktape.model.events.n"), lines.length));

		/** Choose how to step. */
		const choose = (how) => tab.run(`(() => { const s = document.getElementById("step"); s.value = "${how}"; s.dispatchEvent(new Event("change")); document.activeElement.blur(); })()`);

		/** Press a key, and go on as it does, until the selection stands still.  Return the events passed. */
		async function walk(key, from, nr)
		{
			await tab.run(`(async () => { await ktape.selectEvent(${from}, true); document.getElementById("said").textContent = ""; })()`);
			await tab.key(key);
			await tab.until(`ktape.selected.event !== ${from} || /^no further/.test(document.getElementById("said").textContent)`);
			return tab.run(`(async () => { const passed = [];
				for (let last = ${from}; ktape.selected.event !== last && passed.length < ${nr}; await ktape.step(${key === "n" ? 1 : -1})) {
					last = ktape.selected.event;
					passed.push(last);
				}
				return passed; })()`);
		}

		await test(`${name}: n and p by thread, kind, CPU and switch`, async () => {
			const from = lines.length >> 1, same = (key) => (l) => key(l) === key(lines[from]);
			for (const [how, test_] of [["event", () => true], ["context", same((l) => l.tid)], ["kind", same((l) => l.event)],
				["cpu", same((l) => l.cpu)], ["switch", (l) => l.event === "sched_switch" || l.event === "context"]]) {
				await choose(how);
				const all = lines.map((l, i) => test_(l) ? i : -1).filter((i) => i >= 0);
				const why = differ(await walk("n", from, 4), all.filter((i) => i > from).slice(0, 4)) ||
					differ(await walk("p", from, 4), all.filter((i) => i < from).reverse().slice(0, 4));
				if (why)
					return `${how}: ${why}`;
			}
			return "";
		});
		await test(`${name}: n and p by object go through its events, and end at its last`, async () => {
			const kinds = new Map();
			for (const o of objects.keys()) {
				const kind = o.replace(/ \S+( of .*)?$/, "");
				kinds.set(kind, [...kinds.get(kind) ?? [], o]);
			}
			await choose("object");
			for (const all of kinds.values()) {
				for (const o of all.filter((k) => objects.get(k).length > 1).slice(0, EACH)) {
					const list = objects.get(o), at = Math.max(0, list.length - STEPS);
					await tab.run(`(async () => { await ktape.selectEvent(${list[at]}, true); ktape.stepper.object = null;
						const { objects } = ktape.described; ktape.stepper.object = objects.find((x) => x.key === ${JSON.stringify(o)}) ?? null; })()`);
					const why = differ(await walk("n", list[at], STEPS), list.slice(at + 1)) ||
						differ(await walk("p", list.at(-1), 3), list.slice(0, -1).reverse().slice(0, 3));
					if (why)
						return `${o}: ${why}`;
				}
			}
			console.log(`# ${[...kinds].map(([kind, all]) => `${kind}: ${all.length}`).join(", ")}`);
			return kinds.size ? "" : "no object";
		});
		await test(`${name}: a button of an event follows what it names`, async () => {
			const [o, list] = [...objects].find(([k, l]) => l.length > 3 && !k.startsWith("thread")) ?? [...objects].find(([, l]) => l.length > 1);
			await tab.run(`ktape.selectEvent(${list[0]}, true)`);
			await tab.run(`[...document.querySelectorAll("#details button")][ktape.described.objects.findIndex((x) => x.key === ${JSON.stringify(o)})].click()`);
			await tab.until(`ktape.selected.event !== ${list[0]}`);
			return differ(await tab.run("[ktape.selected.event, ktape.stepper.object.key, document.getElementById('step').value]"), [list[1], o, "object"]);
		});
	}
	await test("no error was thrown", () => differ(tab.errors, []));
} finally {
	await browser.close();
}
plan();
