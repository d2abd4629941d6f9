# SPDX-License-Identifier: GPL-2.0-only
# Print a table from the lines of scenario, during, load and decode; with -v readme=FILE
# write it in Markdown, with -v tsv=FILE its numbers, "what TAB tracer TAB number".
#
# What a number is, as the median of the repetitions, each of which but for "added" is a pass:
#   added		(slices with the tracer - slices without) / events that ftrace counted
#			meanwhile
#   busy		time between the marks begin and end, less idle time of the CPU
#   all told		(busy of the work - busy of an empty command, with the tracer, less the same
#			without) / events of the work
#   bytes, events	those of the file, less those of the file for an empty command
#   its recorder	what its processes used from the beginning of the work on, less the same
#			for an empty command
#   attach, detach	begin to first mark, last mark to end, less the same without a tracer

BEGIN {
	ntracers = split("empty store ktape ftrace lttng perf bpf bpftrace", tracers)
	nsets = split("switch waking syscall wide softirq A B C", sets)
	title["empty"] = "does nothing"
	title["store"] = "clock, 32 bytes"
	title["ktape"] = "ktape"
	title["ftrace"] = "trace-cmd"
	title["lttng"] = "LTTng"
	title["perf"] = "perf"
	title["bpf"] = "BPF ring buffer"
	title["bpftrace"] = "bpftrace"
	split("- - threads,+priorities,+state;+names+once the+same+and+names,+in+each " \
	      "the+same+and+names,+in+each the+same+and+names,+in+each;+address,+CPU " \
	      "threads,+priorities,+state threads", texts)
	keep_texts("switch")
	split("- - number number,+6+arguments number+by+name,+typed+arguments " \
	      "number,+6+arguments number number", texts)
	keep_texts("syscall")
	split("- - number,+6+arguments as+above as+above as+above - -", texts)
	keep_texts("wide")
	of_set["switch"] = "sched_switch"
	of_set["waking"] = "sched_waking"
	of_set["syscall"] = "sys_enter, sys_exit"
	of_set["wide"] = "sys_enter, sys_exit with arguments"
	of_set["softirq"] = "softirq_entry"
	of_set["A"] = "set A"
	of_set["B"] = "set B"
	of_set["C"] = "set C"
}

# What a record of this kind holds, for each tracer.
function keep_texts(kind,	t)
{
	for (t = 1; t <= ntracers; t++) {
		gsub(/\+/, " ", texts[t])
		if (texts[t] == "-")
			texts[t] = ""
		holds[kind, tracers[t]] = texts[t]
	}
}

{
	delete v
	for (i = 2; i <= NF; i++) {
		split($i, pair, "=")
		v[pair[1]] = pair[2]
	}
}

$1 == "pass" {
	pass = v["rep"] + 0
	passes = pass + 1
}

$1 == "cpu" { cpu = substr($0, 5) }

# Nanoseconds of the floor and of the ring with three arguments.
$1 == "native" && $2 == 3 {
	alone["store"] = $3
	alone["ktape"] = $7
}

# The lines that follow a run belong to it.
$1 == "run" {
	what = v["what"]
	tracer = v["tracer"]
	rep = v["rep"] + 0
	if (what == "cost" && rep >= reps)
		reps = rep + 1
	known[tracer] = 1
}

$1 == "slices" {
	insns[v["set"], tracer, rep] = v["insns"]
	if (tracer == "ftrace")
		counted[v["set"]] = v["events"]
}

$1 == "mix" && what == "count" { mix_events[pass] = v["events"] }

$1 == "mark" {
	time[pass, what, tracer, v["name"]] = v["ns"]
	rested[pass, what, tracer, v["name"]] = v["idle"]
	available[pass, what, tracer, v["name"]] = v["available"]
}

$1 == "used" {
	used[pass, what, tracer, v["name"]] = v["us"]
	resident[pass, what, tracer, v["name"]] = v["resident"]
}

