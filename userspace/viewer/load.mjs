// SPDX-License-Identifier: GPL-2.0-only
// Read the blocks of the page (lib/format/html/block.c) into columns, in slices, so
// that the page stays responsive.  A damaged block is left out and named.

import { Damage, Reader, crc32c, fromBase64, inflate } from "./bytes.mjs";
import { MERGED } from "./kinds.mjs";

export const FORM = 1;
const CPU_NONE = 65535;

/** Check and decompress a block. */
export async function blockBytes(block)
{
	let bytes;
	try {
		bytes = await inflate(fromBase64(block.text), block.bytes);
	} catch (e) {
		throw new Damage(e instanceof Damage ? e.message : "it cannot be decompressed");
	}
	if (crc32c(bytes) !== block.crc)
		throw new Damage("its checksum is wrong");
	return bytes;
}

/** The events: columns, and their fields by blocks that are decompressed when needed. */
class Events {
	constructor(room)
	{
		this.n = 0;
		this.t = new Float64Array(room);
		this.op = new Uint8Array(room);
		this.cpu = new Uint16Array(room);
		this.tid = new Int32Array(room);
		this.chunks = [];	// { from, nr, block }
		this.kept = new Map();	// of chunks that were needed last: lines
	}

	add(bytes, nr)
	{
		const r = new Reader(bytes), from = this.n;
		if (from + nr > this.t.length)
			throw new Damage("it has more events than the page says");
		for (let i = 0, t = 0; i < nr; i++)
			this.t[from + i] = t += r.signed();
		for (let i = 0; i < nr; i++)
			this.op[from + i] = r.number();
		for (let i = 0; i < nr; i++)
			this.cpu[from + i] = r.number();
		for (let i = 0; i < nr; i++)
			this.tid[from + i] = r.signed();
		this.n += nr;
		this.chunks.push({ from, nr, block: null });
	}

	/** Return the chunk of an event. */
	chunkOf(i)
	{
		let low = 0, high = this.chunks.length - 1;
		while (low < high) {
			const middle = low + high + 1 >> 1;
			if (this.chunks[middle].from <= i)
				low = middle;
			else
				high = middle - 1;
		}
		return this.chunks[low];
	}

	/** Return the fields of all events of a chunk, a line each; "" = damaged. */
	async lines(chunk)
	{
		let lines = this.kept.get(chunk);
		if (lines)
			return lines;
		try {
			const bytes = chunk.block ? await blockBytes(chunk.block) : new Uint8Array(0);
			lines = new TextDecoder().decode(bytes).split("\n");
		} catch {
			lines = [];
		}
		this.kept.set(chunk, lines);
		if (this.kept.size > 16)
			this.kept.delete(this.kept.keys().next().value);
		return lines;
	}

	/** Return the fields of an event as text, "{...}". */
	async fields(i)
	{
		const chunk = this.chunkOf(i);
		return (await this.lines(chunk))[i - chunk.from] ?? "";
	}

	/** Return the first event at or after a time. */
	after(t)
	{
		let low = 0, high = this.n;
		while (low < high) {
			const middle = low + high >> 1;
			if (this.t[middle] < t)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}
}

class Spans {
	constructor(room)
	{
		this.n = 0;
		this.kind = new Uint8Array(room);
		this.depth = new Uint8Array(room);
		this.flags = new Uint8Array(room);
		this.cpu = new Uint16Array(room);
		this.tid = new Int32Array(room);
		this.name = new Uint32Array(room);
		this.begin = new Float64Array(room);
		this.end = new Float64Array(room);
		this.a = new Float64Array(room);
		this.b = new Float64Array(room);
		this.merged = new Map();	// { count, busy, longest }
	}

