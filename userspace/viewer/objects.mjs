// SPDX-License-Identifier: GPL-2.0-only
// What an event is about: the thread, interrupt, timer, queue, mark ... that it names.
// The fields that name one are those of the event table; "table" of the page has them.

import { fieldsOf } from "./text.mjs";

const ADDRESS = 256;	// numbers below are not addresses

/**
 * An object of one kind, by its number or address as text.  The fields of each event that
 * names it have one of the texts "in" in them.
 */
function makeObject(kind, value, name, own = "")
{
	const address = kind === "thread" ? [`"0x${Number(value).toString(16)}"`] : [];
	return { kind, value, key: `${kind} ${value}${own}`, title: `${kind} ${name ? `${name} (${value})` : value}${own}`, in: [value, ...address] };
}

/** Threads of an RTOS are known by their addresses. */
function ofAddress(model, text)
{
	const n = Number(text);
	if (!/^0x/.test(text) || n < ADDRESS)
		return [];
	return [model.names.has(n) ? makeObject("thread", String(n), model.names.get(n)) : makeObject("object", text)];
}

/* Services of ThreadX whose first word is a stack pointer or a time. */
const NAMELESS = /^(isr_enter|isr_exit|thread_relinquish|thread_sleep|interrupt_control|time_get|time_set)$/;

/**
 * User events, which those of an RTOS are: what their first word is the address of, as in
 * TraceX, or their first typed argument that is an address.
 */
function ofUserEvent(model, named)
{
	const typed = JSON.parse(named.get("typed") ?? "[]"), [word] = JSON.parse(named.get("args") ?? "[]");
	const texts = typed.filter((v) => typeof v === "string");
	if (word && !NAMELESS.test(named.get("id_name")))
		texts.unshift(word);
	return texts.map((text) => ofAddress(model, text)).find((list) => list.length) ?? [];
}

/**
 * Return the objects of an event, @fields being its text "{...}".  An event that names
 * none is about its thread.  Of a switch the thread that begins to run is the first.
 */
export function objectsOf(model, i, fields)
{
	const { events } = model, op = model.ops.get(events.op[i]), named = new Map(fieldsOf(fields)), found = [];
	for (const [field, kind] of Object.entries(op?.objects ?? {})) {
		const value = named.get(field);
		if (value === undefined || (kind === "thread" && Number(value) <= 0))
			continue;
		const own = kind === "mark" && named.get("task") === "true" ? ` of ${model.threadOf(i)}` : "";
		found.push(makeObject(kind, value, named.get(`${field}_name`), own));
	}
	if (op?.name === "sched_switch")
		found.reverse();
	if (op?.name === "user_event")
		found.push(...ofUserEvent(model, named));
	if (!found.length && events.tid[i] > 0)
		found.push(makeObject("thread", String(events.tid[i]), model.called.atEvent(i)));
	return found;
}

/**
 * Return a function that says whether an event can be about an object, given its fields:
 * most can be ruled out without a look at the fields one by one.
 */
export function canBeAbout(model, wanted)
{
	const { events } = model, ops = new Uint8Array(256), own = wanted.kind === "thread" ? Number(wanted.value) : -1;
	for (const { op, name, objects } of model.ops.values()) {
		const kinds = Object.values(objects);
		// 1: its fields tell; 2: it names nothing, so its thread tells.
		ops[op] = kinds.includes(wanted.kind) || name === "user_event" ? 1 : kinds.length ? 0 : 2;
	}
	return (i, fields) => ops[events.op[i]] && (events.tid[i] === own || (ops[events.op[i]] === 1 && wanted.in.some((text) => fields.includes(text))));
}
