// SPDX-License-Identifier: GPL-2.0-only
// Measure how long something takes, and how much of the CPUs' time.

/** Start to measure. Return: a function that returns a text with both times. */
export function stopwatch()
{
	const begin = performance.now();
	const before = process.cpuUsage();

	return () => {
		const cpu = process.cpuUsage(before);
		const wall = (performance.now() - begin) / 1000;

		return `${wall.toFixed(2)} s, ${((cpu.user + cpu.system) / 1e6).toFixed(2)} s of CPU`;
	};
}
