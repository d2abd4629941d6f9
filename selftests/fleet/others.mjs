// SPDX-License-Identifier: GPL-2.0-only
// Run the queries of ClickHouse in chdb, and parse those of Spark.
//
// usage: others.mjs FOLDER SQL

import { Session } from "chdb";
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";
import { stopwatch } from "./stopwatch.mjs";
import { plan, test } from "./tap.mjs";

// The parser's files import each other without the ends of their names.
register(`data:text/javascript,${encodeURIComponent(`
	export async function resolve(name, context, next) {
		for (const end of ["", ".js", "/index.js"]) {
			try { return await next(name + end, context); } catch (e) { var why = e; }
		}
		throw why;
	}`)}`);
const { SparkSQL } = await import("dt-sql-parser");

const [folder, sql] = process.argv.slice(2);
const queries = ["run_queue", "noisy_neighbours", "irq_hot_spots",
	"syscall_regressions", "wake_chains", "trust"];
const session = new Session();
const results = {};

/** Return the statements of a file. */
function statements(engine, name)
{
	return readFileSync(join(sql, engine, `${name}.sql`), "utf8")
		.replace(/--.*$/gm, "")
		.replaceAll("TRACES", join(folder, "tables"))
		.replaceAll("{before:Date}", "toDate('2025-11-24')")
		.replaceAll("{after:Date}", "toDate('2025-11-25')")
		.replaceAll("${before}", "2025-11-24").replaceAll("${after}", "2025-11-25")
		.split(";").map((s) => s.trim()).filter(Boolean);
}

await test("ClickHouse: the views are made", () => {
	for (const s of statements("clickhouse", "tables"))
		session.query(s);
});

for (const name of queries) {
	await test(`ClickHouse: ${name} runs, and says how uncertain it is`, () => {
		const taken = stopwatch();
		const text = session.query(statements("clickhouse", name)[0], "JSONEachRow");
		const time = taken();
		results[name] = text.trim().split("\n").filter(Boolean).map((r) => JSON.parse(r));
		console.log(`# ${name}: ${results[name].length} rows, ${time}`);
		if (!results[name].length)
			return "no rows";
		return "uncertain" in results[name][0] ? "" : "no column uncertain";
	});
}

await test("ClickHouse: the slower system call comes first", () =>
	results.syscall_regressions[0].name === "mmap" ? "" :
		JSON.stringify(results.syscall_regressions[0]));

await test("ClickHouse: uncounted losses of a day make a comparison uncertain", () =>
	results.syscall_regressions.filter((r) => r.uncertain !== null)
		.map((r) => `${r.name}: ${r.uncertain}`).join("; "));

for (const name of ["tables", ...queries]) {
	await test(`Spark: ${name} is in its grammar`, () => {
		const text = statements("spark", name).join(";\n") + ";";
		return new SparkSQL().validate(text).map((e) =>
			`line ${e.startLine}: ${e.message}`).join("\n");
	});
}
session.cleanup();
plan();