$1 == "status" && v["status"] != 0 {
	reason = v["status"] == 124 || v["status"] == 137 ? "did not end" : "failed"
	if (reason == "failed")
		bad[++nbad] = v["tracer"] ": " what ": status " v["status"]
	if (what == "cost")
		failed[v["tracer"], what, v["set"]] = reason
	else
		failed[v["tracer"], what, pass] = reason
}

$1 == "size" {
	bytes[pass, v["what"], v["tracer"]] = v["bytes"]
}

$1 == "burst" {
	expected[what] = v["cpus"] * v["calls"]
}

$1 == "found" { found[pass, v["what"], v["tracer"]] = v["calls"] }

$1 == "decode" {
	decoded[pass, v["what"], v["tracer"]] = v["events"]
	seconds[pass, v["what"], v["tracer"]] = v["cpu"]
}

$1 == "missing" {
	reason = $0
	sub(/^missing tracer=[^ ]* /, "", reason)
	missing[v["tracer"]] = reason
}

$1 == "version" { version[v["package"]] = v["version"] }

function median(set, tracer,	n, i, x, a)
{
	if ((tracer, "cost", set) in failed)
		return failed[tracer, "cost", set]
	for (n = 0; n < reps; n++) {
		if (!((set, tracer, n) in insns) || !((set, "none", n) in insns) ||
		    !counted[set])
			return ""
		x = (insns[set, tracer, n] - insns[set, "none", n]) / counted[set]
		for (i = n; i > 0 && a[i - 1] > x; i--)
			a[i] = a[i - 1]
		a[i] = x
	}
	if (!n)
		return ""
	if ((a[n - 1] - a[0]) / 2 > worst)
		worst = (a[n - 1] - a[0]) / 2
	return n % 2 ? a[(n - 1) / 2] : (a[n / 2 - 1] + a[n / 2]) / 2
}

function has(what, tracer)
{
	return ((pass, what, tracer, "end") in time) && !((tracer, what, pass) in failed)
}

function busy(what, tracer)
{
	return time[pass, what, tracer, "end"] - time[pass, what, tracer, "begin"] - \
		rested[pass, what, tracer, "end"] + rested[pass, what, tracer, "begin"]
}

function all_told(t)
{
	if (!has("work", t) || !has("idle", t) || !mix_events[pass])
		return ""
	return (busy("work", t) - busy("idle", t) - busy("work", "none") + \
		busy("idle", "none")) / mix_events[pass]
}

function spent(what, t)
{
	return used[pass, what, t, "end"] - used[pass, what, t, "first"]
}

function recorder(t)
{
	if (!has("work", t) || !has("idle", t))
		return ""
	return (spent("work", t) - spent("idle", t)) * 1000
}

# What the work has added to the file of an empty command: its events, its bytes.
function events_of(t)
{
	return ((pass, "live", t) in decoded) && ((pass, "idle", t) in decoded) ? \
		decoded[pass, "live", t] - decoded[pass, "idle", t] : 0
}

function grown(t)
{
	return bytes[pass, "live", t] - bytes[pass, "idle", t]
}

function each(number, by)
{
	return number == "" || by <= 0 ? "" : number / by
}

function gone(what, t)
{
	if ((t, what, pass) in failed)
		return failed[t, what, pass]
	if (!((pass, what, t) in found))
		return ""
	return expected[what] - found[pass, what, t]
}

# With arguments: those of the others have them always, those of BPF never.
function gone_wide(what, t)
{
	if (t == "bpf" || t == "bpftrace")
		return ""
	return gone(t == "ktape" ? "wide-" what : what, t)
}

function rate(t)
{
	return t != "bpf" && t != "bpftrace" && decoded[pass, "live", t] ? \
		seconds[pass, "live", t] / decoded[pass, "live", t] * 1e9 : ""
}

