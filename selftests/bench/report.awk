# SPDX-License-Identifier: GPL-2.0-only
# Print tables from the lines of bench_guest and of run; with -v json=FILE and
# -v readme=FILE write them to FILE, too. A line is a word followed by NAME=VALUE pairs.

BEGIN {
	nsets = split("switch syscall enter wide mix", sets)
	ntracers = split("empty store ktape ftrace", tracers)
	nfull = split("switch syscall mix", full)
	nmore = split("two three pid-pass pid-hold cgroup-pass cgroup-hold", more)
	title["switch"] = "sched_switch"
	title["syscall"] = "sys_enter, sys_exit"
	title["enter"] = "sys_enter"
	title["wide"] = "sys_enter_wide"
	title["mix"] = "set C"
	cycles = 1
	METHOD = \
"method: a guest under QEMU's TCG with icount and 1 CPU, where an instruction is\n" \
"a tick of the TSC.  added = (run with the tracer - run without) / events, median\n" \
"of @REPS@, spread at most +-@SPREAD@.  Threads are SCHED_FIFO; a run is 31 slices\n" \
"between two ticks of the timer each.  empty: a probe that does nothing; store:\n" \
"clock and 32 bytes stored; ktape: one session, overwrite mode, 8 MiB, clock\n" \
"@CLOCK@; ftrace: its default buffer, clock local.  Nobody reads.\n" \
"two, three: so many sessions record the same events; pass, hold: a filter of one\n" \
"session records all of them or none.  Their budgets are what they add: sessions to\n" \
"the sessions before, filters that pass to one session, filters that nothing\n" \
"passes to the empty probe.  A filter that passes costs most at sched_switch,\n" \
"which matches the incoming thread.\n" \
"set C: sched, irq, softirq and syscall events (timers are not there yet) under\n" \
"rounds of 20 pipe ping-pongs, 40 getppid, 4 datagrams on lo and 2 naps; what the\n" \
"probes take while a nap runs, 1 event in 100, does not show.  Bytes: ktape: the\n" \
"event packets' content with headers; ftrace: records, without page headers.\n" \
"Instructions each: median of 31 loops of 400, less the same loop without; user:\n" \
"the whole call; rejected: with the probe, against no probe at all.\n" \
"Not modelled: caches, branches, and what reading the TSC really takes."
}

{
	delete v
	for (i = 2; i <= NF; i++) {
		split($i, pair, "=")
		v[pair[1]] = pair[2] + 0
		text[pair[1]] = pair[2]
	}
	set = text["set"]
	mode = text["mode"]
}

# The name may have blanks.
$1 == "cost" {
	ncosts++
	cost[ncosts] = (v["insns"] - v["base"]) / v["per"]
	cost_name[ncosts] = $0
	gsub(/^cost name=| insns=.*/, "", cost_name[ncosts])
}

$1 == "clock" { cycles = v["cycles"] }
$1 == "native" { native = v["worst"] }
$1 == "zstd" { zstd[set] = v["bytes"] }

$1 == "bench" {
	rep = v["rep"]
	if (rep >= reps)
		reps = rep + 1
	insns[set, mode, rep] = v["insns"]
	count[set, mode] = v["events"]
	total[set, mode] = v["total"]
	bytes[set, mode] = v["bytes"]
}

# Added instructions per event: median and half the spread, in med and half.
function summarise(set, mode,	i, j, n, x, a, events)
{
	# The floors do not count events, and a session with a filter also counts
	# its context records; the workload is the same.
	events = count[set, mode == "ftrace" ? mode : "ktape"]
	for (n = 0; n < reps; n++) {
		x = insns[set, mode, n] - insns[set, "base", n]
		x /= events
		for (i = n; i > 0 && a[i - 1] > x; i--)
			a[i] = a[i - 1]
		a[i] = x
	}
	med[set, mode] = a[int(n / 2)]
	half[set, mode] = (a[n - 1] - a[0]) / 2
	if (half[set, mode] > worst_half)
		worst_half = half[set, mode]
}

function costs(	i)
{
	printf "%-46s %8s\n", "instructions each", "added"
	for (i = 1; i <= ncosts; i++)
		printf "%-46s %8.1f\n", cost_name[i], cost[i]
	print ""
}

function budget(what, got, limit, floor)
{
	nbudgets++
	b_what[nbudgets] = what
	b_got[nbudgets] = got
	b_limit[nbudgets] = limit
	b_verdict[nbudgets] = got == "" ? "not measured" : \
		got + 0 <= limit ? "met" : "MISSED"
	missed += b_verdict[nbudgets] == "MISSED"
	printf "%-46s %8s %8s %8s  %s\n", what,
		got == "" ? "-" : sprintf("%.2f", got), sprintf("%.2f", limit),
		floor == "" ? "-" : sprintf("%.2f", floor), b_verdict[nbudgets]
}

function table(	s, t, set)
{
	print "instructions added per event"
	printf "%-20s %8s %8s %8s %8s %12s %13s\n", "events", "empty",
		"store", "ktape", "ftrace", "ktape/store", "ftrace/ktape"
	for (s = 1; s <= nsets; s++) {
		set = sets[s]
		for (t = 1; t <= ntracers; t++)
			summarise(set, tracers[t])
		printf "%-20s %8.1f %8.1f %8.1f %8.1f %12.2f %13.2f\n",
			title[set], med[set, "empty"], med[set, "store"],
			med[set, "ktape"], med[set, "ftrace"],
			med[set, "ktape"] / med[set, "store"],
			med[set, "ftrace"] / med[set, "ktape"]
	}
	print ""
	print "bytes per event"
	printf "%-20s %8s %8s %13s\n", "events", "ktape", "ftrace",
		"ftrace/ktape"
	for (s = 1; s <= nsets; s++) {
		set = sets[s]
		for (t = 3; t <= ntracers; t++)
			size[set, tracers[t]] = bytes[set, tracers[t]] / \
				total[set, tracers[t]]
		printf "%-20s %8.2f %8.2f %13.2f\n", title[set],
			size[set, "ktape"], size[set, "ftrace"],
			size[set, "ftrace"] / size[set, "ktape"]
	}
	print ""
}

