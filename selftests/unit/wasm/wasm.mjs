// SPDX-License-Identifier: GPL-2.0-only
// Compare the program of the page with the command, and test the page's modules.
// usage: wasm.mjs WASM KTAPE TRACES TAR FIRST	FIRST: number of tests before these

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Chosen, filesBelow, Given, namesOf, place, Written } from "../../../userspace/viewer/convert/files.mjs";
import { fromBase64, groupInputs, pasted, unpack } from "../../../userspace/viewer/convert/inputs.mjs";
import { isTar, readTar, writeTar } from "../../../userspace/viewer/convert/tar.mjs";
import { runProgram } from "../../../userspace/viewer/convert/wasi.mjs";
import { damage, intelHex, sRecords } from "../../viewer/texts.mjs";

const [wasm, ktape, traces, tar, first] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(wasm));
const work = mkdtempSync(join(tmpdir(), "ktape-wasm."));
const FORMATS = ["csv", "chrome", "perfetto", "html", "native", "jsonl", "parquet"];
const MUTATIONS = 6;

let n = Number(first);
const wrong = [];
function equal(a, b, what)
{
	const [x, y] = [a, b].map((v) => JSON.stringify(v));
	if (x !== y)
		wrong.push(`${what}: ${x.slice(0, 600)}, not ${y.slice(0, 600)}`);
}

async function test(name, body)
{
	wrong.length = 0;
	try {
		await body();
	} catch (e) {
		wrong.push(e.stack);
	}
	console.log(`${wrong.length ? "not ok" : "ok"} ${++n} - ${name}`);
	for (const line of wrong.slice(0, 10))
		console.log(`# ${String(line).replace(/\n/g, "\n# ")}`);
	if (wrong.length)
		process.exitCode = 1;
}

/** The files of an input: [path, bytes]. */
function filesOf(folder, name)
{
	const path = join(folder, name);
	if (!statSync(path).isDirectory())
		return [[name, readFileSync(path)]];
	return readdirSync(path).map((f) => [`${name}/${f}`, readFileSync(join(path, f))]);
}

/** Bytes of which each read gives a few. */
class Reluctant extends Given {
	read(at, to)
	{
		return super.read(at, to.subarray(0, 1 + at % 61));
	}
}

/** Run the program of the page, with files of the class @Kind.  Return { code, messages, files }. */
function run(args, files, Kind = Given)
{
	const root = new Map([["out", new Map()]]), text = [], said = [];
	for (const [path, bytes] of files)
		place(root, path, new Kind(bytes));
	const code = runProgram(module, ["convert", ...args], root, (b) => text.push(b), (b) => said.push(b));
	return { code, text: Buffer.concat(text).toString(), messages: Buffer.concat(said).toString().replace(/\r[^\r]*written\n?/g, ""),
		files: filesBelow(root.get("out")).map(([path, f]) => [path, Buffer.concat(f.parts())]) };
}

/** Run the command.  The output has the same name there, below a folder of its own. */
function native(args, folder)
{
	rmSync(join(work, "out"), { recursive: true, force: true });
	spawnSync("mkdir", [join(work, "out")]);
	const r = spawnSync(ktape, ["convert", ...args.map((a) => a === "/out/result" ? join(work, "out/result") : a)], { cwd: folder });
	const files = readdirSync(join(work, "out")).flatMap((name) => filesOf(join(work, "out"), name));
	const messages = r.stderr.toString().replaceAll(join(work, "out/result"), "/out/result");
	return { code: r.status, text: r.stdout.toString(), messages, files: files.sort(([a], [b]) => a < b ? -1 : 1) };
}

function compare(name, folder, args, files, damaged = false)
{
	const all = [...args, "-o", "/out/result", name], ours = run(all, files), theirs = native(all, folder);
	equal(ours.code, theirs.code, `${name} ${args}: status`);
	/* The order in which a folder is read is that of its file system. */
	const told = (r) => files.length > 1 ? r.messages.split("\n").sort() : r.messages;
	equal(told(ours), told(theirs), `${name} ${args}: messages`);
	equal(ours.files.map(([f]) => f), theirs.files.map(([f]) => f), `${name} ${args}: files`);
	for (const [i, [path, bytes]] of ours.files.entries()) {
		if (!(damaged && files.length > 1) && theirs.files[i] && !bytes.equals(theirs.files[i][1]))
			wrong.push(`${name} ${args}: ${path} has other bytes`);
	}
	return ours;
}

await test("the program has the command's table of formats and options", () => {
	equal(run(["--list", "--json"], []).text.split("\n"), native(["--list", "--json"], work).text.split("\n"), "formats");
});

