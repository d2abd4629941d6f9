// SPDX-License-Identifier: GPL-2.0-only
// The page that hands a trace of ktape serve to ui.perfetto.dev.

import { handOver } from "./perfetto.mjs";

const path = location.pathname.slice(new URL("perfetto/", document.baseURI).pathname.length);
const name = decodeURIComponent(path), button = document.getElementById("open");

function say(text, bad = false)
{
	const state = document.getElementById("state");
	state.textContent = text;
	state.className = bad ? "bad" : "";
}

async function convert()
{
	const answer = await fetch(`pftrace/${path}`);
	if (!answer.ok)
		throw new Error(await answer.text());
	const blob = await answer.blob();
	say(`${blob.size} bytes: waiting for ui.perfetto.dev.`);
	return blob;
}

button.onclick = async () => {
	button.disabled = true;
	say("Converting.");
	try {
		const why = await handOver(convert(), `${name}.pftrace`);
		say(why ? `Not handed over: ${why}` : "Handed over to ui.perfetto.dev.", why);
	} catch (e) {
		say(`The trace cannot be converted: ${e.message}`, true);
	}
	button.disabled = false;
};
