// SPDX-License-Identifier: GPL-2.0-only
// Hand a trace of ktape serve to a page at https://ui.perfetto.dev, which a server of this
// test stands in for: by postMessage from a page of the server, and by the site's own
// fetch from port 9001.
// usage: check_perfetto.mjs CHROMIUM KTAPE FOLDER WORK
//	FOLDER: has the trace demo.  WORK: for a key and a certificate.

import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";

import { Browser, Tab } from "./chromium.mjs";
import { differ, plan, skip, test } from "./tap.mjs";

const UI = "ui.perfetto.dev", PORT = 9001;
const [chromium, ktape, folder, work] = process.argv.slice(2);
const key = join(work, "ui.key"), certificate = join(work, "ui.crt");
execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate, "-subj", `/CN=${UI}`, "-days", "2"], { stdio: "ignore" });

/* What the site does: it answers PING, and takes a buffer.  It is slow to begin. */
const page = `<!DOCTYPE html><title>stand-in</title><script>
	setTimeout(() => addEventListener("message", (e) => {
		if (e.data === "PING")
			e.source.postMessage("PONG", e.origin);
		else if (e.data.perfetto)
			globalThis.got = { from: e.origin, title: e.data.perfetto.title, buffer: e.data.perfetto.buffer };
	}), 500);
	const hash = async (buffer) => [...new Uint8Array(await crypto.subtle.digest("SHA-256", buffer))].map((b) => b.toString(16).padStart(2, "0")).join("");
</script>`;
const site = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_, answer) => {
	answer.setHeader("Content-Type", "text/html");
	answer.end(page);
});
site.listen(0, "127.0.0.1");
await once(site, "listening");
const { port } = site.address();
const wanted = createHash("sha256").update(execFileSync(ktape, ["convert", "-q", "-t", "perfetto", "-o", "-", join(folder, "demo")], { maxBuffer: 1 << 30 })).digest("hex");

/** Start ktape serve.  Return its address, "" if the port is taken, and its process. */
async function serve(...more)
{
	const server = spawn(ktape, ["serve", ...more, folder], { stdio: ["ignore", "pipe", "ignore"] });
	const [line] = await Promise.race([once(server.stdout, "data"), once(server, "exit").then(() => [""])]);
	return { url: String(line).trim(), server };
}

/** Use a browser in which the site is of the address space @space. */
async function withBrowser(space, act)
{
	const browser = new Browser(chromium, { local: true, names: { [UI]: port },
		args: ["--ignore-certificate-errors", `--ip-address-space-overrides=127.0.0.1:${port}=${space}`] });
	try {
		return await act(browser, await browser.page(1000, 700));
	} finally {
		await browser.close();
	}
}

const any = await serve(), classic = await serve("-p", String(PORT));
try {
	await test("the button hands the trace to the site, which gets each byte, and only it", () => withBrowser("public", async (browser, tab) => {
		await tab.send("Page.navigate", { url: `${any.url}perfetto/demo` });
		await tab.until("document.readyState === 'complete' && document.getElementById('open')");
		const [x, y] = await tab.run("(() => { const r = document.getElementById('open').getBoundingClientRect(); return [r.left + 5, r.top + 5]; })()");
		await tab.mouse("mousePressed", x, y);
		await tab.mouse("mouseReleased", x, y);
		await tab.until("/Handed over|Not handed|cannot/.test(document.getElementById('state').textContent)");
		const { targetInfos } = await browser.send("Target.getTargets"), target = targetInfos.find((t) => t.type === "page" && t.url.startsWith(`https://${UI}`));
		if (!target)
			return `${await tab.run("document.getElementById('state').textContent")}: no tab of the site`;
		const { sessionId } = await browser.send("Target.attachToTarget", { targetId: target.targetId, flatten: true }), other = new Tab(browser, sessionId);
		await other.until("globalThis.got");
		return differ([await tab.run("document.getElementById('state').textContent"), await other.run("got.from"), await other.run("got.title"), await other.run("hash(got.buffer)")],
			[`Handed over to ${UI}.`, new URL(any.url).origin, "demo.pftrace", wanted]);
	}));
	if (!classic.url) {
		skip(`the site fetches a trace from port ${PORT}`, "the port is in use");
	} else {
		const fetched = (tab, path) => tab.run(`fetch("${classic.url}${path}").then(async (r) => [r.status, await hash(await r.arrayBuffer())], (e) => [String(e)])`);
		const openSite = async (tab) => {
			await tab.send("Page.navigate", { url: `https://${UI}/` });
			await tab.until("document.title === 'stand-in'");
		};

		await test(`the site fetches a trace from port ${PORT}, once the user allows it access to this machine`, () => withBrowser("public", async (browser, tab) => {
			await browser.send("Browser.grantPermissions", { permissions: ["localNetworkAccess", "localNetwork", "loopbackNetwork"], origin: `https://${UI}` });
			await openSite(tab);
			return differ(await fetched(tab, "pftrace/demo"), [200, wanted]);
		}));
		await test("without that, the browser does not even ask the server: it says so in its log", () => withBrowser("public", async (browser, tab) => {
			const said = [];
			browser.listeners.push((m) => {
				if (m.method === "Log.entryAdded")
					said.push(m.params.entry.text);
			});
			await tab.send("Log.enable");
			await openSite(tab);
			return differ(await fetched(tab, "pftrace/demo"), ["TypeError: Failed to fetch"]) ||
				(said.some((s) => /Permission was denied .*loopback/.test(s)) ? "" : said.join("\n"));
		}));
		await test("the site reads nothing but traces for Perfetto", () => withBrowser("loopback", async (browser, tab) => {
			await openSite(tab);
			const got = [];
			for (const path of ["", "html/demo", "csv/demo", "dump/demo"])
				got.push(await fetched(tab, path));
			return differ(got, Array(4).fill(["TypeError: Failed to fetch"])) || differ((await fetched(tab, "pftrace/demo"))[0], 200);
		}));
	}
} finally {
	for (const { server } of [any, classic])
		server.kill("SIGTERM");
	site.close();
}
plan();
process.exit(process.exitCode);