writeFileSync(join(traces, "session.ihex"), intelHex(readFileSync(join(traces, "session.trx"))));
writeFileSync(join(traces, "session.srec"), sRecords(readFileSync(join(traces, "session.trx"))));
const names = readdirSync(traces).sort();
await test(`${names.length} traces become the same bytes in ${FORMATS.length} formats, with the same messages`, () => {
	for (const name of names) {
		for (const format of FORMATS)
			compare(name, traces, ["-t", format], filesOf(traces, name));
	}
});

await test("options reach the formats; a wrong one is refused with the same message", () => {
	const name = names.find((f) => f.endsWith(".trx"));
	compare(name, traces, ["-t", "html:spans=10", "-f", "tracex", "-I", "hz=1000"], filesOf(traces, name));
	compare(name, traces, ["-t", "csv", "-I", "hz=no"], filesOf(traces, name));
	compare(name, traces, ["-t", "csv:none=1"], filesOf(traces, name));
	compare(name, traces, ["-t", "nosuch"], filesOf(traces, name));
});

await test("a part of a trace: times, CPU, events, thread; a wrong time is refused with the same message", () => {
	for (const part of [["--from-time", "0.000100"], ["--to-time", "1ms"], ["--cpu", "1"], ["--event", "sched_*,!sched_wakeup"],
		["--pid", "1"], ["--from-time", "never"], ["--cpu", "-1"], ["--event", "nosuch"]])
		compare("session", traces, ["-t", "csv", ...part], filesOf(traces, "session"));
	const asked = run(["options"], []).text.trim().split("\n").map((line) => JSON.parse(line));
	const help = spawnSync(ktape, ["convert", "--help"]).stdout.toString();
	equal(asked.length > 5 && asked.filter((o) => !help.includes(`--${o.key} ${o.value}`) || !help.includes(o.help)), [], "options that --help has not");
});

await test("each input has a core", () => {
	const bytes = readFileSync(join(traces, "tband.hex")), args = ["-t", "csv", "-o", "/out/result", "a@1", "b@2"];
	writeFileSync(join(work, "a"), bytes);
	writeFileSync(join(work, "b"), bytes);
	const ours = run(args, [["a", bytes], ["b", bytes]]), theirs = native(args, work);
	equal([ours.code, ours.messages, ours.files.length], [theirs.code, theirs.messages, 1], "result");
	equal(ours.files[0]?.[1].equals(theirs.files[0]?.[1]), true, "bytes");
});

await test(`${MUTATIONS} damaged copies of each trace: the command's messages, never a trap`, () => {
	for (const name of names) {
		const files = filesOf(traces, name);
		for (let i = 0; i < MUTATIONS; i++) {
			const bad = files.map(([path, bytes]) => [path, damage(bytes, i)]);
			const folder = join(work, "bad");
			rmSync(folder, { recursive: true, force: true });
			for (const [path, bytes] of bad) {
				spawnSync("mkdir", ["-p", join(folder, path, "..")]);
				writeFileSync(join(folder, path), bytes);
			}
			(name.startsWith("packed") ? compareUnpacked : compare)(name, folder, ["-t", i % 2 ? "csv" : "html"], bad, true);
		}
	}
});

/* What zstd still gets out of damaged data is not the same with 32 and with 64 bits. */
function compareUnpacked(name, folder, args, files)
{
	const all = [...args, "-o", "/out/result", name], told = (r) => [r.code, /compressed data is (damaged|cut off)/.test(r.messages)];
	equal(told(run(all, files)), told(native(all, folder)), `${name} ${args}: status, and whether damage is reported`);
}

await test("compressed traces have the events of the plain ones; a window of 256 MiB is refused", () => {
	for (const [packed, plain] of [["packed", "session"], ["packed.pipe.zst", "session.pipe"]]) {
		const [x, y] = [packed, plain].map((name) => run(["-t", "csv", "-o", "/out/result", name], filesOf(traces, name)));
		equal([x.code, y.code, x.files.length], [0, 0, 1], "status and files");
		equal(y.files[0][1].length > 1000 && x.files[0][1].equals(y.files[0][1]), true, `${packed}: ${x.messages}`);
	}
	const wide = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 18 << 3, 1, 0, 0, 0]);
	writeFileSync(join(work, "wide.zst"), wide);
	const r = compare("wide.zst", work, ["-t", "csv"], [["wide.zst", wide]]);
	equal([r.code, /window of more than 128 MiB/.test(r.messages)], [1, true], r.messages);
});

await test("a path leads nowhere but into memory", () => {
	equal(namesOf("../../etc//./passwd"), ["etc", "passwd"], "names");
	const r = run(["-t", "csv", "-o", "/out/result", "../../etc/passwd"], []);
	equal([r.code, /No such file/.test(r.messages)], [1, true], r.messages);
});

