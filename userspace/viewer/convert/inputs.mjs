// SPDX-License-Identifier: GPL-2.0-only
// What was dropped, chosen or pasted, as inputs of ktape convert: a native trace is a
// folder of files, everything else one file.

import { isTar, readTar } from "./tar.mjs";

const HEAD = 512;
const BASE64_MAX = 1 << 24;	// bytes of text
const STREAM = /^(metadata|registry|cpu\d+|control\d+)(\.zst)?$/;

const folderOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);

/** Return the bytes that a text has in base64, or null if it is not base64. */
export function fromBase64(text)
{
	const digits = text.replace(/\s+/g, "").replace(/-/g, "+").replace(/_/g, "/").replace(/=+$/, "");
	const hex = /^[0-9a-fA-F]*$/.test(digits), records = /^\s*(S[0-9][0-9A-Fa-f]+\s*)+$/.test(text);
	if (hex || records || !/^[A-Za-z0-9+/]+$/.test(digits) || digits.length % 4 === 1)
		return null;
	return Uint8Array.from(atob(digits), (c) => c.charCodeAt(0));
}

/** Turn a pasted text into an entry: base64 becomes the bytes that it stands for. */
export function pasted(text, nr)
{
	const bytes = text.length <= BASE64_MAX ? fromBase64(text) : null;
	return { path: `pasted-${nr}.${bytes ? "bin" : "txt"}`, blob: new Blob([bytes ?? text]) };
}

/** Return the entries that an entry stands for: the files of an archive, or itself. */
export async function unpack(entry)
{
	const head = new Uint8Array(await entry.blob.slice(0, HEAD).arrayBuffer());
	if (isTar(head)) {
		const name = nameOf(entry.path).replace(/\.tar$/i, "");
		return (await readTar(entry.blob)).map((f) => {
			const path = f.path.replace(/^(\.?\/)+/, "");
			return { path: path.includes("/") ? path : `${name}/${path}`, blob: f.blob };
		});
	}
	if (/\.(b64|base64)$/i.test(entry.path) && entry.blob.size <= BASE64_MAX) {
		const bytes = fromBase64(await entry.blob.text());
		if (bytes)
			return [{ path: entry.path, blob: new Blob([bytes]) }];
	}
	return [entry];
}

/**
 * Group entries to inputs.  Return [{ operand, size, files, trace }]: operand is
 * what the command gets, files are [{ path, blob }] with paths for its file system.
 */
export function groupInputs(entries)
{
	const shown = entries.filter((e) => !nameOf(e.path).startsWith("."));
	const traces = new Set(shown.filter((e) => /^metadata(\.zst)?$/.test(nameOf(e.path))).map((e) => folderOf(e.path)));
	const inputs = [], folders = new Map(), taken = new Set();
	const unique = (name) => {
		let operand = name;
		for (let i = 2; taken.has(operand); i++)
			operand = `${i}/${name}`;
		taken.add(operand);
		return operand;
	};
	for (const e of shown) {
		const folder = folderOf(e.path);
		let input = folders.get(folder);
		if (!traces.has(folder) || !STREAM.test(nameOf(e.path))) {
			input = { operand: unique(nameOf(e.path)), trace: false };
			input.files = [{ path: input.operand, blob: e.blob }];
			inputs.push({ ...input, size: e.blob.size });
			continue;
		}
		if (!input) {
			input = { operand: unique(nameOf(folder) || "trace"), trace: true, files: [], size: 0 };
			folders.set(folder, input);
			inputs.push(input);
		}
		input.files.push({ path: `${input.operand}/${nameOf(e.path)}`, blob: e.blob });
		input.size += e.blob.size;
	}
	return inputs;
}
