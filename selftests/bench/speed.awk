# SPDX-License-Identifier: GPL-2.0-only
# Print the timings of codecs with their ratios, and judge the budgets. A budget is a ratio to
# a reference that was timed in the same run, so it does not depend on the machine. Exit with
# 3 if one is missed. Lines have fields between tabs:
#
#   reference text SECONDS	babeltrace2 prints the trace; "-": it is not installed
#   reference read SECONDS BYTES	so many bytes are read, with their checksum
#   before SECONDS		what the command takes before the first event
#   row NAME SECONDS EVENTS BYTES REFERENCE [LIMIT]
#				text: the ratio is how many times faster, at least LIMIT; read:
#				how many times as long, without the time before, at most LIMIT

BEGIN { FS = "\t" }

$1 == "reference" {
	seconds[$2] = $3
	bytes[$2] = $4
	next
}

$1 == "before" { before = $2 }

$1 != "row" { next }

function ratio_of(reference, took, size,	read)
{
	if (seconds[reference] + 0 <= 0 || took + 0 <= 0)
		return ""
	if (reference == "text")
		return seconds["text"] / took
	read = seconds["read"] / bytes["read"] * size
	return took > before ? (took - before) / read : 0
}

# Return: how the ratio stands to the limit.
function verdict(reference, ratio, limit)
{
	if (ratio == "")
		return "not measured"
	if (reference == "text" ? ratio >= limit : ratio <= limit)
		return "kept"
	missed++
	return "MISSED"
}

{
	ratio = ratio_of($6, $3, $5)
	printf "%-28s %8.3f s %7.2f M/s", $2, $3, ($3 + 0 ? $4 / $3 / 1e6 : 0)
	if (ratio != "")
		printf " %6.1f times %s", ratio, \
			($6 == "text" ? "as fast as babeltrace2" : "as long as reading")
	if ($7 != "")
		printf "; budget %s %g: %s", ($6 == "text" ? ">=" : "<="), $7, \
			verdict($6, ratio, $7)
	print ""
}

END {
	printf "%-28s %8.3f s\n", "before the first event", before
	printf "%-28s %8.3f s\n", "babeltrace2 (text)", seconds["text"]
	if (bytes["read"])
		printf "%-28s %8.3f s for a GB\n", "reading with a checksum", \
			seconds["read"] / bytes["read"] * 1e9
	exit missed ? 3 : 0
}