await test("a chosen file is read a part at a time: no byte is missing where a part ends", () => {
	const bytes = Uint8Array.from({ length: (5 << 19) + 3 }, (_, i) => i * 7919 >> 8 & 0xff);
	globalThis.FileReaderSync = class {
		readAsArrayBuffer(part)
		{
			return part.slice().buffer;
		}
	};
	const f = new Chosen({ size: bytes.length, slice: (from, to) => bytes.subarray(from, to) }), read = [];
	for (const len of [4096, 100, (1 << 20) + 5]) {
		for (let at = 0; at < bytes.length; at += len) {
			const to = new Uint8Array(len), n = f.read(at, to);
			if (n !== Math.min(len, bytes.length - at) || !Buffer.from(to.buffer, 0, n).equals(Buffer.from(bytes.buffer, at, n)))
				read.push(`${len} at ${at}: ${n}`);
		}
	}
	equal([read, f.read(bytes.length, new Uint8Array(1))], [[], 0], "wrong reads");
});

await test("a file that gives a few bytes at a time has the same events", () => {
	for (const name of names) {
		const files = filesOf(traces, name), args = ["-t", "csv", "-o", "/out/result", name];
		const [x, y] = [Given, Reluctant].map((Kind) => run(args, files, Kind));
		equal([y.code, y.messages, y.files.length], [x.code, x.messages, x.files.length], name);
		equal(x.files.every(([, b], i) => b.equals(y.files[i]?.[1] ?? Buffer.alloc(0))), true, `${name}: bytes`);
	}
});

await test("a written file grows, shrinks and has holes of zeros", () => {
	const f = new Written(), to = new Uint8Array(4);
	f.write((1 << 18) - 2, new Uint8Array([1, 2, 3, 4]));
	equal([f.size, f.read((1 << 18) - 2, to), [...to]], [(1 << 18) + 2, 4, [1, 2, 3, 4]], "over two pages");
	f.resize((1 << 18) - 1);
	f.resize(1 << 18);
	equal([f.read((1 << 18) - 2, to), [...to.subarray(0, 2)]], [2, [1, 0]], "after shrinking");
	equal(Buffer.concat(f.parts()).length, 1 << 18, "parts");
});

await test("an archive that tar wrote is one native trace, and back", async () => {
	const blob = new Blob([readFileSync(tar)]), entries = await unpack({ path: "x.tar", blob });
	const inputs = groupInputs(entries);
	equal(inputs.map((i) => [i.operand, i.trace]), [["session", true]], "inputs");
	const again = await readTar(new Blob(writeTar(entries.map((e) => [e.path, e.blob.size, [e.blob]]))));
	equal(again.map((e) => [e.path, e.blob.size]), entries.map((e) => [e.path, e.blob.size]), "again");
	equal(isTar(readFileSync(tar)), true, "known");
});

await test("a damaged archive is refused with the offset", async () => {
	const bytes = readFileSync(tar), at = [...Array(bytes.length >> 9).keys()].map((i) => i * 512).filter((o) => isTar(bytes.subarray(o, o + 512)))[1];
	for (const [cut, how] of [[bytes, "the header of the archive is damaged"], [bytes.subarray(0, at + 512), "the archive is cut off here"]]) {
		const copy = Buffer.from(cut);
		if (cut === bytes)
			copy[at] ^= 1;
		const why = await readTar(new Blob([copy])).then(() => "", (e) => e.message);
		equal([why.endsWith(how), /^at byte \d+: /.test(why)], [true, true], why);
	}
});

await test("files are grouped: streams of a trace together, hidden ones left out, names unique", () => {
	const blob = new Blob(["x"]), group = (...paths) => groupInputs(paths.map((path) => ({ path, blob }))).map((i) => [i.operand, i.files.length]);
	equal(group("metadata", "cpu0", "registry", "a.bin"), [["trace", 3], ["a.bin", 1]], "loose");
	equal(group("t/metadata", "t/cpu0", "t/.lock", "u/metadata", "u/control0"), [["t", 2], ["u", 2]], "two folders");
	equal(group("d/a", "e/a"), [["a", 1], ["2/a", 1]], "same name");
});

await test("base64 is told from hexadecimal digits and S-records", async () => {
	equal([...fromBase64("AQID\nBA==") ?? []], [1, 2, 3, 4], "base64");
	equal([...fromBase64("-_8") ?? []], [0xfb, 0xff], "base64url");
	equal([fromBase64("0102 0a0B"), fromBase64("S1130000\nS9030000"), fromBase64(":00000001FF"), fromBase64("a\0b")], [null, null, null, null], "others");
	equal(await pasted("AQIDBA", 1).blob.arrayBuffer().then((b) => b.byteLength), 4, "pasted");
});

rmSync(work, { recursive: true, force: true });
console.log(`1..${n}`);
