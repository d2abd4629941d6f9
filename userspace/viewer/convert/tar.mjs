// SPDX-License-Identifier: GPL-2.0-only
// tar archives: read the regular files of one, without copying them, and write one.

const BLOCK = 512;
const FILES_MAX = 10000;
const NAME_MAX = 1 << 16;	// bytes of a long name

const textOf = (bytes) => new TextDecoder().decode(bytes).replace(/\0.*$/s, "");

/** Return a number of a header: octal digits, or -1. */
function numberOf(bytes)
{
	const text = textOf(bytes).trim();
	return /^[0-7]+$/.test(text) ? parseInt(text, 8) : -1;
}

/** The sum of a header's bytes, with its own field as spaces. */
function sumOf(head)
{
	return head.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 32 : byte), 0);
}

/** Check by its first bytes whether a file is a tar archive. */
export function isTar(head)
{
	return head.length >= BLOCK && textOf(head.subarray(257, 262)) === "ustar" &&
		numberOf(head.subarray(148, 156)) === sumOf(head.subarray(0, BLOCK));
}

async function bytesOf(blob, from, to)
{
	return new Uint8Array(await blob.slice(from, to).arrayBuffer());
}

/** Return the path that a pax header gives, or "". */
function pathOfPax(text)
{
	return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text)?.[1] ?? "";
}

/**
 * Read an archive.  Return [{ path, blob }] of its regular files; the blobs are parts
 * of @blob.  Throw an Error with the offset if a header is damaged.
 */
export async function readTar(blob)
{
	const files = [];
	let at = 0, long = "";
	while (at + BLOCK <= blob.size) {
		const head = await bytesOf(blob, at, at + BLOCK), fail = (why) => new Error(`at byte ${at}: ${why}`);
		if (head.every((b) => !b))
			break;
		const size = numberOf(head.subarray(124, 136)), type = String.fromCharCode(head[156] || 48);
		if (!isTar(head))
			throw fail("the header of the archive is damaged");
		if (size < 0 || at + BLOCK + size > blob.size)
			throw fail("the archive is cut off here");
		if (files.length === FILES_MAX)
			throw fail(`the archive has more than ${FILES_MAX} files`);
		const from = at + BLOCK, prefix = textOf(head.subarray(345, 500)), name = textOf(head.subarray(0, 100));
		if (type === "L" || type === "x") {
			if (size > NAME_MAX)
				throw fail("a name of the archive is too long");
			const text = new TextDecoder().decode(await bytesOf(blob, from, from + size));
			long = type === "L" ? text.replace(/\0.*$/s, "") : pathOfPax(text);
		} else {
			if (type === "0")
				files.push({ path: long || (prefix ? `${prefix}/${name}` : name), blob: blob.slice(from, from + size) });
			long = "";
		}
		at = from + Math.ceil(size / BLOCK) * BLOCK;
	}
	return files;
}

/** Write an archive.  @files: [path, size, parts].  Return parts for a Blob. */
export function writeTar(files)
{
	const parts = [];
	for (const [path, size, content] of files) {
		const head = new Uint8Array(BLOCK);
		const put = (at, text) => head.set(new TextEncoder().encode(text), at);
		put(0, path.slice(0, 99));
		put(100, "0000644\0");
		put(108, "0000000\0");
		put(116, "0000000\0");
		put(124, `${size.toString(8).padStart(11, "0")}\0`);
		put(136, "00000000000\0");
		head[156] = 48;
		put(257, "ustar\0" + "00");
		put(148, `${sumOf(head).toString(8).padStart(6, "0")}\0 `);
		parts.push(head, ...content, new Uint8Array((BLOCK - size % BLOCK) % BLOCK));
	}
	parts.push(new Uint8Array(2 * BLOCK));
	return parts;
}