# Milliseconds between two marks, less the same without a tracer.
function took(what, t, from, to)
{
	if ((t, what, pass) in failed)
		return failed[t, what, pass]
	if (!has(what, t) || !has(what, "none"))
		return ""
	return (time[pass, what, t, to] - time[pass, what, t, from] - \
		time[pass, what, "none", to] + time[pass, what, "none", from]) / 1e6
}

function taken(t)
{
	return has("warm", t) ? \
		(available[pass, "warm", t, "begin"] - available[pass, "warm", t, "first"] - \
		 available[pass, "warm", "none", "begin"] + \
		 available[pass, "warm", "none", "first"]) / 1024 : ""
}

function processes(t)
{
	return has("work", t) ? resident[pass, "work", t, "last"] / 1024 : ""
}

# The value of a row in this pass.
function value_of(row, t)
{
	if (row == "all")
		return all_told(t)
	if (row == "events")
		return each(events_of(t) ? events_of(t) : "", mix_events[pass])
	if (row == "by_event")
		return each(recorder(t), events_of(t))
	if (row == "by_byte")
		return each(recorder(t), grown(t))
	if (row == "bytes")
		return each(grown(t), events_of(t))
	if (row == "burst" || row == "calls")
		return gone(row, t)
	if (row ~ /^wide-/)
		return gone_wide(substr(row, 6), t)
	if (row == "rate")
		return rate(t)
	if (row == "attach")
		return took("idle", t, "begin", "first")
	if (row == "detach")
		return took("idle", t, "last", "end")
	if (row == "large")
		return took("large", t, "begin", "first")
	if (row == "taken")
		return taken(t)
	if (row == "processes")
		return processes(t)
}

# The median of the passes, or what happened in one of them.
function value(row, t,	n, i, x, a)
{
	if (row ~ /^added /)
		return median(substr(row, 7), t)
	if (row ~ /^hold /)
		return holds[substr(row, 6), t]
	if (row == "alone")
		return alone[t]
	if (t == "empty" || t == "store")
		return ""
	for (pass = 0; pass < passes; pass++) {
		x = value_of(row, t)
		if (x !~ /^-?[0-9.e+-]+$/)
			return x
		for (i = pass; i > 0 && a[i - 1] + 0 > x + 0; i--)
			a[i] = a[i - 1]
		a[i] = x
	}
	n = passes
	if (!n)
		return ""
	return n % 2 ? a[(n - 1) / 2] : (a[n / 2 - 1] + a[n / 2]) / 2
}

function add(row, name, format)
{
	nrows++
	rows[nrows] = row
	row_name[nrows] = name
	row_format[nrows] = format
}

function list_rows(	s)
{
	for (s = 1; s <= nsets; s++)
		add("added " sets[s], "instructions added per event: " \
		    of_set[sets[s]], "%.0f")
	add("hold switch", "a record of sched_switch holds")
	add("hold syscall", "a record of sys_enter holds")
	add("hold wide", "the same, with arguments")
	add("all", "the same, recorded to a file, all told: set C", "%.0f")
	add("events", "events in that file for each of the work", "%.2f")
	add("by_event", "its recorder: instructions per event in the file", "%.0f")
	add("by_byte", "its recorder: instructions per byte, uncompressed", "%.2f")
	add("bytes", "bytes per event in the file, uncompressed", "%.1f")
	add("burst", "lost of " expected["burst"] \
	    " system calls, 4 MiB for each CPU, the reader held up", "%d")
	add("wide-burst", "the same, with arguments", "%d")
	add("calls", "lost of " expected["calls"] \
	    " system calls, 4 MiB for each CPU, the reader running", "%d")
	add("wide-calls", "the same, with arguments", "%d")
	add("rate", "on a real CPU: decoding to text, ns for an event", "%.0f")
	add("alone", "on a real CPU: the ring alone, ns for a record of 24 bytes", "%.1f")
	add("attach", "first event after, ms: set C", "%.0f")
	add("detach", "file complete after, ms", "%.0f")
	add("large", "first event after, 1 GiB for each CPU, ms", "%.0f")
	add("taken", "memory taken with default buffers, MiB", "%.1f")
	add("processes", "resident memory of its processes, MiB", "%.1f")
}

