// SPDX-License-Identifier: GPL-2.0-only
// Which events are listed: "name:sched_* class:irq cpu:1 thread:sh prev_tid=7 text".

import { fieldsOf } from "./text.mjs";

/** Return a function that matches a whole name with * and ?. */
function globWhole(pattern)
{
	const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
	const re = new RegExp(`^${escaped}$`, "i");
	return (text) => re.test(text);
}

/** The same, but without * and ? a part of the name is enough. */
export function glob(pattern)
{
	const lower = pattern.toLowerCase();
	return /[*?]/.test(pattern) ? globWhole(pattern) : (text) => text.toLowerCase().includes(lower);
}

/** Return a number of any size for comparing; numbers of 64 bits are not exact as Number. */
function numberOf(text)
{
	return /^(-?\d+|0x[\da-f]+)$/i.test(text) ? BigInt(text) : Number(text);
}

const compare = {
	"=": (x, y) => x === y,
	"!=": (x, y) => x !== y,
	"<": (x, y) => numberOf(x) < numberOf(y),
	">": (x, y) => numberOf(x) > numberOf(y),
};

/**
 * Parse a filter.  Result: "fast" tests an event's columns, "slow" its fields (null =
 * not needed), "error" says what cannot be understood.
 */
export function parseFilter(text, model)
{
	const fast = [], slow = [];
	let error = "";
	// Blanks between quotes are part of a word, also of one such as comm="a b".
	for (const word of text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []) {
		const key = /^(name|class|thread|cpu):"?(.*?)"?$/.exec(word);
		const field = /^([A-Za-z_]\w*)(!=|=|<|>)(.*)$/.exec(word);
		if (key && !key[2]) {
			error = `${word} needs a value`;
		} else if (key?.[1] === "cpu") {
			const cpus = new Set(key[2].split(",").map(Number));
			if ([...cpus].some(Number.isNaN))
				error = `${word}: give numbers of CPUs, such as cpu:0,2`;
			fast.push((i) => cpus.has(model.events.cpu[i]));
		} else if (key?.[1] === "thread") {
			const id = /^\d+$/.test(key[2]), match = glob(key[2]), cache = new Map();
			fast.push((i) => {
				const tid = model.events.tid[i], name = id ? "" : model.called.atEvent(i);
				if (!cache.has(tid))
					cache.set(tid, new Map());
				const known = cache.get(tid);
				if (!known.has(name))
					known.set(name, id ? String(tid) === key[2] : match(model.threadOf(i)));
				return known.get(name);
			});
		} else if (field) {
			const test = compare[field[2]], wanted = field[3].replace(/^"|"$/g, "");
			// A number and its name are one field: with "!=" neither may be the value.
			const all = field[2] === "!=", has = ([, v]) => test(String(v), wanted);
			slow.push((pairs) => {
				const named = pairs.filter(([k]) => k === field[1] || k === `${field[1]}_name`);
				return all ? named.length && named.every(has) : named.some(has);
			});
		} else if (/^"/.test(word)) {
			const wanted = word.replace(/"/g, "").toLowerCase();
			slow.push((pairs, line) => line.toLowerCase().includes(wanted));
		} else {
			const ofClass = key?.[1] === "class", match = ofClass ? globWhole(key[2]) : glob(key ? key[2] : word);
			const ops = new Uint8Array(256);
			for (let op = 0; op < 256; op++)
				ops[op] = match(ofClass ? model.ops.get(op)?.kind ?? "" : model.opName(op));
			fast.push((i) => ops[model.events.op[i]]);
		}
	}
	return { fast, slow: slow.length ? slow : null, error };
}

/**
 * Return the indices of the events that a filter lets pass.  @pause is awaited between
 * slices; if it returns false, another filter came, and the result is null.
 */
export async function runFilter(filter, model, pause)
{
	const { events } = model, found = new Int32Array(events.n);
	let n = 0;
	for (const chunk of events.chunks) {
		const lines = filter.slow ? await events.lines(chunk) : null;
		for (let k = 0; k < chunk.nr; k++) {
			const i = chunk.from + k;
			if (!filter.fast.every((test) => test(i)))
				continue;
			if (lines) {
				const line = lines[k] ?? "", pairs = fieldsOf(line);
				if (!filter.slow.every((test) => test(pairs, line)))
					continue;
			}
			found[n++] = i;
		}
		if (!await pause())
			return null;
	}
	return found.slice(0, n);
}
