// SPDX-License-Identifier: GPL-2.0-only
// Bytes as texts that debuggers and serial lines give, and damaged copies of them.

const LINE = 16;	// bytes of a record

const hex = (bytes) => Buffer.from(bytes).toString("hex").toUpperCase();
const sum = (bytes) => bytes.reduce((n, b) => n + b, 0) & 0xff;

/** Call @record with the offset and the bytes of each line.  Return its texts. */
function lines(bytes, record)
{
	const all = [];
	for (let at = 0; at < bytes.length; at += LINE)
		all.push(record(at, [...bytes.subarray(at, at + LINE)]));
	return all;
}

/** Intel HEX, with records of the upper half of addresses. */
export function intelHex(bytes)
{
	const record = (type, at, data) => {
		const r = [data.length, at >> 8 & 0xff, at & 0xff, type, ...data];
		return `:${hex([...r, -sum(r) & 0xff])}\n`;
	};
	const data = lines(bytes, (at, part) => {
		const upper = at % 0x10000 ? "" : record(4, 0, [at >>> 24, at >> 16 & 0xff]);
		return upper + record(0, at & 0xffff, part);
	});
	return [...data, record(1, 0, [])].join("");
}

/** S-records with addresses of four bytes. */
export function sRecords(bytes)
{
	const record = (type, address, data) => {
		const r = [address.length + data.length + 1, ...address, ...data];
		return `S${type}${hex([...r, ~sum(r) & 0xff])}\n`;
	};
	const four = (at) => [at >>> 24, at >> 16 & 0xff, at >> 8 & 0xff, at & 0xff];
	return [record(0, [0, 0], []), ...lines(bytes, (at, part) => record(3, four(at), part)), record(7, four(0), [])].join("");
}

/** Hexadecimal digits in lines. */
export function hexDigits(bytes)
{
	return lines(bytes, (at, part) => `${hex(part).toLowerCase()}\n`).join("");
}

/** A copy that is cut off, has a block of zeros, or has a few bits flipped. */
export function damage(bytes, i)
{
	const copy = Buffer.from(bytes);
	if (i === 0)
		return copy.subarray(0, Math.floor(copy.length * 0.6));
	if (i === 1)
		return copy.fill(0, copy.length >> 1, (copy.length >> 1) + 64);
	for (let k = 0; k < 6 && copy.length; k++)
		copy[(k * 7919 + i * 104729) % copy.length] ^= 1 << (k + i) % 8;
	return copy;
}
