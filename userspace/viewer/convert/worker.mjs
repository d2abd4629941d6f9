// SPDX-License-Identifier: GPL-2.0-only
// Runs in a Worker: one conversion, or one question to the command.
// Gets { bytes, args, files }, sends { text } for each piece of its messages and, at the
// end, { code, out, files } or { trap }.

import { Chosen, filesBelow, place } from "./files.mjs";
import { runProgram } from "./wasi.mjs";

onmessage = async ({ data: { bytes, args, files } }) => {
	const root = new Map([["out", new Map()]]), decoder = new TextDecoder(), out = [];
	for (const f of files)
		place(root, f.path, new Chosen(f.blob));
	try {
		const module = await WebAssembly.compile(bytes);
		const code = runProgram(module, args, root, (part) => out.push(part),
			(part) => postMessage({ text: decoder.decode(part, { stream: true }) }));
		const made = filesBelow(root.get("out")).map(([path, file]) => ({ path, size: file.size, blob: new Blob(file.parts()) }));
		postMessage({ code, out: await new Blob(out).text(), files: made });
	} catch (e) {
		postMessage({ trap: String(e.message ?? e) });
	}
};
