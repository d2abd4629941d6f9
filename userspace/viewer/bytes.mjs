// SPDX-License-Identifier: GPL-2.0-only
// Bytes of the data blocks: base64, CRC32C, inflate, numbers of 7-bit groups.

/** A block that cannot be read.  The message says which, where and why. */
export class Damage extends Error {}

const digits = new Uint8Array(128).fill(255);
for (const [i, c] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].entries())
	digits[c.charCodeAt(0)] = i;

/** Return the bytes of a base64 text, or throw Damage. */
export function fromBase64(text)
{
	const len = text.length;
	if (len % 4)
		throw new Damage("its length is not that of base64");
	const pad = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
	const bytes = new Uint8Array(len / 4 * 3 - pad);
	for (let i = 0, at = 0; i < len; i += 4) {
		let v = 0;
		for (let k = 0; k < 4; k++) {
			const code = text.charCodeAt(i + k);
			const six = code < 128 ? digits[code] : 255;
			if (six === 255 && i + k < len - pad)
				throw new Damage(`character ${i + k} is not base64`);
			v = v << 6 | (six === 255 ? 0 : six);
		}
		bytes[at++] = v >> 16;
		if (at < bytes.length)
			bytes[at++] = v >> 8 & 255;
		if (at < bytes.length)
			bytes[at++] = v & 255;
	}
	return bytes;
}

const crcTable = new Uint32Array(256);
for (let i = 0; i < 256; i++) {
	let v = i;
	for (let k = 0; k < 8; k++)
		v = v & 1 ? v >>> 1 ^ 0x82f63b78 : v >>> 1;
	crcTable[i] = v;
}

/** Return the CRC32C of bytes. */
export function crc32c(bytes)
{
	let crc = ~0;
	for (let i = 0; i < bytes.length; i++)
		crc = crcTable[(crc ^ bytes[i]) & 255] ^ crc >>> 8;
	return ~crc >>> 0;
}

/** Return the bytes that deflate compressed; @size is how many there should be. */
export async function inflate(packed, size)
{
	const stream = new Blob([packed]).stream()
		.pipeThrough(new DecompressionStream("deflate-raw"));
	const reader = stream.getReader();
	const bytes = new Uint8Array(size);
	let at = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done)
			break;
		if (at + value.length > size)
			throw new Damage("it has more bytes than it says");
		bytes.set(value, at);
		at += value.length;
	}
	if (at !== size)
		throw new Damage("it has fewer bytes than it says");
	return bytes;
}

/** Reads numbers, one after the other.  Numbers beyond 2^53 are rounded. */
export class Reader {
	constructor(bytes)
	{
		this.bytes = bytes;
		this.at = 0;
	}

	number()
	{
		const { bytes } = this;
		let v = 0, scale = 1, byte;
		do {
			if (this.at >= bytes.length)
				throw new Damage("it ends in the middle of a number");
			byte = bytes[this.at++];
			v += (byte & 127) * scale;
			scale *= 128;
		} while (byte & 128);
		return v;
	}

	signed()
	{
		const v = this.number();
		return v % 2 ? -(v + 1) / 2 : v / 2;
	}
}