	add(bytes, nr)
	{
		const r = new Reader(bytes), from = this.n, to = from + nr;
		if (to > this.kind.length)
			throw new Damage("it has more spans than the page says");
		const fill = (column) => {
			for (let i = from; i < to; i++)
				column[i] = r.number();
		};
		const fillSigned = (column) => {
			for (let i = from; i < to; i++)
				column[i] = r.signed();
		};
		fill(this.kind);
		fill(this.depth);
		fill(this.flags);
		for (let i = from; i < to; i++) {
			const cpu = r.signed();
			this.cpu[i] = cpu < 0 ? CPU_NONE : cpu;
		}
		fillSigned(this.tid);
		fill(this.name);
		for (let i = from, t = 0; i < to; i++)
			this.begin[i] = t += r.signed();
		for (let i = from; i < to; i++)
			this.end[i] = this.begin[i] + r.number();
		fillSigned(this.a);
		fillSigned(this.b);
		const counts = [];
		for (let i = from; i < to; i++)
			counts.push(r.number());
		const merged = [];
		for (let i = from; i < to; i++) {
			if (this.flags[i] & MERGED)
				merged.push({ i, count: counts[i - from] });
		}
		for (const m of merged)
			m.busy = r.number();
		for (const m of merged)
			m.longest = r.number();
		for (const m of merged)
			this.merged.set(m.i, m);
		this.n = to;
	}
}

function addValues(values, bytes, nr)
{
	const r = new Reader(bytes);
	for (let i = 0, t = 0; i < nr; i++) {
		const name = r.number(), tid = r.signed();
		t += r.signed();
		const key = `${name} ${tid}`, value = r.signed();
		if (!values.has(key))
			values.set(key, { name, tid, t: [], v: [] });
		values.get(key).t.push(t);
		values.get(key).v.push(value);
	}
}

/** Add names of threads: each from an event and a moment on; name -1 = none. */
function addCalled(called, bytes, nr)
{
	const r = new Reader(bytes);
	for (let i = 0, event = 0, t = 0; i < nr; i++) {
		const tid = r.signed();
		event += r.number();
		t += r.signed();
		const name = r.number() - 1;
		if (!called.has(tid))
			called.set(tid, []);
		called.get(tid).push({ event, t, name });
	}
}

/** Return what a script element says of its block. */
export function blockOf(element)
{
	const d = element.dataset;
	return {
		kind: d.kind,
		name: d.name,
		nr: Number(d.nr),
		at: Number(d.at),
		bytes: Number(d.bytes),
		crc: parseInt(d.crc, 16),
		text: element.textContent,
	};
}

function addBlock(data, block, bytes)
{
	const text = () => JSON.parse(new TextDecoder().decode(bytes));
	switch (block.kind) {
	case "names":
		data.strings.push(...text());
		break;
	case "events":
		data.events.add(bytes, block.nr);
		break;
	case "spans":
		data.spans.add(bytes, block.nr);
		break;
	case "values":
		addValues(data.values, bytes, block.nr);
		break;
	case "called":
		addCalled(data.called, bytes, block.nr);
		break;
	case "attach":
		data[block.name] = text();
		break;
	case "about":
		data.about = text();
		break;
	default:
		throw new Damage("this viewer does not know such blocks");
	}
}

const total = (blocks, kind) => blocks.reduce((n, b) => n + (b.kind === kind ? b.nr : 0), 0);

/**
 * Read blocks.  @progress is called with a share from 0 to 1 and may return a promise.
 * The result has "damages", sentences about blocks that could not be read.
 */
export async function readBlocks(blocks, progress)
{
	const sane = blocks.filter((b) => b.nr >= 0 && b.nr <= 1 << 24 && b.bytes <= 1 << 28);
	const data = {
		about: null, stats: null, rtos: null, ledger: null, strings: [], damages: [],
		events: new Events(total(sane, "events")),
		spans: new Spans(total(sane, "spans")),
		values: new Map(),
		called: new Map(),	// tid -> [{ event, t, name }]: names of threads, see called.mjs
	};
	let chunk = null;
	for (const [i, block] of blocks.entries()) {
		try {
			if (!sane.includes(block))
				throw new Damage("its size is not possible");
			if (block.kind === "fields") {
				if (chunk && chunk.nr === block.nr)
					chunk.block = block;
				continue;
			}
			addBlock(data, block, await blockBytes(block));
			if (block.kind === "events")
				chunk = data.events.chunks.at(-1);
		} catch (e) {
			if (block.kind === "events")
				chunk = null;
			data.damages.push(`block ${i + 1} (${block.kind}), at byte ${block.at} of this file: ${e instanceof Damage ? e.message : "it cannot be read"}`);
		}
		await progress((i + 1) / blocks.length);
	}
	if (!data.about)
		data.damages.push("the end of this file is missing or damaged: save or copy it again");
	else if (data.about.form !== FORM)
		data.damages.push(`the data has form ${data.about.form}, but this viewer reads form ${FORM}`);
	else if (data.about.blocks !== blocks.length)
		data.damages.push(`${Math.abs(data.about.blocks - blocks.length)} blocks are missing or too many`);
	return data;
}
