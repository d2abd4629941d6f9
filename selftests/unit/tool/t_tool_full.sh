#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_full.sh FOLDER: an output that cannot be written is exit status 1 of every command,
# with a message that names it; ktape(1) promises so.
here=$(cd "${0%/*}" && pwd)
# shellcheck source=selftests/unit/support/tool.sh
. "$here/../support/tool.sh" "$1"
# shellcheck disable=SC2154	# tool.sh sets it
tool=$out/command/ktape

# Each command that prints without a device, and what it is given; OUT is the full output.
commands()
{
	cat <<'END'
help
help dump
--version
dump --help
completion bash
dump session
dump --json session
dump pipe
stats session
stats --json session
stats --all session
stats --fail-if irq.p99>1s session
diff session session
diff --json session session
verify session
verify --json session
verify --absent sched_switch --from 0 --to 1 session
verify damaged
convert --list
convert -t csv -o - session
convert -t csv -o OUT session
convert -t jsonl -o - session
convert -t chrome -o - session
convert -t perfetto -o - session
convert -t html -o - session
convert -t native -o - session
convert -t native:form=pipe -o OUT session
convert -t tband -o - session
top -j -i session
top -i session
doctor
list
stats --prom OUT session
send session OUT
receive -o - line
END
}

echo "TAP version 13"
echo "1..$(($(commands | wc -l) + 1))"

"$out/make_trace" session session pipe || exit
cp -r session damaged
truncate -s -100 damaged/cpu0
"$tool" send session line 2>/dev/null || exit

while read -r line; do
	case $line in *-*o\ OUT* | *prom\ OUT* | *\ OUT) to=/dev/full ;; *) to= ;; esac
	# shellcheck disable=SC2086	# several words
	LC_ALL=C timeout 600 "$tool" ${line//OUT//dev/full} >/dev/full 2>log
	code=$?
	[ $code = 1 ] && grep -q "No space left on device" log &&
		grep -q "${to:-standard output\|[ :]-: }" log
	result $? "ktape $line: status $code"
done < <(commands)

# Without any standard output, too.
closed=0
for line in "dump session" "stats session" "verify session" "help" "diff session session"; do
	# shellcheck disable=SC2086
	"$tool" $line >&- 2>log
	[ $? = 1 ] && closed=$((closed + 1))
done
[ $closed = 5 ]
result $? "standard output that is closed: $closed of 5 commands fail"
exit "$failed"
