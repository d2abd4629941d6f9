// SPDX-License-Identifier: GPL-2.0-only
// Test what the viewer knows of traces of an RTOS: its numbers are those of ktape stats,
// and its rows have moments.
// usage: rtos.mjs NAME PAGE STATS	STATS: what ktape stats --rtos --services --json prints

import { readFileSync } from "node:fs";

import { blocksOf } from "./blocks.mjs";
import { readBlocks } from "../../../../../userspace/viewer/load.mjs";
import { Model } from "../../../../../userspace/viewer/model.mjs";
import { fieldsOf } from "../../../../../userspace/viewer/text.mjs";

const [title, page, file] = process.argv.slice(2);
const stats = JSON.parse(readFileSync(file, "utf8"));
const data = await readBlocks(blocksOf(readFileSync(page, "latin1")), async () => true);
const model = new Model(data), { events } = model, wrong = [];

function equal(a, b, what)
{
	if (JSON.stringify(a) !== JSON.stringify(b))
		wrong.push(`${what}: ${JSON.stringify(a)}, not ${JSON.stringify(b)}`);
}

async function nameOf(i)
{
	return model.eventName(events.op[i], await events.fields(i));
}

equal(data.damages, [], "damages");
equal(data.rtos, stats, "numbers");
// A service begins at its first event, and no event of that name is earlier.
for (const [k, [id, times]] of stats.popular.entries()) {
	const name = stats.services[id], i = await model.findEvent({ t: model.timeOf(stats.popular_first_ns[k]), tid: null, name });
	if (i < 0 || times < 1)
		wrong.push(`${name}: no event at ${stats.popular_first_ns[k]}`);
	// Others than ThreadX name some events otherwise than their service.
	const own = i >= 0 && await nameOf(i) === name;
	for (let j = 0; own && j < i; j++) {
		if (await nameOf(j) === name && events.t[j] < events.t[i])
			wrong.push(`${name}: event ${j} is before ${i}`);
	}
}
// Where the stack of a thread was fullest, that thread has an event with its pointer.
for (const t of stats.thread_list.filter((x) => x.stack_event_ns !== undefined)) {
	const i = await model.findEvent({ t: model.timeOf(t.stack_event_ns), tid: t.tid }), words = i < 0 ? "" :
		fieldsOf(await events.fields(i)).find(([k]) => k === "args")[1];
	if (!words.includes(`"0x${(Number(t.stack_start) + t.stack_min_available).toString(16)}"`))
		wrong.push(`stack of ${t.name}: ${words}`);
}
for (const v of stats.inversions) {
	// Others than ThreadX name the event that waits otherwise.
	const from = await model.findEvent({ t: model.timeOf(v.begin_ns), tid: v.tid, name: "mutex_get" });
	equal(from >= 0 && [events.t[from], /^mutex_get$|_block_/.test(await nameOf(from))], [model.timeOf(v.begin_ns), true], `inversion at ${v.begin_ns}`);
}
for (const r of (stats.responses ?? []).filter((x) => x.count)) {
	const to = model.timeOf(r.max_end_ns);
	if (to - r.max < model.first || to > model.last)
		wrong.push(`response of ${r.name}: ${to - r.max} to ${to}`);
	if (r.signal !== null)
		equal(await nameOf(await model.findEvent({ t: to, tid: null, name: "SMA_GET" })), "SMA_GET", `end of the longest response of ${r.name}`);
}
console.log(`${wrong.length ? "not ok" : "ok"} ${title}`);
for (const line of wrong)
	console.log(`# ${line}`);
process.exitCode = wrong.length ? 1 : 0;
