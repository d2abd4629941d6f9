// SPDX-License-Identifier: GPL-2.0-only
// The page: files in, formats and options from the command's own table, conversions.

import { groupInputs, pasted, unpack } from "./inputs.mjs";
import { Job } from "./job.mjs";
import { element, Options } from "./options.mjs";
import { handOver } from "./perfetto.mjs";
import { writeTar } from "./tar.mjs";

const $ = (id) => document.getElementById(id);
const CORE = "core";	// the option that each input has for itself

/* How a result is saved: native and LTTng's traces are folders, which become archives. */
const ENDS = { native: "tar", lttng: "tar", perfetto: "pftrace", chrome: "json", tracex: "trx", tband: "bin", rkh: "bin",
	text: "txt", ftrace: "txt", traceprinter: "txt" };
const WORDS = { native: "CTF, native (tar)", lttng: "CTF as LTTng's (tar)", perfetto: "Perfetto", chrome: "Chrome JSON", csv: "CSV", html: "HTML page" };
/* The options of the command that select a part of the trace. */
const PART = ["from-time", "to-time", "cpu", "event", "pid"];
const FIRST = ["perfetto", "native", "chrome", "csv", "html"];	// in the order of the list

function humanSize(bytes)
{
	const units = ["B", "kB", "MB", "GB"];
	let i = 0;
	for (; bytes >= 1000 && i < 3; i++)
		bytes /= 1000;
	return `${bytes.toFixed(i ? 1 : 0)} ${units[i]}`;
}

/* As ktape serve sends it, the page has no origin, and Chromium ends one that asks for handles. */
const SANDBOXED = self.origin === "null" && location.protocol.startsWith("http");

class Page {
	constructor(formats, options)
	{
		this.formats = formats;
		this.entries = [];
		this.inputs = [];
		this.cores = new Map();
		this.pastes = 0;
		this.job = null;
		this.adding = 0;
		this.fromOptions = new Options($("from-options"));
		this.toOptions = new Options($("to-options"));
		this.part = new Options($("part-options"));
		this.part.show(PART.map((key) => options.find((o) => o.key === key)));
		this.fillFormats();
		this.listen();
		this.showInputs();
	}

	format(name)
	{
		return this.formats.find((f) => f.name === name);
	}

	fillFormats()
	{
		const reads = this.formats.filter((f) => f.in), writes = this.formats.filter((f) => f.out);
		const place = (f) => (FIRST.indexOf(f.name) + FIRST.length + 1) % (FIRST.length + 1);
		$("readable").replaceChildren(...reads.map((f) => element("li", {}, `${f.name}: ${f.help}`)));
		$("from").replaceChildren(element("option", { value: "" }, "detect"), ...reads.map((f) => element("option", { value: f.name }, f.name)));
		const rest = writes.filter((f) => !FIRST.includes(f.name));
		$("to").replaceChildren(...[...writes.filter((f) => FIRST.includes(f.name)).sort((a, b) => place(a) - place(b)), ...rest]
			.map((f) => element("option", { value: f.name }, WORDS[f.name] ?? f.name)));
		this.chooseFrom();
		this.chooseTo();
	}

	chooseFrom()
	{
		const f = this.format($("from").value);
		this.fromOptions.show(f?.in_options ?? [], [CORE]);
		$("from-help").textContent = f ? f.help : "choose the format to see its options";
		this.showInputs();
	}

	chooseTo()
	{
		const f = this.format($("to").value);
		this.toOptions.show(f.out_options, ["form"]);
		$("to-help").textContent = `${f.name}: ${f.help}`;
	}

	/* A part that is selected must be seen when its fields are folded up. */
	showPart()
	{
		$("part-set").textContent = this.part.pairs().map(([key, value]) => `${key} ${value}`).join(", ") || "all of it";
	}

	// ---- files -----------------------------------------------------------------------------

	async add(entries)
	{
		const problems = [];
		this.adding++;
		this.enable();
		for (const e of entries) {
			try {
				this.entries.push(...await unpack(e));
			} catch (error) {
				problems.push(`${e.path}: ${error.message}`);
			}
		}
		this.adding--;
		this.showInputs();
		if (problems.length)
			this.tell("bad", "Not all files can be read.", problems.join("\n"));
	}

	/** Whether inputs can have a core of their own. */
	hasCores()
	{
		const from = $("from").value;
		return this.formats.some((f) => (!from || f.name === from) && f.in_options.some((o) => o.key === CORE));
	}

