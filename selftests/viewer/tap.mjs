// SPDX-License-Identifier: GPL-2.0-only
// Print the results of tests as TAP.

let n = 0;

/** Run a test: it fails if @body throws, or returns a text that says why. */
export async function test(name, body)
{
	let why = "";
	try {
		why = await body() ?? "";
	} catch (e) {
		why = e.stack;
	}
	console.log(`${why ? "not ok" : "ok"} ${++n} - ${name}`);
	if (why) {
		console.log(`# ${String(why).replace(/\n/g, "\n# ")}`);
		process.exitCode = 1;
	}
}

/** Print a test that cannot run, and why. */
export function skip(name, why)
{
	console.log(`ok ${++n} - ${name} # SKIP ${why}`);
}

/** Return "", or a text that says how two values differ. */
export function differ(a, b)
{
	const [x, y] = [a, b].map((v) => JSON.stringify(v));
	return x === y ? "" : `${x}, not ${y}`;
}

/** Print the plan, after the last test. */
export function plan()
{
	console.log(`1..${n}`);
}
