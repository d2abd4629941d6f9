// SPDX-License-Identifier: GPL-2.0-only
// Test the names of threads in the viewer's modules, on pages of a trace in which threads
// change them.
// usage: names.mjs NAME...	NAME.html: a page; NAME.jsonl: ktape dump --json of the same

import { readFileSync } from "node:fs";

import { blocksOf } from "./blocks.mjs";
import { differ, plan, test } from "../../../../viewer/tap.mjs";
import { parseFilter, runFilter } from "../../../../../userspace/viewer/filter.mjs";
import { ON, RUN } from "../../../../../userspace/viewer/kinds.mjs";
import { readBlocks } from "../../../../../userspace/viewer/load.mjs";
import { Model } from "../../../../../userspace/viewer/model.mjs";
import { describeEvent, exportEvents } from "../../../../../userspace/viewer/range.mjs";

const quiet = async () => true, CHANGED = 100, TWICE = 105, NAMELESS = 106, LATE = 107;

for (const name of process.argv.slice(2)) {
	const model = new Model(await readBlocks(blocksOf(readFileSync(`${name}.html`, "latin1")), quiet));
	const lines = readFileSync(`${name}.jsonl`, "utf8").trim().split("\n").filter((l) => !/"event":"(registry|time_extend)"/.test(l));
	const { spans, events } = model, wanted = lines.map((l) => JSON.parse(l));

	await test(`${name}: a saved event is the line of ktape dump`, async () => {
		const saved = (await exportEvents(model, -Infinity, Infinity, "json", quiet)).trim().split("\n");
		const bare = lines.map((l) => l.replace(/"ring":"\w+",/, ""));
		return differ(saved.length, bare.length) || saved.map((l, i) => differ(l, bare[i])).find(Boolean) || "";
	});
	await test(`${name}: each thread had all its names, one after the other`, () => {
		const told = new Map();
		for (const l of wanted.filter((x) => [CHANGED, TWICE, LATE].includes(x.tid) && x.comm !== null)) {
			told.set(l.tid, told.get(l.tid) ?? []);
			if (!told.get(l.tid).includes(l.comm))
				told.get(l.tid).push(l.comm);
		}
		return differ([CHANGED, TWICE, NAMELESS, LATE].map((tid) => model.called.all(tid)), [["worker", "ls", "cat"], ["worker", "again"], [], ["late \"one\""]]) ||
			differ(wanted.filter((l) => l.tid === NAMELESS).every((l) => l.comm === null), true) ||
			differ([CHANGED, TWICE, LATE].map((tid) => told.get(tid)), [["worker", "ls", "cat"], ["worker", "again"], ["late \"one\""]]);
	});
	await test(`${name}: a filter finds the events of a name, and those of a thread whatever its name`, async () => {
		for (const text of ["worker", "ls", "cat", "again", "105"]) {
			const found = [...await runFilter(parseFilter(`thread:${text}`, model), model, quiet)];
			const all = wanted.map((l, i) => (text === "105" ? l.tid === TWICE : l.comm?.includes(text)) ? i : -1).filter((i) => i >= 0);
			const wrong = differ(found, all) || (all.length ? "" : "none has it");
			if (wrong)
				return `${text}: ${wrong}`;
		}
		return "";
	});
	await test(`${name}: the fields of an event have the name at that event`, async () => {
		for (const [i, l] of wanted.entries()) {
			const shown = new Map(await describeEvent(model, i)).get("thread");
			const wrong = l.tid > 0 ? differ(shown, l.comm === null ? `thread ${l.tid}` : `${l.comm} ${l.tid}`) : "";
			if (wrong)
				return `event ${i}: ${wrong}`;
		}
		return "";
	});
	await test(`${name}: a running span is called as its thread at its begin, and says so if that changes`, () => {
		let renamed = 0;
		for (let i = 0; i < spans.n; i++) {
			const rows = new Map(model.describe(i)), tid = spans.tid[i];
			if ((spans.kind[i] !== ON && spans.kind[i] !== RUN) || tid <= 0)
				continue;
			const at = model.called.at(tid, spans.begin[i]), wrong = differ(model.title(i), at ? `${at} ${tid}` : `thread ${tid}`) || differ(rows.get("thread").split(",")[0], model.title(i));
			if (wrong)
				return `span ${i}: ${wrong}`;
			const names = new Set(wanted.filter((l, k) => l.tid === tid && l.comm !== null && events.t[k] >= spans.begin[i] && events.t[k] < spans.end[i]).map((l) => l.comm));
			if (names.size > 1 && rows.get("renamed") !== `meanwhile, from ${[...names].join(" to ")}`)
				return `span ${i}: ${rows.get("renamed")}, not ${[...names]}`;
			renamed += names.size > 1;
		}
		return "";
	});
	await test(`${name}: a span of a thread that is called otherwise later says so`, () => {
		const said = new Set();
		for (let i = 0; i < spans.n; i++) {
			if ([CHANGED, LATE].includes(spans.tid[i]) && !spans.merged.has(i))
				said.add(new Map(model.describe(i)).get("thread").replace(/, process.*/, ""));
		}
		return differ([...said].sort(), ["cat 100", "late \"one\" 107", "ls 100, later cat", "worker 100, later cat"]);
	});
	await test(`${name}: the track of a thread is found by each of its names`, () => {
		const track = model.tracks.find((t) => t.id === `thread:${CHANGED}`);
		return differ([track.label, track.called], ["cat 100", ["worker", "ls"]]);
	});
}
plan();