	showInputs()
	{
		const cores = this.hasCores();
		this.inputs = groupInputs(this.entries);
		$("inputs").hidden = !this.inputs.length;
		$("inputs").tBodies[0].replaceChildren(...this.inputs.map((input) => element("tr", {},
			element("td", {}, input.operand), element("td", {}, humanSize(input.size)),
			element("td", {}, input.trace ? `native trace, ${input.files.length} files` : "file"),
			element("td", {}, input.trace || !cores ? "" : element("input", { type: "text", size: 4, inputmode: "numeric", pattern: "\\d*",
				"aria-label": `core of ${input.operand}`, value: this.cores.get(input.operand) ?? "",
				input: (e) => this.cores.set(input.operand, e.target.value.trim()) })),
			element("td", {}, element("button", { type: "button", "aria-label": `remove ${input.operand}`, click: () => this.remove(input) }, "Remove")))));
		this.enable();
	}

	remove(input)
	{
		const blobs = new Set(input.files.map((f) => f.blob));
		this.entries = this.entries.filter((e) => !blobs.has(e.blob));
		this.cores.delete(input.operand);
		this.showInputs();
	}

	enable()
	{
		for (const id of ["view", "save", "perfetto"])
			$(id).disabled = Boolean(this.job) || this.adding > 0 || !this.inputs.length;
	}

	// ---- conversions ---------------------------------------------------------------------------

	tell(kind, text, messages)
	{
		$("work").hidden = false;
		$("state").className = kind;
		$("state").textContent = text;
		$("messages").textContent = messages;
		$("messages").hidden = !messages;
	}

