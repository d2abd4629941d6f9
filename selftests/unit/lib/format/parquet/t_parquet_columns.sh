#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_parquet_columns.sh FOLDER: the tables of Parquet stay as they are. The columns of
# the source are those of ktape-parquet(5), and those of columns.v1 are still there, in
# their places and with their types: users' queries and files rely on them.
top=$(cd "${0%/*}/../../../../.." && pwd)
here=$(cd "${0%/*}" && pwd)
# shellcheck source=selftests/unit/support/result.sh
. "$top/selftests/unit/support/result.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-columns.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# Expand the table of tables to lines: TABLE COLUMN TYPE NULL UNIT HELP
"${CC:-gcc}" -E -P -x c -I"$top" - >expanded 2>log <<'EOT'
#define PQ_TABLE(NAME, name, sorts, help) @T name
#define PQ_COLUMN(NAME, COLUMN, column, type, null, unit, help) @C column type null unit help
#include "userspace/lib/format/parquet/tables.h"
EOT
tr '\n' ' ' <expanded | sed 's/@/\n@/g' | awk '
	BEGIN { split("INT32 int32 INT64 int64 BOOL bool NAME text TEXT text UTC time SAME text", t)
		for (i = 1; i in t; i += 2) types[t[i]] = t[i + 1] }
	$1 == "@T" { table = $2 }
	$1 == "@C" {
		split($0, q, "\"")
		print table, $2, types[$3], $4 == "1" ? "null" : "-",
			q[2] == "" ? "-" : q[2], q[4]
	}' >source

sed -n '/^\.Sh TABLES/,/^\.Ss A single file/p' "$top/userspace/man/ktape-parquet.5" |
	awk '$1 == ".Ss" { table = $2 }
	$1 == ".It" {
		sub(/^\.It Li /, "")
		gsub(/ Ta /, " ")
		print table, $0
	}' >manual

echo "TAP version 13"
echo "1..3"
[ "$(wc -l <source)" -gt 100 ] && diff source manual >>log
result $? "ktape-parquet(5) has every column, type and unit"

# The columns of version 1 come first in their tables, in the same order.
cut -d' ' -f1-5 source | awk '
	NR == FNR { want[$1, ++n[$1]] = $0; next }
	{ at[$1]++ }
	at[$1] <= n[$1] && want[$1, at[$1]] != $0 {
		print $0 ", and version 1 has " want[$1, at[$1]]
		bad = 1
	}
	END {
		for (t in n)
			if (at[t] < n[t]) {
				print t ": columns are missing"
				bad = 1
			}
		exit bad
	}' "$here/columns.v1" - >>log
result $? "the columns of version 1 are unchanged"

! cut -d' ' -f1,2 source | sort | uniq -d | grep . >>log
result $? "no column twice"
exit $failed