function cell(row, t, format,	x)
{
	x = value(row, t)
	if (x == "")
		return "-"
	return x ~ /^-?[0-9.e+-]+$/ ? sprintf(format, x) : x
}

function table(	r, t)
{
	printf "%-62s", ""
	for (t = 1; t <= ntracers; t++)
		printf " %15s", title[tracers[t]]
	print ""
	for (r = 1; r <= nrows; r++) {
		printf "%-62s", row_name[r]
		for (t = 1; t <= ntracers; t++)
			printf " %15s", cell(rows[r], tracers[t], row_format[r])
		print ""
	}
}

function write_tsv(	r, t, x)
{
	for (r = 1; r <= nrows; r++)
		for (t = 1; t <= ntracers; t++) {
			x = value(rows[r], tracers[t])
			if (x != "")
				printf "%s\t%s\t%s\n", row_name[r],
					tracers[t], x >tsv
		}
	close(tsv)
}

function write_readme(	r, t, line)
{
	line = "| |"
	for (t = 1; t <= ntracers; t++)
		line = line " " title[tracers[t]] " |"
	print line >readme
	gsub(/[^|]+/, "---", line)
	print line >readme
	for (r = 1; r <= nrows; r++) {
		line = "| " row_name[r] " |"
		for (t = 1; t <= ntracers; t++)
			line = line " " cell(rows[r], tracers[t], row_format[r]) " |"
		print line >readme
	}
	printf "\n%s", notes() >readme
	close(readme)
}

# List what could not be measured, and with which versions the rest was.
function notes(	t, text)
{
	text = "Measured on Debian's " kernel ", with Debian " release "'s trace-cmd " \
		version["trace-cmd"] ", perf " version["linux-perf"] ", LTTng " \
		version["lttng-tools"] ",\nlibbpf " version["libbpf1"] \
		", bpftrace " version["bpftrace"] " and babeltrace2 " \
		version["babeltrace2"] "; median of " reps \
		(reps == 1 ? " run" : " runs, spread at most ±" \
		 sprintf("%.1f", worst)) ".\nThe work that was recorded to files has " \
		mix_events[0] " events.\n"
	for (t = 1; t <= ntracers; t++)
		if (tracers[t] in missing)
			text = text title[tracers[t]] " was not measured: " \
				missing[tracers[t]] ".\n"
		else if (!(tracers[t] in known))
			text = text title[tracers[t]] " was not asked for.\n"
	if (cpu != "")
		text = text "Rows of a real CPU are of " cpu \
			", all others of the guest; the ring's floor stands under \"clock\".\n"
	text = text "wprof was not measured: neither Debian nor npm has it.\n\n"
	text = text "ktape alone keeps the running thread at each switch where sched_switch is not recorded:\n"
	text = text "that is in its sched_waking.  The BPF ring buffer is a program of ours with records of\n"
	text = text "32 bytes.  A recorder whose own system calls are in the set follows itself.  Rows with\n"
	text = text "arguments: ktape's sys_enter_wide instead of its sys_enter, calls of six arguments in the\n"
	text = text "first, getppid, which has none, in those of losses.  ktape's recorder seals each block with\n"
	text = text "a CRC32C, whose instruction QEMU executes bit by bit: 50 ms for a MiB in that guest, where a\n"
	return text "CPU takes 0.1 ms.  So it reads later there than the others, which seal nothing.\n"
}

END {
	list_rows()
	table()
	print "\n" notes()
	if (tsv != "")
		write_tsv()
	if (readme != "")
		write_readme()
	for (i = 1; i <= nbad; i++)
		print "not ok bench-peers " bad[i]
	exit nbad > 0
}