	/** The name of a result, from the first input. */
	nameOf(to)
	{
		const stem = this.inputs[0].operand.replace(/^\d+\//, "").replace(/(.)\.[a-z0-9]{1,6}$/i, "$1");
		return `${stem}.${ENDS[to] ?? to}`;
	}

	/** Convert.  Return { name, blob }, or null after a message. */
	async convert(to, more = "")
	{
		const from = this.fromOptions.read(), args = ["convert", "--to", more ? `${to}:${more}` : to, "-o", "/out/result"];
		if ($("from").value)
			args.push("--from", $("from").value);
		if (from.text)
			args.push("-I", from.text);
		for (const [key, value] of this.part.pairs())
			args.push(`--${key}`, value);
		const files = [...from.files];
		for (const input of this.inputs) {
			const core = this.cores.get(input.operand);
			files.push(...input.files);
			args.push(core ? `${input.operand}@${core}` : input.operand);
		}
		this.tell("", "Converting.", "");
		$("running").hidden = false;
		$("work").scrollIntoView({ block: "nearest" });
		$("counted").textContent = "";
		this.job = new Job(args, files, (messages) => this.tell("", "Converting.", messages), (text) => {
			$("counted").textContent = text;
		});
		this.enable();
		const result = await this.job.done;
		this.job = null;
		$("running").hidden = true;
		this.enable();
		return this.judge(result, to);
	}

	judge({ code, trap, messages, files }, to)
	{
		if (code === null) {
			this.tell("bad", "Cancelled.", messages ?? "");
			return null;
		}
		if (trap) {
			this.tell("bad", "The conversion failed: the browser stopped it.", `${messages}${trap}`);
			return null;
		}
		if (!files.length) {
			this.tell("bad", "Not converted.", messages);
			return null;
		}
		this.tell(code ? "bad" : "good", code ? "Converted, but the input is damaged:" : "Converted.", messages);
		const single = files.length === 1 && files[0].path === "result", name = this.nameOf(to);
		const stem = name.replace(/\.tar$/, "");
		return { name, blob: single ? new Blob([files[0].blob], { type: to === "html" ? "text/html" : "" }) :
			new Blob(writeTar(files.map((f) => [f.path.replace(/^result/, stem), f.size, [f.blob]])), { type: "application/x-tar" }) };
	}

	/**
	 * Add a line for a result, with links to save and, for a page, to open it.  The result
	 * takes memory as long as it has the line: a button removes both.
	 */
	list({ name, blob }, opens)
	{
		const url = URL.createObjectURL(blob);
		const save = element("a", { href: url, download: name }, "Save");
		const line = element("li", {}, `${name}, ${humanSize(blob.size)}`, save);
		if (opens)
			save.before(element("a", { href: url, target: "_blank", rel: "opener", class: "open" }, "Open"));
		line.append(element("button", { type: "button", "aria-label": `remove the result ${name}`, title: "Free its memory. What was saved or opened stays.", click: () => {
			URL.revokeObjectURL(url);
			line.remove();
		} }, "Remove"));
		$("results").prepend(line);
		return { url, save };
	}

	async view()
	{
		const result = await this.convert("html", $("to").value === "html" ? this.toOptions.read().text : "");
		if (!result)
			return;
		const { url } = this.list(result, true);
		if (!window.open(url, "_blank"))
			$("state").textContent += " The browser opened no tab: use the link Open.";
	}

	async save()
	{
		const to = $("to").value, result = await this.convert(to, this.toOptions.read().text);
		if (result)
			this.list(result, to === "html").save.click();
	}

	async perfetto()
	{
		const result = await this.convert("perfetto");
		if (!result)
			return;
		this.list(result, false);
		$("ask-what").textContent = `${result.name}, ${humanSize(result.blob.size)}.`;
		$("ask").returnValue = "no";
		$("ask").showModal();
		$("send").onclick = async () => {
			const why = await handOver(result.blob, result.name);
			if (why)
				this.tell("bad", "Not handed over.", why);
			else
				this.tell("good", "Handed over to ui.perfetto.dev.", "");
		};
	}

	// ---- what the user does ------------------------------------------------------------------------

	listen()
	{
		const chosen = (e) => {
			this.add([...e.target.files].map((blob) => ({ path: blob.webkitRelativePath || blob.name, blob })));
			e.target.value = "";
		};
		for (const [id, event, act] of [["files", "change", chosen], ["folder", "change", chosen],
			["part-options", "input", () => this.showPart()],
			["from", "change", () => this.chooseFrom()], ["to", "change", () => this.chooseTo()],
			["view", "click", () => this.view()], ["save", "click", () => this.save()],
			["perfetto", "click", () => this.perfetto()], ["cancel", "click", () => this.job?.cancel()],
			["clear", "click", () => {
				this.entries = [];
				this.cores.clear();
				this.showInputs();
			}]])
			$(id).addEventListener(event, act);
		document.addEventListener("dragover", (e) => {
			e.preventDefault();
			$("drop").classList.add("over");
		});
		document.addEventListener("dragleave", () => $("drop").classList.remove("over"));
		document.addEventListener("drop", (e) => {
			e.preventDefault();
			$("drop").classList.remove("over");
			this.dropped(e.dataTransfer);
		});
		document.addEventListener("paste", (e) => this.pastedIn(e));
	}

	async dropped(data)
	{
		/* What was dropped must be asked for before the first await. */
		const items = [...data.items].filter((i) => i.kind === "file").map((i) => ({
			file: i.getAsFile(), entry: i.webkitGetAsEntry?.(), handle: SANDBOXED ? null : i.getAsFileSystemHandle?.().catch(() => null) }));
		const entries = [], text = data.getData("text");
		if (!items.length && text)
			entries.push(pasted(text, ++this.pastes));
		try {
			for (const item of items)
				await collect(item, entries);
		} catch (e) {
			this.tell("bad", "A dropped folder cannot be read: use the button Choose a folder.", String(e.message ?? e));
		}
		await this.add(entries);
	}

	pastedIn(e)
	{
		if (/^(input|textarea)$/i.test(e.target.tagName) && e.target.type === "text")
			return;
		const files = [...e.clipboardData.files], text = e.clipboardData.getData("text");
		if (files.length)
			this.add(files.map((blob) => ({ path: blob.name, blob })));
		else if (text.trim())
			this.add([pasted(text, ++this.pastes)]);
	}
}

/** Collect the files of a folder, by a handle or by an entry, into @entries. */
async function collectHandle(handle, path, entries)
{
	for await (const one of handle.values()) {
		if (one.kind === "file")
			entries.push({ path: path + one.name, blob: await one.getFile() });
		else
			await collectHandle(one, `${path}${one.name}/`, entries);
	}
}

async function collectEntry(entry, path, entries)
{
	const reader = entry.createReader();
	for (;;) {
		const some = await new Promise((done, fail) => reader.readEntries(done, fail));
		if (!some.length)
			return;
		for (const one of some) {
			if (one.isFile)
				entries.push({ path: path + one.name, blob: await new Promise((done, fail) => one.file(done, fail)) });
			else
				await collectEntry(one, `${path}${one.name}/`, entries);
		}
	}
}

/* On a page from disk, Chromium reads entries of files by handles alone. */
async function collect({ file, entry, handle }, entries)
{
	const folder = await handle;
	if (SANDBOXED && entry?.isDirectory)
		throw new Error("Pages that ktape serve sends may not read dropped folders.");
	if (folder?.kind === "directory")
		await collectHandle(folder, `${folder.name}/`, entries);
	else if (entry?.isDirectory)
		await collectEntry(entry, `${entry.name}/`, entries);
	else if (file)
		entries.push({ path: file.name, blob: file });
}

async function start()
{
	const asked = [];
	for (const args of [["--list", "--json"], ["options"]]) {
		const { code, out, trap, messages } = await new Job(["convert", ...args], []).done;
		if (trap || code !== 0)
			throw new Error(trap ?? messages);
		asked.push(out.trim().split("\n").map((line) => JSON.parse(line)));
	}
	window.ktape = new Page(...asked);
	$("why").hidden = true;
	$("page").hidden = false;
	document.documentElement.dataset.ready = "1";
}

/* The program comes after this script in the page. */
addEventListener("DOMContentLoaded", () => start().catch((e) => {
	$("why").textContent = `This page cannot start: ${e.message}. It needs a browser of the last three years with WebAssembly.`;
}));
