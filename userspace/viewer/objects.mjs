// SPDX-License-Identifier: GPL-2.0-only
// What an event is about: the thread, interrupt, timer, queue, mark ... that it names.
// The fields that name one are those of the event table; "table" of the page has them.

import { fieldsOf } from "./text.mjs";

const ADDRESS = 256;	// numbers below are not addresses

/** An object of one kind, by its number or address as text. */
const object = (kind, value, name) => ({ kind, value, key: `${kind} ${value}`, title: `${kind} ${name ? `${name} (${value})` : value}` });

/** Threads of an RTOS are known by their addresses. */
function ofAddress(model, text)
{
	const n = Number(text);
	if (!/^0x/.test(text) || n < ADDRESS)
		return [];
	return model.names.has(n) ? [object("thread", String(n), model.names.get(n))] : [object("object", text)];
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
		const own = kind === "mark" && named.get("task") === "true" ? ` of ${model.threadName(events.tid[i])}` : "";
		found.push(object(kind, `${value}${own}`, named.get(`${field}_name`)));
	}
	if (op?.name === "sched_switch")
		found.reverse();
	if (op?.name === "user_event")
		found.push(...ofUserEvent(model, named));
	if (!found.length && events.tid[i] > 0)
		found.push(object("thread", String(events.tid[i]), model.names.get(events.tid[i])));
	return found;
}

/**
 * Return a function that says whether events of an opcode can be about an object, so
 * that the fields of all others need not be looked at.
 */
export function canBeAbout(model, wanted)
{
	const ops = new Uint8Array(256), own = wanted.kind === "thread" ? Number(wanted.value) : -1;
	for (const { op, name, objects } of model.ops.values()) {
		const kinds = Object.values(objects);
		// 1: its fields tell; 2: it names nothing, so its thread tells.
		ops[op] = kinds.includes(wanted.kind) || name === "user_event" ? 1 : kinds.length ? 0 : 2;
	}
	return (i) => ops[model.events.op[i]] === 1 || (ops[model.events.op[i]] === 2 && model.events.tid[i] === own);
}
