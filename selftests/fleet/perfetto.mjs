// SPDX-License-Identifier: GPL-2.0-only
// Let trace_processor read a bundle of the traces of two hosts, and compare the times of
// their context switches with ktape dump, to the nanosecond.
//
// usage: perfetto.mjs ENGINE FOLDER	FOLDER has bundle.tar and, in the order in which the
//					hosts booted, HOST.json of ktape dump --json

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { differ, plan, test } from "./tap.mjs";
import { openTrace } from "./trace_processor.mjs";

const [engine, folder] = process.argv.slice(2);
const hosts = readdirSync(folder).filter((f) => f.endsWith(".json")).sort()
	.map((f) => f.replace(/\.json$/, ""));
const query = await openTrace(engine, join(folder, "bundle.tar"));

/** Return the times of a host's context switches, which are of CLOCK_REALTIME, by CPU. */
function dumped(host)
{
	return readFileSync(join(folder, `${host}.json`), "utf8").split("\n")
		.filter((l) => l.includes('"event":"sched_switch"'))
		.map((l) => /^\{"ts":"(\d+)","cpu":(\d+)/.exec(l))
		.map(([, ts, cpu]) => `${ts} on ${cpu}`).sort();
}

await test("trace_processor reads a bundle of two hosts without an error", async () =>
	differ(await query(`select name, value from stats
		where value != 0 and severity != 'info'`), []));

const machines = await query(`select id, sysname, release, arch from machine
	where id in (select machine_id from cpu) order by raw_id`);
await test("both machines are there", () =>
	differ(machines.map((m) => [m.sysname, m.release, m.arch].join(" ")),
		hosts.map(() => "Linux 6.1.0 x86_64")));

await test("each has its own clocks", async () => {
	const clocks = await query(`select distinct machine_id, clock_name
		from clock_snapshot order by machine_id, clock_name`);
	return differ(clocks.map((c) => `${c.machine_id} ${c.clock_name}`),
		machines.flatMap((m) => ["BOOTTIME", "MONOTONIC", "REALTIME"]
			.map((name) => `${m.id} ${name}`)));
});

// What is added to the times of the bundle, to have CLOCK_REALTIME: of the first host.
const [base] = await query(`select clock_value - ts as ns from clock_snapshot
	where machine_id = ${machines[0].id} and clock_name = 'REALTIME'`);

for (const [i, host] of hosts.entries()) {
	await test(`the context switches of ${host} have their times and CPUs`, async () => {
		const want = dumped(host);
		const got = (await query(`select ts, cpu.cpu as cpu from sched
			join cpu using (ucpu) where cpu.machine_id = ${machines[i].id}`))
			.map((r) => `${BigInt(r.ts) + BigInt(base.ns)} on ${r.cpu}`).sort();
		console.log(`# ${host}: ${got.length} switches, from ${got[0]}`);
		if (want.length < 1000)
			return `ktape dump has ${want.length} switches`;
		const other = want.findIndex((w, k) => w !== got[k]);
		return differ(got.length, want.length) ||
			(other < 0 ? "" : `${got[other]}, not ${want[other]}`);
	});
}

await test("threads belong to their machines", async () => {
	const names = await query(`select machine_id, count(distinct name) as n
		from thread where tid > 0 group by machine_id order by machine_id`);
	return names.length === 2 && names.every((r) => Number(r.n) > 100) ? "" :
		JSON.stringify(names, (_, v) => String(v));
});

plan();
process.exit();
