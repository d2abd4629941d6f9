#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test selftests/run: it enforces its budgets and leaves no process of a stage
# behind.
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

# stage SCRIPT [SECONDS]: define a stage with that budget
stage()
{
	printf '%s\n' '#!/bin/bash' "$1" >"$work/stage"
	chmod +x "$work/stage"
	export KTAPE_STAGES="set	stage	${2:-600}	$work/stage"
}

# lives: the process whose pid the stage has stored is running
lives()
{
	local state
	state=$(sed 's/.*) //; s/ .*//' "/proc/$(cat "$work/pid")/stat" 2>&1)
	[ "$state" = S ] || [ "$state" = R ]
}

# ends STATUS WHAT: run must exit by itself with STATUS
ends()
{
	timeout -k 1 60 "$run" set >"$work/log" 2>&1
	[ $? = "$1" ]
	result $? "$2"
}

keep="sleep 600 & echo \$! >$work/pid"

stage "echo ok 1; $keep; exit 0"
ends 0 "a stage that leaves a process with its output open"
! lives
result $? "run kills the process that a stage has left"

stage '[ "$*" = "/*" ] && echo ok 1'
KTAPE_STAGES+=' /*'
ends 0 "a pattern reaches the command of a stage"

stage "echo ok 1; $keep; trap '' TERM; wait; sleep 600" 2
ends 1 "a stage that hangs and ignores SIGTERM"
grep -q 'took more than 2 s' "$work/log"
result $? "a stage over its budget is reported"
! lives
result $? "a stage over its budget is killed with its children"

stage "echo ok 1; setsid sleep 600 & echo \$! >$work/pid; exit 0"
ends 0 "a stage with a process in another session"
kill "$(cat "$work/pid")"

stage "echo not ok 1; exit 1"
ends 1 "a stage that fails"

stage "echo 'ok 1 # SKIP there is none here'"
ends 0 "a skipped stage, with its reason"

stage "echo '1..0 # SKIP there is no npm'"
ends 0 "a stage that plans no test, with its reason"
grep -q '^ok stage stage # SKIP there is no npm$' "$work/log" &&
	tail -n 1 "$work/log" | grep -qx '0 passed, 0 failed, 1 skipped'
result $? "it counts as skipped"
stage "echo '1..0 # SKIP there is no npm'; exit 1"
ends 1 "a stage that plans no test and fails"
stage 'echo 1..0'
ends 1 "a stage that plans no test, without a reason"

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
result $? "SIGTERM ends run"
! lives
result $? "SIGTERM to run ends its stage"

# A guest test of the command, if the command does not work or is missing.
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
result $? "need_ktape fails if the command does not work"
rm "$work/bin/ktape"
! needs PATH=/usr/bin:/bin KTAPE_KERNEL=stock && grep -q '^not ok' "$work/log"
result $? "need_ktape fails if the suite has not installed the command"
needs PATH=/usr/bin:/bin
[ $? = 4 ] && grep -q '# SKIP' "$work/log"
result $? "need_ktape skips without the command under another runner"
printf '#!/bin/sh\nexit 0\n' >"$work/bin/ktape"
chmod +x "$work/bin/ktape"
needs PATH="$work/bin:$PATH" && grep -qx 'ok 1' "$work/log"
result $? "need_ktape passes with the command"

# mutant SCRIPT [SECONDS]: run t_mutants with a program that behaves like SCRIPT
# with the defect, and passes without it
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
result $? "a mutant that passes its test is not caught"
! mutant 'exec sleep 600' 2 && grep -q 'not over after 2 s' "$work/log"
result $? "a mutant that takes too long is not caught"
# shellcheck disable=SC2016	# of the program
! mutant 'kill -KILL $$'
result $? "a mutant that is killed from outside is not caught"
# shellcheck disable=SC2016	# of the program
mutant 'kill -SEGV $$'
result $? "a mutant that crashes is caught"

echo "1..$n"
exit $failed