# Further sessions, and filters that pass or hold back all events.
function more_table(	s, t)
{
	print "instructions added per event by ktape"
	printf "%-20s %8s", "events", "one"
	for (t = 1; t <= nmore; t++)
		printf " %11s", more[t]
	print ""
	for (s = 1; s <= nfull; s++) {
		printf "%-20s %8.1f", title[full[s]], med[full[s], "ktape"]
		for (t = 1; t <= nmore; t++) {
			summarise(full[s], more[t])
			printf " %11.1f", med[full[s], more[t]]
		}
		print ""
	}
	print ""
}

# Budgets of what @mode adds to @to, for each set.
function more_budgets(what, mode, to, limit,	s)
{
	for (s = 1; s <= nfull; s++)
		budget(what ", " title[full[s]],
		       med[full[s], mode] - med[full[s], to], limit, "")
}

function budgets(	packed)
{
	printf "%-46s %8s %8s %8s\n", "budget", "measured", "allowed", "floor"
	budget("sched_switch, instructions added",
	       med["switch", "ktape"], 90, med["switch", "store"])
	budget("set C, instructions added per event",
	       med["mix", "ktape"], 85, med["mix", "store"])
	budget("set C, bytes per event", size["mix", "ktape"], 14, "")
	packed = zstd["mix"] ? zstd["mix"] / total["mix", "ktape"] : ""
	budget("set C, bytes per event, zstd -3", packed, 4, "")
	budget("ring alone, native, worst time over floor", native, 1.10, 1)
	budget("sys_enter_wide, instructions added", med["wide", "ktape"], 250,
	       med["wide", "store"])
	more_budgets("second session", "two", "ktape", 85)
	more_budgets("third session", "three", "two", 40)
	more_budgets("pid filter that passes", "pid-pass", "ktape", 30)
	more_budgets("cgroup filter that passes", "cgroup-pass", "ktape", 30)
	more_budgets("pid filter that nothing passes", "pid-hold", "empty", 45)
	more_budgets("cgroup filter that nothing passes", "cgroup-hold", "empty", 45)
	print ""
}

function method(	n, lines, i)
{
	n = split(METHOD, lines, "\n")
	for (i = 1; i <= n; i++) {
		sub(/@REPS@/, reps, lines[i])
		sub(/@SPREAD@/, sprintf("%.2f", worst_half), lines[i])
		sub(/@CLOCK@/, cycles ? "cycles" : \
		    "mono: it did not trust the counter", lines[i])
		print lines[i]
	}
}

function comma(n)
{
	return n == 1 ? "" : ","
}

function json_set(set, file,	t, key)
{
	printf("\n  \"%s\": {", set) >file
	for (t = 1; t <= ntracers; t++) {
		key = set SUBSEP tracers[t]
		printf("%s\n    \"%s\": {\"added\": %.3f, ", comma(t),
		       tracers[t], med[key]) >file
		printf("\"spread\": %.3f, \"events\": %d, \"bytes\": %.3f}",
		       half[key] * 2, count[key], size[key]) >file
	}
	printf("}") >file
}

function write_json(file,	s, n)
{
	printf("{\"reps\": %d, \"cycles\": %d, \"sets\": {", reps,
	       cycles) >file
	for (s = 1; s <= nsets; s++) {
		printf("%s", comma(s)) >file
		json_set(sets[s], file)
	}
	printf("},\n  \"budgets\": [") >file
	for (n = 1; n <= nbudgets; n++) {
		printf("%s\n    {\"what\": \"%s\", \"measured\": %s, ",
		       comma(n), b_what[n],
		       b_got[n] == "" ? "null" : b_got[n]) >file
		printf("\"allowed\": %s, \"verdict\": \"%s\"}", b_limit[n],
		       b_verdict[n]) >file
	}
	printf("\n  ],\n  \"costs\": {") >file
	for (n = 1; n <= ncosts; n++)
		printf("%s\n    \"%s\": %.1f", comma(n), cost_name[n],
		       cost[n]) >file
	print "\n  }}" >file
	close(file)
}

# The table of README.md.
function write_readme(file,	s, t, set)
{
	print "| | does nothing | clock, 32 bytes | ktape | ftrace |" >file
	print "|---|---|---|---|---|" >file
	for (s = 1; s <= nsets; s++) {
		set = sets[s]
		if (set == "enter" || set == "wide")
			continue
		printf "| instructions added per event: %s |",
			set == "mix" ? "sched, irq, softirq, system calls" : \
				title[set] >file
		for (t = 1; t <= ntracers; t++)
			printf " %.0f |", med[set, tracers[t]] >file
		print "" >file
	}
	printf "| bytes per event: the same | | | %.1f | %.1f |\n",
		size["mix", "ktape"], size["mix", "ftrace"] >file
	printf "\nMeasured on Debian's %s, 1 CPU, one session in overwrite mode; median of\n",
		kernel >file
	printf "%d runs, spread at most ±%.1f.\n", reps, worst_half >file
	close(file)
}

END {
	table()
	more_table()
	costs()
	budgets()
	method()
	if (json != "")
		write_json(json)
	if (readme != "")
		write_readme(readme)
	exit missed ? 3 : 0
}
