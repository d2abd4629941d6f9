// SPDX-License-Identifier: GPL-2.0-only
// Times, numbers and fields as text, and elements made of text.

/** Return nanoseconds as "1.234 ms": for durations. */
export function duration(ns)
{
	const abs = Math.abs(ns);
	// What would be rounded to 1000 of a unit is 1 of the next one.
	for (const [unit, size, least] of [["s", 1e9, 999950e3], ["ms", 1e6, 999950], ["µs", 1e3, 1e3]]) {
		if (abs >= least)
			return `${(ns / size).toFixed(abs / size >= 100 ? 1 : abs / size >= 10 ? 2 : 3)} ${unit}`;
	}
	return `${Math.round(ns * 1000) / 1000} ns`;
}

/** Return nanoseconds as "168 647 722 ns": for durations that are compared. */
export function exactly(ns)
{
	return `${count(Math.round(ns))} ns`;
}

/** Return a duration as it is read, and to the nanosecond if that is more. */
export function bothWays(ns)
{
	return ns < 1000 ? duration(ns) : `${duration(ns)} = ${exactly(ns)}`;
}

/** Return a moment of the page as seconds with nine decimals. */
export function moment(ns)
{
	const whole = Math.floor(Math.abs(ns));
	const s = Math.floor(whole / 1e9), rest = String(whole % 1e9).padStart(9, "0");
	return `${ns < 0 ? "-" : ""}${s}.${rest.slice(0, 3)} ${rest.slice(3, 6)} ${rest.slice(6)} s`;
}

/** Return a moment on a clock whose value at moment 0 is @origin, a decimal text. */
export function onClock(origin, ns)
{
	const t = BigInt(origin) + BigInt(Math.round(ns));
	const abs = t < 0n ? -t : t;
	return `${t < 0n ? "-" : ""}${abs / 1000000000n}.${String(abs % 1000000000n).padStart(9, "0")}`;
}

/** Return a whole number with thin spaces between groups of three digits. */
export function count(n)
{
	return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, " ");
}

/**
 * Split the text "{...}" of an event's fields into pairs of name and value, both text.
 * Numbers are kept as they are, because 64 bits do not fit into JavaScript's.
 */
export function fieldsOf(text)
{
	const pairs = [];
	let at = 1;
	const end = text.length - 1;
	const string = () => {
		const from = at++;
		while (at < end && text[at] !== "\"")
			at += text[at] === "\\" ? 2 : 1;
		return text.slice(from, ++at);
	};
	const value = () => {
		if (text[at] === "\"")
			return JSON.parse(string());
		const from = at;
		for (let depth = 0; at < end; at++) {
			const c = text[at];
			if (c === "\"") {
				string();
				at--;
			} else if (c === "[" || c === "{") {
				depth++;
			} else if (c === "]" || c === "}") {
				depth--;
			} else if (c === "," && !depth) {
				break;
			}
		}
		return text.slice(from, at);
	};
	try {
		while (at < end && text[at] === "\"") {
			const name = JSON.parse(string());
			at++;
			pairs.push([name, value()]);
			at++;
		}
	} catch {
		pairs.push(["fields", text]);
	}
	return pairs;
}

/** Make an element.  Children that are texts stay texts: no markup is ever parsed. */
export function make(tag, attributes = {}, ...children)
{
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === "function")
			element.addEventListener(name, value);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	}
	element.append(...children.filter((c) => c !== null && c !== undefined));
	return element;
}
