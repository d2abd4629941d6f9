#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test selftests/run: it ends what hangs and nothing else, and leaves no process of a stage
# behind.
set -u

run=$(cd "$(dirname "$0")/../.." && pwd)/run
top=${run%/*/*}
# shellcheck source=selftests/unit/support/proved.sh
. "$top/selftests/unit/support/proved.sh"
skip_if_proved t_run "$run" "$top"/scripts/{bounded,lib.sh} "$top"/selftests/guest/support/record.sh \
	"$top"/selftests/unit/module/ring/{t_mutants,mutants/list,mutants/*.patch} \
	"$top"/module/ring/*.[ch]
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

# script NAME TEXT
script()
{
	printf '%s\n' '#!/bin/bash' "$2" >"$work/$1"
	chmod +x "$work/$1"
}

# stage SCRIPT [SECONDS]: define a stage, which may take ten times as much CPU time
stage()
{
	script stage "$1"
	export KTAPE_STAGES="set	-	stage	${2:-600}	$work/stage"
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
	timeout -k 1 600 "$run" set >"$work/log" 2>&1
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

for signal in HUP INT QUIT TERM; do
	stage 'trap "echo ok 1; exit 0" '$signal'; kill -'$signal' $$; exit 1'
	env --ignore-signal=HUP "$run" set >"$work/log" 2>&1
	result $? "what a stage starts does not ignore SIG$signal"
done

# What hangs here does so for 4 s, which is 20 minutes elsewhere.
export KTAPE_QUIET=4
stage "echo ok 1; $keep; trap '' TERM; wait; sleep 600"
ends 1 "a stage that hangs and ignores SIGTERM"
grep -qE '^not ok stage stage: ended: .* no CPU time for 4 s; [0-9]+ s of CPU time in all$' \
	"$work/log"
result $? "a stage that hangs is reported, with its CPU time"
! lives
result $? "a stage that hangs is killed with its children"

stage "echo ok 1; while :; do sleep 1; done"
ends 1 "a stage that waits in a loop for what never happens"
grep -q '^not ok stage stage: ended: ' "$work/log"
result $? "it is reported"

# Each of these takes twice as long as one may hang.
# shellcheck disable=SC2016	# of the stage
stage 'for i in {1..16}; do echo "# $i"; sleep 0.5; done; echo ok 1'
ends 0 "a stage that sleeps and prints"
# shellcheck disable=SC2016	# of the stage
work_some='for i in {1..8}; do timeout 1 bash -c "while :; do :; done"; done; echo ok 1'
stage "$work_some"
ends 0 "a stage that uses CPU time and prints nothing"
stage "(sleep 8; kill -CONT \$\$) & kill -STOP \$\$; echo ok 1"
ends 0 "a stage that is stopped for a while"
unset KTAPE_QUIET
stage 'echo ok 1; while :; do echo "# more"; done >/dev/null' 1
ends 1 "a stage that never ends"
grep -qE '^not ok stage stage: ended: it used more than 10 s of CPU time; 1[0-9] s ' "$work/log"
result $? "a stage that never ends is reported, with its CPU time"

# A machine that was away: all that runs, what watches as well, stands still.
export KTAPE_QUIET=4
stage "echo \$\$ >$work/pid; sleep 1; sleep 3; echo ok 1"
rm -f "$work/pid"
"$run" set >"$work/log" 2>&1 &
pid=$!
for _ in $(seq 600); do
	[ ! -s "$work/pid" ] || break
	sleep 0.1
done
kill -STOP -- "-$(cat "$work/pid")"
sleep 12
kill -CONT -- "-$(cat "$work/pid")"
wait $pid
result $? "a stage on a machine that was away"
unset KTAPE_QUIET

# Lanes: one waits for a file that another one makes.
script first "echo ok 1 - a; until [ -e $work/there ]; do sleep 0.1; done; nice"
script second "nice; echo not ok 1 - b; : >$work/there"
script third "[ -e $work/there ] && echo ok 1 '# SKIP c'"
rm -f "$work/there"
export KTAPE_STAGES="set	a	one	600	$work/first
set	b	two	600	$work/second
other	b	four	600	$work/third
set	b	three	600	$work/third"
ends 1 "stages in two lanes"
behind=$(($(nice) + 5))
[ $behind -le 19 ] || behind=19
grep -qx "$(nice)" "$work/log" && grep -qx $behind "$work/log"
result $? "lanes beside each other, the second one behind"
awk '
	/^# stage one: [^\/]*$/ { after["one"] = last }
	/^# stage two: [^\/]*$/ { after["two"] = last }
	/^ok 1 - a$/ { a = NR }
	/^not ok 1 - b$/ { b = NR }
	{ if ($0 !~ /^#/) last = $0 }
	END { exit !(a && b && after["two"] == "not ok 1 - b") }' "$work/log" &&
	tail -n 1 "$work/log" | grep -qx '1 passed, 1 failed, 1 skipped'
result $? "the output of a stage is kept together, and counted once"
# stage, begun, wall, CPU, passed, failed, skipped
[ "$(awk '/^# (one|two|three|set) / { print $2, $6, $7, $8 }' "$work/log" | tr '\n' ,)" = \
	"one 1 0 0,two 0 1 0,three 0 0 1,set 1 1 1," ]
result $? "a table of the stages is printed"
timeout 600 "$run" set three >"$work/log" 2>&1 &&
	tail -n 1 "$work/log" | grep -qx '0 passed, 0 failed, 1 skipped'
result $? "one stage of a set"
[ "$("$run" --budget set)" = 1800 ] && [ "$("$run" --budget set two)" = 600 ]
result $? "the budget of a set and of a stage"
! "$run" set four >"$work/log" 2>&1
result $? "a stage that the set does not have"

stage "echo ok 1; setsid sleep 600 & echo \$! >$work/pid; sleep 1"
ends 0 "a stage with a process in another session"
kill "$(cat "$work/pid")"

stage "echo ok 1; printf half; exit 1"
ends 1 "a stage that fails within a line"
tail -n 1 "$work/log" | grep -qx '1 passed, 1 failed'
result $? "its failure is counted"

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
for _ in $(seq 600); do
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
	env "$@" sh -c '. "$0"; need_ktape; echo ok 1' "$guest/support/record.sh" \
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
	KTAPE_MUTANTS='' MAKE=$work/make KTAPE_MUTANT_SECONDS=${2:-60} \
		"${guest%/*}/unit/module/ring/t_mutants" \
		"$work/m" no-recheck >"$work/log" 2>&1
}
mutant 'echo not ok 1; echo "# why"'
result $? "a mutant that fails its test is caught"
! mutant 'echo ok 1'
result $? "a mutant that passes its test is not caught"
! mutant 'while :; do :; done' 2 &&
	grep -q 'not over, nothing is known: it used more than 2 s of CPU time' "$work/log"
result $? "a mutant that takes too long is not caught"
# shellcheck disable=SC2016	# of the program
! mutant 'kill -KILL $$'
result $? "a mutant that is killed from outside is not caught"
# shellcheck disable=SC2016	# of the program
mutant 'kill -SEGV $$'
result $? "a mutant that crashes is caught"

# Which mutants are tried: those that are not recorded, and the first one.
mutants()
{
	MAKE=$work/make KTAPE_PROVED=$work/proved KTAPE_MUTANTS=$1 \
		"${guest%/*}/unit/module/ring/t_mutants" "$work/m" >"$work/log" 2>&1
}
# tried N SKIPPED: this many tests of mutants, and mutants that were left out
tried()
{
	[ "$(grep -c '^ok [0-9]* - mutant ' "$work/log")" = "$1" ] &&
		[ "$(sed -n 's/^ok [0-9]* - \([0-9]*\) mutants .*# SKIP.*/\1/p' "$work/log")" = "$2" ] &&
		[ "$(sed -n 's/^1\.\.//p' "$work/log")" = "$(grep -c '^ok ' "$work/log")" ]
}
printf '#!/bin/sh\necho not ok 1; echo "# why"\n' >"$work/program"
for name in t_ring t_ring_full t_ring_loss; do
	cp "$work/m/t_ring_step" "$work/m/$name"
