// SPDX-License-Identifier: GPL-2.0-only
// Read the tables of three hosts with DuckDB and hyparquet, and compare them with
// ktape stats.
//
// usage: engine.mjs FOLDER SQL	FOLDER has tables/, traces/HOST.json, traces/HOST.count,
//				and pieces/, the tables of alpha with size=1

import { DuckDBInstance } from "@duckdb/node-api";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects }
	from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { stopwatch } from "./stopwatch.mjs";
import { differ, plan, test } from "./tap.mjs";

const [folder, sql] = process.argv.slice(2);
const hosts = ["alpha", "beta", "gamma"];
const lossy = "beta";
const slow = "mmap";
const queries = ["run_queue", "noisy_neighbours", "irq_hot_spots",
	"syscall_regressions", "wake_chains", "trust"];

const db = await DuckDBInstance.create(":memory:");
const connection = await db.connect();

async function rows(text)
{
	return (await connection.runAndReadAll(text)).getRowObjectsJson();
}

async function query(name)
{
	const taken = stopwatch();
	const found = await rows(readFileSync(join(sql, "duckdb", `${name}.sql`), "utf8"));
	console.log(`# ${name}: ${found.length} rows, ${taken()}`);
	return found;
}

/** Return the paths of all files below a folder. */
function files(below)
{
	return readdirSync(below, { recursive: true, withFileTypes: true })
		.filter((f) => f.isFile()).map((f) => join(f.parentPath ?? f.path, f.name));
}

/** Count the values of kinds in the JSON of ktape stats. */
function counted(stats, ...kinds)
{
	return stats.series.filter((s) => s.key === null && kinds.includes(s.kind))
		.reduce((n, s) => n + s.count, 0);
}

/** Tell whether a part of a plan is made of tables alone, as they are stored. */
function isStored(node)
{
	return /^(READ_PARQUET|PROJECTION|FILTER|\w*_JOIN)\s*$/.test(node.name) &&
		node.children.every(isStored);
}

/** Return the joins of a plan with a stored table on both sides. */
function joinsOfStored(node)
{
	const mine = node.children.length === 2 && node.children.every(isStored);
	return [...mine ? [node] : [], ...node.children.flatMap(joinsOfStored)];
}

await connection.run(`set variable ktape = '${join(folder, "tables")}'`);
await connection.run("set variable before = date '2025-11-24'");
await connection.run("set variable after = date '2025-11-25'");
await query("tables");

for (const host of hosts) {
	const stats = JSON.parse(readFileSync(join(folder, "traces", `${host}.json`)));
	await test(`${host}: the tables have the rows that ktape stats counts`, async () => {
		const events = Number(readFileSync(join(folder, "traces", `${host}.count`)));
		const want = {
			event: events,
			sched_slice: stats.cpus.reduce((n, c) => n + c.switches, 0),
			waits: counted(stats, "run_queue"),
			irq_slice: counted(stats, "irq", "ipi", "tick"),
			softirq_slice: counted(stats, "softirq"),
			syscall_slice: counted(stats, "syscall"),
			lost: stats.lost,
		};
		const got = {};
		for (const table of ["event", "sched_slice", "irq_slice", "softirq_slice",
			"syscall_slice"])
			got[table] = Number((await rows(
				`select count(*) n from ${table} where host = '${host}'`))[0].n);
		got.waits = Number((await rows(`select count(*) n from thread_state
			where host = '${host}' and state in ('R', 'R+')
			and dur is not null`))[0].n);
		got.lost = Number((await rows(`select coalesce(sum(count), 0) n from lost
			where host = '${host}' and source = 'gap'`))[0].n);
		return Object.keys(want).filter((k) => want[k] !== got[k])
			.map((k) => `${k}: ${got[k]}, and ktape stats has ${want[k]}`)
			.join("; ") || (want.waits > 1000 ? "" : "there is hardly anything");
	});
	await test(`${host}: the waits take the time that ktape stats has`, async () => {
		const all = stats.series.find((s) => s.key === null && s.kind === "run_queue");
		const got = (await rows(`select sum(dur)::bigint n from thread_state where
			host = '${host}' and state in ('R', 'R+') and dur is not null`))[0].n;
		return differ(String(got), String(all.sum));
	});
}

const results = {};
for (const name of queries) {
	await test(`DuckDB: ${name} runs, and says how uncertain it is`, async () => {
		results[name] = await query(name);
		if (!results[name].length)
			return "no rows";
		return "uncertain" in results[name][0] ? "" : "no column uncertain";
	});
}

await test("the slower system call comes first, and alone", () => {
	const [first, second] = results.syscall_regressions;
	return first.name !== slow ? `${first.name} comes first` :
		first.p50_ratio > 3 && second.p50_ratio < 2 ? "" :
			`ratios ${first.p50_ratio} and ${second.p50_ratio}`;
});

await test("only the host with losses is not whole", () => {
	const bad = results.trust.filter((r) => r.verdict !== "whole");
	return differ(bad.map((r) => r.host), [lossy]) || (Number(bad[0].gaps) ? "" : "no gaps");
});

await test("its results are uncertain, those of others are not", () => {
	const wrong = results.run_queue.filter((r) =>
		(r.uncertain === 0) !== (r.host !== lossy));
	return wrong.map((r) => `${r.host}: ${r.uncertain}`).join("; ");
});

await test("a day with a number of losses that nobody knows makes a comparison uncertain", () => {
	const told = results.syscall_regressions.filter((r) => r.uncertain !== null);
	return told.map((r) => `${r.name}: ${r.uncertain}`).join("; ");
});

