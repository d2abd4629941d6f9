#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The runner of the stages: its budgets hold, and nothing of a stage is left.
set -u

run=$(cd "$(dirname "$0")/../.." && pwd)/run
work=$(mktemp -d "${TMPDIR:-/tmp}/ktape-run.XXXXXX")
trap 'rm -rf "$work"' EXIT
export OUT=$work/out

n=0
failed=0

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
		return
	fi
	failed=1
	echo "not ok $n - $2"
	sed 's/^/# /' "$work/log" | head -n 20
}

# stage SCRIPT [SECONDS]: one that is run with that budget
stage()
{
	printf '%s\n' '#!/bin/bash' "$1" >"$work/stage"
	chmod +x "$work/stage"
	export KTAPE_STAGES="set	stage	${2:-600}	$work/stage"
}

# Lives: this process, which the stage wrote down, is there.
lives()
{
	local state
	state=$(sed 's/.*) //; s/ .*//' "/proc/$(cat "$work/pid")/stat" 2>&1)
	[ "$state" = S ] || [ "$state" = R ]
}

# ends STATUS WHAT: it ends, and by itself
ends()
{
	timeout -k 1 60 "$run" set >"$work/log" 2>&1
	[ $? = "$1" ]
	result $? "$2"
}

keep="sleep 600 & echo \$! >$work/pid"

stage "echo ok 1; $keep; exit 0"
ends 0 "a stage that leaves a process with its output behind"
! lives
result $? "which is ended"

stage "echo ok 1; $keep; trap '' TERM; wait; sleep 600" 2
ends 1 "a stage that does not end and takes no notice"
grep -q 'took more than 2 s' "$work/log"
result $? "which is told"
! lives
result $? "and ended with its children"

stage "echo ok 1; setsid sleep 600 & echo \$! >$work/pid; exit 0"
ends 0 "a stage whose process is in a session of its own"
kill "$(cat "$work/pid")"

stage "echo not ok 1; exit 1"
ends 1 "a stage that fails"

stage "echo 'ok 1 # SKIP there is none here'"
ends 0 "a stage that is left out, with its reason"

stage "echo ok 1; $keep; wait"
rm -f "$work/pid"
"$run" set >"$work/log" 2>&1 &
pid=$!
for _ in $(seq 100); do
	[ ! -s "$work/pid" ] || break
	sleep 0.1
done
kill -TERM $pid
wait $pid
[ $? = 130 ]
result $? "a run that is interrupted"
! lives
result $? "ends its stage"

# A guest test of the command, with a command that does not work or is not there.
guest=$(dirname "$run")/guest
needs()
{
	# shellcheck disable=SC2016	# of the inner shell
	env "$@" sh -c '. "$0/record.sh"; need_ktape; echo ok 1' "$guest" \
		>"$work/log" 2>&1
}
mkdir "$work/bin"
printf '#!/bin/sh\necho it crashed; exit 139\n' >"$work/bin/ktape"
chmod +x "$work/bin/ktape"
! needs PATH="$work/bin:$PATH" && grep -q '^not ok' "$work/log" &&
	grep -q '^# it crashed' "$work/log" && ! grep -q SKIP "$work/log"
result $? "a command that does not work fails its tests"
rm "$work/bin/ktape"
! needs PATH=/usr/bin:/bin KTAPE_KERNEL=stock && grep -q '^not ok' "$work/log"
result $? "one that the suite should have brought, too"
needs PATH=/usr/bin:/bin
[ $? = 4 ] && grep -q '# SKIP' "$work/log"
result $? "under another runner they are skipped"
printf '#!/bin/sh\nexit 0\n' >"$work/bin/ktape"
chmod +x "$work/bin/ktape"
needs PATH="$work/bin:$PATH" && grep -qx 'ok 1' "$work/log"
result $? "with the command they run"

# mutant SCRIPT [SECONDS]: the program with a defect does that, without it passes
mutant()
{
	rm -rf "$work/m"
	mkdir "$work/m"
	printf '#!/bin/sh\necho ok 1\n' >"$work/m/t_ring_step"
	printf '#!/bin/sh\n%s\n' "$1" >"$work/program"
	cat >"$work/make" <<-EOT
	#!/bin/sh
	for a; do case \$a in OUT=*) cp $work/program "\${a#OUT=}/t_ring_step" ;; esac; done
	EOT
	chmod +x "$work/m/t_ring_step" "$work/program" "$work/make"
	MAKE=$work/make KTAPE_MUTANT_SECONDS=${2:-60} "${guest%/*}/unit/module/ring/t_mutants" \
		"$work/m" no-recheck >"$work/log" 2>&1
}
mutant 'echo not ok 1; echo "# why"'
result $? "a mutant that fails its test is caught"
! mutant 'echo ok 1'
result $? "one that passes is not"
! mutant 'exec sleep 600' 2 && grep -q 'not over after 2 s' "$work/log"
result $? "nor one that is not over in time"
# shellcheck disable=SC2016	# of the program
! mutant 'kill -KILL $$'
result $? "nor one that others killed"
# shellcheck disable=SC2016	# of the program
mutant 'kill -SEGV $$'
result $? "one that crashes is"

echo "1..$n"
exit $failed
