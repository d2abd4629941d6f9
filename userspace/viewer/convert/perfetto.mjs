// SPDX-License-Identifier: GPL-2.0-only
// Hand a trace over to the page of ui.perfetto.dev, which answers PING with PONG when it
// can take one.  Only called after the user has agreed.

const UI = "https://ui.perfetto.dev";
const EVERY = 50, LONGEST = 30000;	// ms

/**
 * Return a promise of "" or of a sentence about what failed.  @blob may be a promise: a
 * window can be opened only shortly after the user's click.
 */
export async function handOver(blob, name)
{
	const other = window.open(UI, "_blank");
	let buffer;
	try {
		buffer = await (await blob).arrayBuffer();
	} catch (e) {
		other?.close();
		throw e;
	}
	if (!other)
		return "the browser did not open another tab: allow it for this page, or save the trace and open it at ui.perfetto.dev";
	return new Promise((done) => {
		const started = Date.now();
		const end = (why) => {
			clearInterval(timer);
			removeEventListener("message", listen);
			done(why);
		};
		const listen = (e) => {
			if (e.source !== other || e.origin !== UI || e.data !== "PONG")
				return;
			other.postMessage({ perfetto: { buffer, title: name, fileName: name } }, UI);
			end("");
		};
		addEventListener("message", listen);
		const timer = setInterval(() => {
			if (Date.now() - started > LONGEST || other.closed)
				end("ui.perfetto.dev did not answer: save the trace and open it there");
			else
				other.postMessage("PING", UI);
		}, EVERY);
	});
}