await test("run_queue knows the control groups", () => differ(
	[...new Set(results.run_queue.map((r) => r.cgroup))].sort(),
	["/db.service", "/log.service", "/web.service", "/worker.service"]));

await test("days and hours are those of UTC, whatever zone the session has", async () => {
	const seen = [];
	for (const zone of ["UTC", "Pacific/Marquesas"]) {	// half past nine hours behind
		await connection.run(`set TimeZone = '${zone}'`);
		const [calls] = await query("syscall_regressions");
		seen.push([calls.lost_before, calls.lost_after, calls.uncertain,
			(await query("run_queue")).length,
			await rows("select host, epoch_us(hour) us from uncertainty order by all")]);
	}
	await connection.run("set TimeZone = 'UTC'");
	return differ(seen[1], seen[0]) || (seen[0][0] === null ? "no losses of the day" : "");
});

// DuckDB chooses the order of joins by the sizes of tables. Threads joined with threads are
// as many rows as there are pairs of them.
await test("wake_chains joins no threads with threads, however many wake-ups", async () => {
	const text = readFileSync(join(sql, "duckdb", "wake_chains.sql"), "utf8");
	const found = [];
	for (const copies of [1, 10, 1000]) {
		await connection.run("create or replace schema many");
		await connection.run(`create view many.wakeup as
			select w.* from main.wakeup w, range(${copies})`);
		await connection.run("set search_path = 'many,main'");
		const [tree] = await rows(`explain (format json) ${text}`);
		await connection.run("set search_path = 'main'");
		found.push(...JSON.parse(Object.values(tree).at(-1)).flatMap(joinsOfStored));
		await connection.run("drop schema many cascade");
	}
	return found.map((n) => JSON.stringify(n.extra_info)).join("; ");
});

await test("a range of time reads some row groups only", async () => {
	const [all] = await rows(`select min(ts) a, max(ts) b from event
		where host = 'alpha'`);
	const at = (BigInt(all.a) + BigInt(all.b)) / 2n;
	await connection.run("set enable_profiling = 'json'");
	await connection.run(`set custom_profiling_settings = '${JSON.stringify({
		CUMULATIVE_ROW_GROUPS_SCANNED: "true",
		CUMULATIVE_TOTAL_ROW_GROUPS_TO_SCAN: "true" })}'`);
	const [profile] = await rows(`explain (analyze, format json) select count(*), sum(cpu)
		from event where host = 'alpha' and ts between ${at} and ${at + 1000n}`);
	await connection.run("set enable_profiling = 'no_output'");
	const found = JSON.parse(Object.values(profile).at(-1));
	const scanned = found.cumulative_row_groups_scanned;
	const groups = found.cumulative_total_row_groups_to_scan;
	console.log(`# ${scanned} of ${groups} row groups scanned`);
	return scanned > 0 && scanned < groups ? "" : `${scanned} of ${groups} row groups`;
});

await test("row groups have 122880 rows, and after size=1 a file is followed by the next", async () => {
	const number = (g) => Number(/-(\d+)\.parquet$/.exec(g.file)[1]);
	const groups = (await rows(`select file_name as file, row_group_id::int as id,
		max(row_group_num_rows)::int as rows
		from parquet_metadata('${join(folder, "pieces")}/event/*/*/*/*.parquet')
		group by all`)).sort((a, b) => number(a) - number(b) || a.id - b.id);
	const paths = [...new Set(groups.map((g) => g.file))];
	const wrong = groups.filter((g, i) => groups[i + 1]?.file === g.file ?
		g.rows !== 122880 : g.rows > 122880);
	const small = paths.slice(0, -1).filter((f) => {
		const { size } = statSync(f);
		return size < 1 << 20 || size > 3 << 20;
	});
	const [whole] = await rows("select count(*)::int n from event where host = 'alpha'");
	const total = groups.reduce((n, g) => n + g.rows, 0);
	console.log(`# ${groups.length} row groups in ${paths.length} files`);
	return wrong.length ? `${wrong[0].file}: a row group has ${wrong[0].rows} rows` :
		small.length ? `${small[0]} has ${statSync(small[0]).size} bytes` :
			paths.length < 3 ? `${paths.length} files` : differ(total, whole.n);
});

await test("hyparquet reads the same first rows, and the page indexes", async () => {
	for (const path of files(join(folder, "tables", "sched_slice"))) {
		const file = await asyncBufferFromFile(path);
		const meta = await parquetMetadataAsync(file);
		const [mine] = await parquetReadObjects({ file, compressors, rowEnd: 1 });
		const [theirs] = await rows(`select ts::varchar ts, utid::varchar utid, cpu,
			end_state from read_parquet('${path}') limit 1`);
		const got = { ts: String(mine.ts), utid: String(mine.utid), cpu: mine.cpu,
			end_state: mine.end_state };
		if (differ(got, theirs))
			return differ(got, theirs);
		const notes = Object.fromEntries(meta.key_value_metadata.map((n) =>
			[n.key, n.value]));
		if (notes["ktape.schema"] !== "1" || notes["ktape.table"] !== "sched_slice")
			return JSON.stringify(notes);
		const lacking = meta.row_groups.flatMap((g) => g.columns).filter((c) =>
			!c.column_index_offset || !c.offset_index_offset);
		if (lacking.length)
			return `no page index: ${lacking[0].meta_data.path_in_schema}`;
	}
	return "";
});

plan();
