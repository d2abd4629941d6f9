// SPDX-License-Identifier: GPL-2.0-only
// Test the modules of the viewer on pages that have less than the trace.
// usage: merged.mjs FULL MERGED EVENTS EXACT LOSSY	pages of one trace, and of one with losses

import { readFileSync } from "node:fs";

import { blocksOf } from "./blocks.mjs";
import { differ, plan, test } from "../../../../viewer/tap.mjs";
import { LOSS, LOST, MERGED, ON, RUN, WAIT, isRunnable, kinds } from "../../../../../userspace/viewer/kinds.mjs";
import { readBlocks } from "../../../../../userspace/viewer/load.mjs";
import { MIXED, Model } from "../../../../../userspace/viewer/model.mjs";
import { measure } from "../../../../../userspace/viewer/range.mjs";
import { completeness } from "../../../../../userspace/viewer/tables.mjs";
import { count } from "../../../../../userspace/viewer/text.mjs";

const load = async (path) => new Model(await readBlocks(blocksOf(readFileSync(path, "latin1")), async () => true));
const [full, merged, events, exact, lossy] = await Promise.all(process.argv.slice(2).map(load));
const { spans } = merged, whole = [full.first - 1, full.last + 1];
const parts = [[0.1, 0.4], [0.3, 0.6], [0.5, 0.501], [0, 0.95]].map((p) => p.map((share) => Math.round(full.last * share)));

/** Return [n, ns] of the merged spans of a kind, or of a thread, that an end of an interval cuts. */
function cutBy(wanted, from, to)
{
	let n = 0, ns = 0;
	for (const [i, m] of spans.merged) {
		if (wanted(i) && spans.end[i] > from && spans.begin[i] < to && (spans.begin[i] < from || spans.end[i] > to)) {
			n += m.count;
			ns += m.busy;
		}
	}
	return [n, ns];
}

/** Compare sums of both pages: within what the cut spans have, and equal if none is cut. */
function compare(x, y, wanted, from, to)
{
	const wrong = [];
	for (const key of new Set([...x.keys(), ...y.keys()])) {
		const none = { n: 0, ns: 0, cut: false }, a = x.get(key) ?? none, b = y.get(key) ?? none, [n, ns] = cutBy((i) => wanted(i, key), from, to);
		if (b.cut !== n > 0 || Math.abs(a.n - b.n) > n || Math.abs(a.ns - b.ns) > ns)
			wrong.push(`${key}: ${JSON.stringify(b)}, not ${JSON.stringify(a)}, cut ${[n, ns]}`);
	}
	return wrong.join("\n");
}

const ofKind = (i, name) => spans.kind[i] !== RUN && spans.kind[i] !== ON && kinds[spans.kind[i]].name === name;
const ofThread = (i, tid) => spans.kind[i] === ON && spans.tid[i] === tid;
const threads = (m) => new Map([...m.threads].filter(([tid]) => tid > 0));

await test("the merged page has merged spans of CPUs, of threads and of waits", () =>
	differ([RUN, ON, WAIT].map((kind) => [...spans.merged.keys()].some((i) => spans.kind[i] === kind)), [true, true, true]));
await test("sums of the whole trace are the same of a merged page", () => {
	const [x, y] = [full, merged].map((m) => measure(m, ...whole));
	return compare(x.byKind, y.byKind, ofKind, ...whole) || compare(threads(x), threads(y), ofThread, ...whole) ||
		differ([...y.byKind].map(([name, s]) => [name, s.most]).sort(), [...x.byKind].map(([name, s]) => [name, s.most]).sort());
});
await test("the time that threads run is that of their CPUs' spans", () => {
	const sums = new Map(), { threads: ran } = measure(full, ...whole);
	for (let i = 0; i < full.spans.n; i++) {
		if (full.spans.kind[i] === RUN)
			sums.set(full.spans.tid[i], (sums.get(full.spans.tid[i]) ?? 0) + full.spans.end[i] - full.spans.begin[i]);
	}
	return sums.size > 1 ? differ([...ran].map(([tid, s]) => [tid, s.ns]).sort(), [...sums].sort()) : "one thread";
});
for (const [from, to] of parts) {
	await test(`sums from ${from} to ${to} ns differ by no more than merged spans at the ends`, () => {
		const [x, y] = [full, merged].map((m) => measure(m, from, to));
		return compare(x.byKind, y.byKind, ofKind, from, to) || compare(threads(x), threads(y), ofThread, from, to);
	});
}
await test("spans of no length that are merged count, and are never cut", () => {
	const like = { n: 1, kind: [ON], tid: [7], begin: [5], end: [5], merged: new Map([[0, { count: 3, busy: 0, longest: 0 }]]) };
	const { n, ns, cut } = measure({ spans: like, events: { after: () => 0 }, hasEvents: () => true }, 0, 10).threads.get(7);
	return differ([n, ns, cut], [3, 0, false]);
});
await test("merged spans of a CPU make idle time inexact, and only they", () =>
	differ([measure(full, ...whole).mixed, measure(merged, ...whole).mixed > 0], [0, true]));
