// SPDX-License-Identifier: GPL-2.0-only
// Hide, pin and reorder tracks by mouse and by keyboard; undo; the address keeps it.
// usage: check_tracks.mjs CHROMIUM PAGE SHOTS

import { join, resolve } from "node:path";

import { ALT, Browser } from "./chromium.mjs";
import { differ, plan, test } from "./tap.mjs";

const [chromium, page, shots] = process.argv.slice(2);
const url = `file://${resolve(page)}`;
const browser = new Browser(chromium);

try {
	const tab = await browser.page(1366, 768);
	const shown = () => tab.run("ktape.timeline.shown.map((t) => t.id)");
	const focused = () => tab.run("document.activeElement.dataset.id ?? document.activeElement.id");
	const label = (k) => tab.run(`(() => { ktape.timeline.drawNow(); const r = ktape.timeline.labels.of(ktape.timeline.shown[${k}]).getBoundingClientRect();
		return [r.left + 40, r.top + r.height / 2]; })()`);

	/** Move the pointer to a label, and press one of the buttons that then appear. */
	async function press(k, name)
	{
		await tab.mouse("mouseMoved", ...await label(k), { button: "none", buttons: 0 });
		const [x, y] = await tab.run(`(() => { const r = ktape.timeline.labels.of(ktape.timeline.shown[${k}]).querySelector(".${name}").getBoundingClientRect();
			return [r.left + r.width / 2, r.top + r.height / 2]; })()`);
		await tab.click(x, y);
	}

	async function pressButton(id)
	{
		const [x, y] = await tab.run(`(() => { const r = document.getElementById("${id}").getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`);
		await tab.click(x, y);
	}

	await tab.open(url);
	const first = await shown();
	const without = (k) => first.filter((_, i) => i !== k);

	await test("a button of the label hides a track, and Show all brings it back", async () => {
		await press(1, "hide");
		const hidden = await shown(), told = await tab.run("document.getElementById('show-all').textContent");
		await pressButton("show-all");
		return differ([hidden, told, await shown()], [without(1), "Show all (1 hidden)", first]);
	});
	await test("buttons move a track and pin it", async () => {
		await press(1, "down");
		const moved = await shown();
		await press(3, "pin");
		const pinned = await shown();
		return differ([moved.slice(0, 4), pinned.slice(0, 4)], [[first[0], first[2], first[1], first[3]], [first[3], first[0], first[2], first[1]]]);
	});
	await test("Undo takes it back, one change after the other", async () => {
		const states = [];
		for (let i = 0; i < 4; i++) {
			await pressButton("undo");
			states.push((await shown()).slice(0, 4));
		}
		// Pinned, moved, all shown, hidden.
		return differ(states, [[first[0], first[2], first[1], first[3]], first.slice(0, 4), without(1).slice(0, 4), first.slice(0, 4)]) ||
			differ(await tab.run("document.getElementById('undo').disabled"), true);
	});
	await test("a dragged label takes the place of another one, as one change", async () => {
		const [x, y] = await label(1), [, to] = await label(2);
		await tab.mouse("mousePressed", x, y);
		for (const at of [y + 20, to - 4, to + 12])
			await tab.mouse("mouseMoved", x, at);
		await tab.mouse("mouseReleased", x, to + 12);
		await tab.drawn();
		const dragged = await shown();
		await tab.key("u");
		return differ([dragged.slice(0, 3), await shown()], [[first[0], first[2], first[1]], first]);
	});
	await test("Tab reaches the labels from the top to the bottom, and their buttons", async () => {
		await tab.run("document.getElementById('lanes').focus()");
		await tab.key("Tab");
		const at = [await focused()];
		for (let i = 0; i < 4; i++)
			await tab.key("Tab");
		const button = await tab.run("document.activeElement.getAttribute('aria-label')");
		await tab.key("Tab");
		at.push(await focused());
		return differ([at, /^Hide .*: /.test(button)], [[first[0], first[1]], true]);
	});
	await test("keys of a label: arrows, h hides and the next one has the focus", async () => {
		await tab.run(`ktape.timeline.focus(ktape.timeline.shown[0])`);
		await tab.key("ArrowDown");
		const second = await focused();
		await tab.key("h");
		return differ([second, await focused(), await shown()], [first[1], first[2], without(1)]);
	});
	await test("Alt with arrows moves a track, k pins it, the focus stays with it", async () => {
		await tab.key("ArrowDown", ALT);
		const moved = (await shown()).slice(0, 4), with_ = await focused();
		await tab.key("k");
		return differ([moved, with_, (await shown()).slice(0, 4), await focused()],
			[[first[0], first[3], first[2], first[4]], first[2], [first[2], first[0], first[3], first[4]], first[2]]);
	});
	await tab.shot(join(shots, "tracks-light.png"));
	await test("other keys of a label are those of the page", async () => {
		const before = await tab.run("ktape.view.length");
		await tab.key("w");
		return await tab.run("ktape.view.length") < before ? "" : "w did not zoom";
	});
	await test("the address keeps what is hidden, pinned and moved", async () => {
		const wanted = await shown();
		await tab.until("location.hash === ktape.link && /hide=/.test(location.hash) && /pin=/.test(location.hash) && /order=/.test(location.hash)");
		const hash = await tab.run("location.hash"), other = await browser.page(1366, 768);
		await other.open(url + hash);
		const there = await other.run("[ktape.timeline.shown.map((t) => t.id), [...ktape.timeline.tracks.hidden], [...ktape.timeline.tracks.pinned]]");
		await tab.send("Page.bringToFront");
		return differ(there, [wanted, [first[1]], [first[2]]]);
	});
	await test("u takes everything back, and then says so", async () => {
		while (!await tab.run("document.getElementById('undo').disabled"))
			await tab.key("u");
		await tab.key("u");
		return differ([await shown(), await tab.run("document.getElementById('said').textContent")], [first, "the tracks are as they were at first"]) ||
			differ(/hide|pin|order/.test(await tab.run("ktape.toLink(), location.hash")), false);
	});
	await test("undo that hides the track whose label has the focus leaves nothing of the label", async () => {
		await press(1, "hide");
		await pressButton("show-all");
		await tab.run("ktape.timeline.focus(ktape.timeline.shown[1])");
		await tab.key("u");
		const left = await tab.run(`[...document.getElementById("labels").children].filter((e) => !ktape.timeline.shown.some((t) => t.id === e.dataset.id)).length`);
		const now = await focused();
		await tab.run("ktape.timeline.showAll()");
		return differ([left, now], [0, "lanes"]);
	});
	await test("what shows nothing in the window is hidden by a button", async () => {
		// After the last event there are only the tracks of CPUs and of values.
		await tab.run("ktape.view.set(ktape.view.last + 1, ktape.view.last + 2)");
		await pressButton("hide-empty");
		const [kept, wanted] = [await shown(), await tab.run("[...ktape.timeline.tracks.byId.values()].filter((t) => t.kind === 'cpu' || t.kind === 'value').map((t) => t.id)")];
		await tab.key("u");
		await tab.run("ktape.view.fit()");
		return differ([kept.length > 0, kept, await shown()], [true, wanted, first]);
	});
	await test("many hidden tracks make a short address; nonsense in one changes nothing", async () => {
		await tab.run("ktape.timeline.shown.filter((_, k) => k % 2).forEach((t) => ktape.timeline.hide(t)); ktape.toLink()");
		const [hash, hidden, rest] = await tab.run("[location.hash, ktape.timeline.tracks.hidden.size, ktape.timeline.shown.map((t) => t.id)]");
		await tab.run("ktape.timeline.showAll(); ktape.toLink()");
		await tab.run(`location.hash = ${JSON.stringify(hash)}`);
		await tab.until("ktape.timeline.tracks.hidden.size > 0");
		const again = await shown();
		await tab.run("location.hash = '#hide=9-2,x,99999999,-1&order=,,1e9&pin=0x1'");
		await tab.until("ktape.timeline.tracks.hidden.size === 0");
		return hidden > 3 && hash.length < 60 + hidden * 4 ? differ([again, await shown()], [rest, first]) : `${hidden} hidden: ${hash}`;
	});
	await test("no error was thrown", () => differ(tab.errors, []));
} finally {
	await browser.close();
}
plan();
