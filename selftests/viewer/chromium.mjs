// SPDX-License-Identifier: GPL-2.0-only
// Drive Debian's chromium over a pipe (--remote-debugging-pipe): commands and answers
// are JSON, each ended by a NUL.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const ALT = 1, SHIFT = 8;	// modifiers of keys
const LIMIT = Number(process.env.LIMIT ?? 1200000);	// ms for an answer, on a busy machine

export class Browser {
	/**
	 * @local: pages of this machine can be loaded, those of others cannot in any case.
	 * @names: { host: port of this machine } that answers for it.
	 * @args: more arguments.
	 */
	constructor(path, { local = false, names = {}, args = [] } = {})
	{
		this.home = mkdtempSync(join(tmpdir(), "ktape-chromium."));
		this.process = spawn(path, ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
			"--no-default-browser-check", Object.keys(names).length ? "--no-proxy-server" : "--proxy-server=127.0.0.1:9",
			`--host-resolver-rules=${Object.entries(names).map(([name, port]) => `MAP ${name} 127.0.0.1:${port}, `).join("")}MAP * ~NOTFOUND${local ? ", EXCLUDE 127.0.0.1" : ""}`,
			...args,
			"--remote-debugging-pipe", `--user-data-dir=${this.home}`, "about:blank"],
		{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
		this.waiting = new Map();
		this.listeners = [];
		this.loaded = [];	// names of files that were downloaded
		this.next = 1;
		this.text = "";
		this.process.stdio[4].setEncoding("utf8");
		this.process.stdio[4].on("data", (data) => this.take(data));
		this.process.on("exit", () => {
			for (const { fail } of this.waiting.values())
				fail(new Error("chromium ended"));
		});
	}

	take(data)
	{
		const parts = (this.text + data).split("\0");
		this.text = parts.pop();
		for (const part of parts) {
			const answer = JSON.parse(part), waiting = this.waiting.get(answer.id);
			if (!waiting) {
				for (const listener of this.listeners)
					listener(answer);
				continue;
			}
			this.waiting.delete(answer.id);
			clearTimeout(waiting.timer);
			if (answer.error)
				waiting.fail(new Error(`${waiting.method}: ${answer.error.message}`));
			else
				waiting.done(answer.result);
		}
	}

	send(method, params = {}, sessionId = undefined)
	{
		const id = this.next++;
		this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
		return new Promise((done, fail) => {
			const timer = setTimeout(() => fail(new Error(`${method}: no answer`)), LIMIT);
			this.waiting.set(id, { done, fail, timer, method });
		});
	}

	async page(width, height)
	{
		const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
		const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
		const page = new Tab(this, sessionId);
		await page.send("Page.enable");
		await page.send("Network.enable");
		await page.send("Runtime.enable");
		await page.resize(width, height);
		return page;
	}

	/** Save downloads in a folder.  Return what waits for the next one, and its path. */
	async downloadsTo(folder)
	{
		const names = new Map();
		this.listeners.push(({ method, params }) => {
			if (method === "Browser.downloadWillBegin")
				names.set(params.guid, params.suggestedFilename);
			if (method === "Browser.downloadProgress" && params.state === "completed")
				this.loaded.push(names.get(params.guid));
		});
		await this.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder, eventsEnabled: true });
		return async (act) => {
			const before = this.loaded.length;
			await act();
			for (const end = Date.now() + LIMIT; this.loaded.length === before; await new Promise((done) => setTimeout(done, 20))) {
				if (Date.now() > end)
					throw new Error("nothing was downloaded");
			}
			return join(folder, this.loaded.at(-1));
		};
	}

	async close()
	{
		const ended = new Promise((done) => this.process.once("exit", done));
		const timer = setTimeout(() => this.process.kill("SIGKILL"), LIMIT);
		this.send("Browser.close").catch(() => {});
		await ended;
		clearTimeout(timer);
		rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
	}
}

export class Tab {
	constructor(browser, session)
	{
		this.browser = browser;
		this.session = session;
		this.requests = [];
		this.errors = [];
		browser.listeners.push((m) => {
			if (m.sessionId !== session)
				return;
			if (m.method === "Network.requestWillBeSent")
				this.requests.push(m.params.request.url);
			if (m.method === "Runtime.exceptionThrown")
				this.errors.push(m.params.exceptionDetails.exception?.description ?? m.params.exceptionDetails.text);
		});
	}

	send(method, params = {})
	{
		return this.browser.send(method, params, this.session);
	}

	resize(width, height, scale = 1)
	{
		return this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: false });
	}

	theme(value)
	{
		return this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
	}

	/** Return the value of an expression, which may be a promise. */
	async run(expression)
	{
		const r = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
		if (r.exceptionDetails)
			throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
		return r.result.value;
	}

	/** Wait until an expression is true. */
	async until(expression)
	{
		for (const end = Date.now() + LIMIT; Date.now() < end;) {
			// Between two pages there is no answer.
			const value = await this.run(expression).catch((e) => {
				if (!/navigated/.test(e.message))
					throw e;
			});
			if (value)
				return;
			await new Promise((done) => setTimeout(done, 50));
		}
		throw new Error(`never became true: ${expression}`);
	}

	async open(url)
	{
		await this.send("Page.navigate", { url });
		await this.until("document.documentElement?.dataset.ready === '1' || document.getElementById('why')?.textContent.startsWith('This page cannot')");
	}

	/** Wait until what was asked for is drawn. */
	async drawn()
	{
		await this.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))");
	}

	async key(key, modifiers = 0)
	{
		const code = { Tab: 9, Enter: 13, " ": 32 }[key];
		const text = key === "Enter" ? "\r" : key.length === 1 && !(modifiers & ~SHIFT) ? key : undefined;
		await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, modifiers, text, code: code ? key : undefined, windowsVirtualKeyCode: code });
		await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, modifiers, windowsVirtualKeyCode: code });
		await this.drawn();
	}

	mouse(type, x, y, more = {})
	{
		return this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1, buttons: type === "mouseReleased" ? 0 : 1, ...more });
	}

	async click(x, y)
	{
		await this.mouse("mousePressed", x, y);
		await this.mouse("mouseReleased", x, y);
		await this.drawn();
	}

	async shot(path)
	{
		await this.drawn();
		const { data } = await this.send("Page.captureScreenshot", { format: "png" });
		writeFileSync(path, Buffer.from(data, "base64"));
	}
}