await test("who ran instead is what the whole page says, or not certain", () => {
	const at = new Map(), wrong = [];
	let certain = 0, mixed = 0;
	const key = (s, i) => `${s.tid[i]} ${s.begin[i]} ${s.end[i]} ${s.b[i]}`;
	for (let i = 0; i < full.spans.n; i++) {
		if (full.spans.kind[i] === WAIT)
			at.set(key(full.spans, i), i);
	}
	for (let i = 0; i < spans.n; i++) {
		if (spans.kind[i] !== WAIT || spans.flags[i] & MERGED || !isRunnable(spans.b[i]))
			continue;
		const there = full.ranInstead(at.get(key(spans, i))), ns = new Map(there.map((o) => [o.tid, o.ns]));
		const here = merged.ranInstead(i), first = merged.ranMost(i);
		if (here.some((o) => o.tid !== MIXED && o.ns > ns.get(o.tid)) || (first !== undefined && ns.get(first) !== there[0].ns))
			wrong.push(`span ${i}: ${JSON.stringify(here)}, not ${JSON.stringify(there)}`);
		certain += first !== undefined;
		const unsure = here.some((o) => o.tid === MIXED), words = new Map(merged.describe(i));
		mixed += unsure;
		if (unsure !== /not exact: .*html:exact=\d/.test(words.get("merged") ?? ""))
			wrong.push(`span ${i} is described as ${[...words].join("; ")}`);
	}
	return wrong.slice(0, 3).join("\n") || (certain && mixed ? "" : `${certain} certain, ${mixed} with merged spans`);
});
await test("the longest span of a kind is never a merged one", () => {
	const { series } = merged.data.stats;
	const found = [...kinds.keys()].map((kind) => merged.longest((i) => spans.kind[i] === kind)).concat(series.filter((s) => s.count).map((s) => merged.momentOf(s).span));
	return found.some((i) => i >= 0) ? differ(found.filter((i) => i >= 0 && spans.flags[i] & MERGED), []) : "no span was found";
});
await test("a page with some of the events says so, except of times that are exact", () => {
	const [from, to] = exact.about.exact, all = (m, ...part) => measure(m, ...part).all;
	return differ([full, merged, events].map((m) => all(m, ...whole)), [true, true, false]) ||
		differ([[from, to], [from - 1, to], [from, to + 1], [from + 1, to - 1]].map((part) => all(exact, ...part)), [true, false, false, true]) ||
		differ(measure(exact, from, to).events, measure(full, from, to).events);
});
await test("each loss is counted once", () => {
	const of = (kind) => [...lossy.spans.kind].filter((k) => k === kind).length;
	if (measure(full, ...whole).lost || !measure(lossy, lossy.first - 1, lossy.last + 1).lost)
		return "an interval does not say whether events were lost in it";
	return of(LOSS) ? differ(measure(lossy, lossy.first - 1, lossy.last + 1).byKind.get("lost")?.n, of(LOST)) : "no loss has classes";
});
await test("each loss says why, and the head adds up the reasons of the ledger", () => {
	const { cpus } = lossy.data.ledger, sum = (name) => cpus.reduce((n, c) => n + c.reasons[name], 0);
	const [full_, shed] = [sum("full"), sum("shed")], losses = [...lossy.spans.kind.keys()].filter((i) => lossy.spans.kind[i] === LOST && lossy.spans.a[i]);
	const reasons = losses.map((i) => new Map(lossy.describe(i)).get("reason"));
	const text = completeness(lossy.data).text.replace(/[\u2009\u202f ]/g, " ");
	if (!(full_ && shed) || !losses.every((i, k) => lossy.title(i).endsWith(`events lost: ${reasons[k]}`)))
		return `${full_} full, ${shed} shed; ${losses.map((i) => lossy.title(i))}`;
	return differ([...new Set(reasons.flatMap((r) => r.split("; ")))].sort(), ["ring full", "shed: of low priority"]) ||
		differ(/lost [\d ]+ \((.*)\)/.exec(text)?.[1], `${count(full_)} ring full; ${count(shed)} shed: of low priority`.replace(/[\u2009\u202f ]/g, " "));
});
await test("a loss of events that were overwritten unread says so", () => {
	const i = lossy.spans.kind.indexOf(LOST), before = lossy.spans.b[i];
	lossy.spans.b[i] = 1 << 7 | 3 << 8;
	const found = lossy.reasonOf(i);
	lossy.spans.b[i] = before;
	return differ(found.replace(/\s/g, " "), "overwritten unread; 3 packets missing");
});
plan();