done
# shellcheck disable=SC2016	# of the script
printf '#!/bin/sh\nfor a; do case $a in OUT=*) to=${a#OUT=} ;; esac; done\ncp %s "$to/$a"\n' \
	"$work/program" >"$work/make"
all=$(grep -vc '^#' "${guest%/*}/unit/module/ring/mutants/list")
echo 'gone 0123456789abcdef' >"$work/proved"
mutants prove && tried "$all" ""
result $? "all mutants are tried if none is recorded"
[ "$(wc -l <"$work/proved")" = "$all" ] && ! grep -q gone "$work/proved"
result $? "those that were caught are recorded, others are forgotten"
mutants changed && tried 1 $((all - 1))
result $? "only the first is tried if all are recorded"
sed -i 's/^no-recheck .*/no-recheck 0123456789abcdef/' "$work/proved"
mutants changed && tried 2 $((all - 2)) && grep -q '^ok .* mutant no-recheck ' "$work/log"
result $? "one is tried whose code has changed"
mutants all && tried "$all" ""
result $? "all are tried in make check-long"
printf '#!/bin/sh\necho ok 1\n' >"$work/program"
sed -i '/^no-recheck /d' "$work/proved"
! mutants prove && ! grep -q '^no-recheck ' "$work/proved"
result $? "one that survives is not recorded"

echo "1..$n"
[ $failed = 1 ] || record_proof
exit $failed
