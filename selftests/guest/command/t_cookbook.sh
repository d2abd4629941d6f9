#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2317	# functions are called by their names
# Run each recipe of ktape-cookbook(7): its commands, taken from the page, must
# succeed, print lines like those of the page, and do what the recipe says.
#
# The page has comments for this test: "recipe NAME" where a recipe begins, and "here NAME"
# where something happens that the page only tells, such as a crash. For the recipe NAME:
# prepare_NAME makes what it needs, check_NAME checks what it leaves and sets $what to what
# that is, and needs_NAME prints why this machine cannot run it. here_NAME does what a
# comment says. All run in the folder of the recipe.

# shellcheck source=selftests/guest/support/result.sh
. "${0%/*}/result.sh"

dir=/tmp/test
page=${0%/*}/ktape-cookbook.7
self=$0

# ---- the page ---------------------------------------------------------------------

recipes()
{
	sed -n 's/^\.\\" recipe //p' "$page"
}

# script NAME: print the commands of a recipe. Each that fails is noted in the
# file failed.
script()
{
	literal "$1" | awk '
		function finish() {
			if (command == "")
				return
			print "{\n" command "\n} || echo \"status $?: \"" \
				"command " ++nr " >>failed"
			command = ""
		}
		/^[a-z]*\$ / {
			finish()
			sub(/^[a-z]*\$ /, "")
			command = $0
			next
		}
		/^> / { command = command "\n" substr($0, 3); next }
		/^here / { finish(); command = "here_" $2 }
		END { finish() }'
}

# literal NAME: print the lines of its literal blocks as man(1) shows them, and
# the comments "here NAME"
literal()
{
	awk -v name="$1" '
		/^\.\\" recipe / { inside = $3 == name }
		!inside { next }
		/^\.\\" here / { print "here " $3 }
		/^\.Bd -literal/ { block = 1; next }
		/^\.Ed/ { block = 0; next }
		block && !/^\.\\"/ {
			sub(/^\\&/, "")
			gsub(/\\e/, "\\")
			print
		}' "$page"
}

# shown NAME: print the lines of output that the page shows
shown()
{
	literal "$1" | grep -vE '^([a-z]*\$|>|here) '
}

# is_like SHOWN OUTPUT: each line of SHOWN must be in OUTPUT, in this order.
# Numbers, times, sizes and the number of blanks may differ, "..." is any text.
is_like()
{
	awk '
		function pattern(s) {
			gsub(/\.\.\./, "\001", s)
			gsub(/0x[0-9a-f]+/, "\002", s)
			gsub(/[0-9.]+ (ns|us|ms|s|B|kB|MB|GB)[?~]?/, "\003", s)
			gsub(/[][\\.^$*+?(){}|]/, "\\\\&", s)
			gsub(/[0-9]+/, "[0-9]+", s)
			gsub(/ +/, " +", s)
			gsub(/\001/, ".*", s)
			gsub(/\002/, "0x[0-9a-f]+", s)
			gsub(/\003/, "[0-9.]+ (ns|us|ms|s|B|kB|MB|GB)[?~]?", s)
			return "^" s " *$"
		}
		NR == FNR { want[++nr] = $0; next }
		at < nr && $0 ~ pattern(want[at + 1]) { at++ }
		END {
			if (at == nr)
				exit 0
			print "no line like: " want[at + 1]
			exit 1
		}' "$1" "$2"
}

# ---- helpers of recipes -----------------------------------------------------------

# make_command NAME: make a command of this name, from standard input
make_command()
{
	{
		echo '#!/bin/sh'
		cat
	} >"bin/$1"
	chmod +x "bin/$1"
}

# when_recording COMMAND...: run it when a session other than 0 is running. A recording of N
# seconds (-d Ns) ends no sooner than the command, however slow the machine is: the recipe
# finds a ktape that goes on until then.
when_recording()
{
	make_command ktape <<-'EOT'
	PATH=${PATH#*:}
	[ "$1" = record ] || exec ktape "$@"
	seconds=
	for word; do
		shift
		if [ "$seconds" = next ]; then
			seconds=${word%s}
		elif [ "$word" = -d ]; then
			seconds=next
		else
			set -- "$@" "$word"
		fi
	done
	ktape "$@" &
	recorder=$!
	sleep "$seconds"
	# A recorder that has failed is not waited for.
	until [ -e happened ] || ! kill -0 $recorder 2>/dev/null; do
		usleep 50000
	done
	kill -TERM $recorder 2>/dev/null
	wait $recorder
	EOT
	{
		until ktape status | grep -q '^[1-7] .* running '; do
			usleep 50000
		done
		"$@"
		: >happened
	} >>later.out 2>&1 &
	echo $! >>pids
}

# run_always COMMAND...: run it again and again while the recipe's commands run
run_always()
{
	while :; do
		"$@"
		usleep 50000
	done >>later.out 2>&1 &
	echo $! >>pids
}

# events TRACE [EVENTS]: count the events of a trace
events()
{
	ktape dump ${2:+-e "$2"} "$1" 2>>dump.err | wc -l
}

# is_whole TRACE: nothing may be wrong in it
is_whole()
{
	ktape verify -q "$1" >>dump.err 2>&1
}

# make_make: make the command make, which starts some processes, as a build does
make_make()
{
	make_command make <<-'EOT'
	for i in 1 2 3 4 5 6 7 8; do
		cat /proc/self/stat /dev/null >/dev/null &
		true | cat
	done
	wait
	EOT
}

# make_ssh: make the command ssh; the other machine is this one
make_ssh()
{
	make_command ssh <<-'EOT'
	shift
	exec sh -c "$*"
	EOT
}

here_crash()
{
	echo "(the machine crashes, is reset, and boots)"
	rmmod ktape
}

# What a boot does with the initramfs that update-initramfs makes: it loads the
# modules of its list with their options, before the first programs.
here_boot()
{
	echo "(the machine boots)"
	rmmod ktape
	while read -r module; do
		# shellcheck disable=SC2046	# words
		insmod "$module.ko" $(sed -n "s/^options $module //p" \
			/etc/modprobe.d/*.conf)
	done </etc/initramfs-tools/modules
	true | cat
}

# ---- recipes ----------------------------------------------------------------------

needs_irq()
{
	[ -e /tests/kt_irq.ko ] || echo "no interrupt without a device before 5.18"
}

prepare_irq()
{
	insmod /tests/kt_irq.ko irq=40
	echo eth0 >/sys/module/kt_irq/parameters/add
	run_always taskset 1 sh -c 'echo 5 >/sys/module/kt_irq/parameters/fire'
}

check_irq()
{
	what="the handler's entries are there and the trace is whole"
	echo 1 >/sys/module/kt_irq/parameters/free
	rmmod kt_irq
	[ "$(events t irq_handler_entry)" -ge 5 ] && is_whole t
}

# Two processes that want the same CPU.
prepare_wait()
{
	make_command worker <<-'EOT'
	while :; do i=$((i + 1)); done
	EOT
	for _ in 1 2; do
		taskset 2 bin/worker & echo $! >>pids
	done
}

check_wait()
{
	what="one worker waited because the other one ran"
	ktape stats -a t | awk '/ran instead/ { told = 1 }
		told && $2 == "worker" && $NF == "worker" { n++ }
		END { exit !n }'
}

prepare_slow()
{
	# Not a shell, which has its name twice while it starts a command.
	cp "${0%/*}/act" bin/backend
	bin/backend serve 100000 20 & echo $! >>pids
}

check_slow()
{
	what="no call took less than the gate"
	[ "$(events t sys_enter)" = 0 ] && ktape dump -e sys_span t |
		awk -F duration_ns= '{ n++; low += $2 < 1000000 }
			END { exit n < 3 || low }'
}

needs_callers()
{
	ktape list | grep -q ' probe_0 .*a free slot' || echo "no kprobes"
}

prepare_callers()
{
	touch file
}

check_callers()
{
	what="rm is the caller, and the probe is gone"
	[ ! -e file ] && [ -z "$(ktape probe list)" ] &&
		ktape dump -e probe_0 t | grep -q ' rm-[0-9]* probe_0: '
}

prepare_killed()
{
	make_command victim <<-'EOT'
	while :; do usleep 100000; done
	EOT
	bin/victim & echo $! >victim
	make_command killer <<-'EOT'
	kill -KILL $(cat victim)
	EOT
	when_recording bin/killer
}

check_killed()
{
	what="the sender is the one that did it"
	ktape dump -e signal_generate --signal KILL t |
		grep -q " killer-[0-9]* signal_generate: .*$(cat victim)"
}

prepare_disk()
{
	mkdir -p /var/tmp
	umount /var/tmp 2>/dev/null
	mount --bind /scratch /var/tmp
}

check_disk()
{
	what="as many writes as dd made, and one fsync"
	umount /var/tmp
	ktape stats t | awk '$1 == "syscall" && $2 == "write" { w = $3 }
		$1 == "syscall" && $2 == "fsync" { f = $3 }
		END { exit w < 16 || f != 1 }'
}

# A manager of services as far as the recipe needs it.
prepare_service()
{
	group=/sys/fs/cgroup/system.slice
	mkdir -p $group
	make_command web <<-'EOT'
	cat /etc/passwd >/dev/null
	: >up
	while :; do usleep 100000; done
	EOT
	make_command systemctl <<-EOT
	case \$1 in
	restart)
		rmdir $group/web.service 2>/dev/null
		mkdir $group/web.service
		rm -f up
		sh -c 'echo \$\$ >$group/web.service/cgroup.procs; exec web' &
		echo \$! >main
		until [ -e up ]; do sleep 0.1; done
		;;
	show) cat main ;;
	esac
	EOT
}

check_service()
{
	what="only the service is in it"
	pid=$(cat main)
	kill -KILL "$pid"
	until rmdir /sys/fs/cgroup/system.slice/web.service 2>/dev/null; do
		sleep 0.1
	done
	ktape dump -e syscall t | awk '{ print $4 }' | sort -u >threads
	grep -q "web-$pid" threads && ! grep -q '^ktape-' threads
}

prepare_phases()
{
	mkdir -p /lib/modules
	cp ktape.ko /lib/modules
}

check_phases()
{
	what="two phases that end, and a file for Perfetto"
	[ "$(events t mark_begin)" = 2 ] && [ "$(events t mark_end)" = 2 ] &&
		[ -s t.pftrace ] && grep -q ktape.ko list
}

prepare_missing()
{
	# The recorder stands still until it has lost events.
	make_command make <<-'EOT'
	trap 'kill -CONT $PPID' EXIT
	kill -STOP $PPID
	taskset 1 dd if=/dev/zero of=/dev/null bs=1 count=20000
	taskset 2 dd if=/dev/zero of=/dev/null bs=1 count=20000
	EOT
}

check_missing()
{
	what="events were lost, and verify knows how many"
	lost=$(sed -n 's/.* events, .*, \([0-9]*\) lost, .*/\1/p' out)
	[ "$lost" -gt 0 ] && is_whole t &&
		[ "$(ktape verify t | awk '$1 ~ /^[0-9]+$/ { n += $6 }
			END { print n }')" = "$lost" ]
}

check_absent()
{
	what="before the session there is no proof"
	ktape verify -q --absent irq_handler_entry:irq=9 --from 0 --to 1 t
	[ $? = 3 ]
}

prepare_rare()
{
	make_make
	# Overwrites the ring of CPU 2 again and again.
	run_always taskset 4 dd if=/dev/zero of=/dev/null bs=1 count=20000
}

check_rare()
{
	what="the flood overwrote its events, but not the exception"
	mark=$(ktape dump -j -e exception flood | sed 's/^{"ts":"\([0-9]*\)".*/\1/')
	older=$(ktape dump -j -C 2 -e syscall flood | sed 's/^{"ts":"\([0-9]*\)".*/\1/' |
		awk -v mark="$mark" '$1 < mark { n++ } END { print n + 0 }')
	emitted=$(ktape status flood | awk '$1 == "event" && $2 == 2 { print $5 }')
	echo "CPU 2: $older calls from before $mark, $emitted events in all"
	[ "$older" = 0 ] && [ "$emitted" -gt 20000 ] &&
		[ "$(events rare process_exec)" -gt 0 ]
}

prepare_flight()
{
	# shellcheck disable=SC2016	# for the inner shell
	run_always sh -c 'dd if=/dev/zero of=/scratch/f bs=4k count=8 conv=fsync; sleep 0.2'
}

check_flight()
{
	what="the fsync that was slow is in the snapshot"
	ktape dump -e sys_enter,sys_exit slow | grep -q 'fsync' && is_whole slow
}

prepare_silent()
{
	make_command program <<-'EOT'
	sleep 0.5
	for i in 1 2 3 4 5 6; do
		ktape mark instant 9 "alive $i"
		usleep 100000
	done
	EOT
	bin/program >/dev/null 2>&1 & echo $! >>pids
}

check_silent()
{
	# On a slow machine half a second may pass before a later sign.
	what="the command ran once, half a second after a sign of life"
	[ "$(wc -l <alarms)" = 1 ] &&
		ktape dump -e mark,trigger silent | awk -F '[][]' '
			/ trigger: / { silence = $2 - sign; nr++ }
			/=alive [1-6]$/ { sign = $2 }
			END {
				print "# " silence " s after the last sign, " nr " times"
				exit !(nr == 1 && sign && silence >= 0.5)
			}'
}

prepare_days()
{
	mkdir -p /var/log /run
	rm -rf /var/log/ktape
	make_make
}

check_days()
{
	what="one compressed piece, and the recorder has ended"
	set -- /var/log/ktape/*
	[ $# = 1 ] && [ -e "$1/cpu0.zst" ] && ! pidof ktape
}

needs_crash()
{
	grep -q 'memmap=4M[$]0x18000000' /proc/cmdline ||
		echo "no memory is reserved by memmap="
}

prepare_crash()
{
	rmmod ktape
}

check_crash()
{
	what="the recovered trace ends before the second load"
	rmmod ktape
	insmod ktape.ko
	[ "$(events crash)" -gt 10 ] && is_whole crash
}

prepare_initramfs()
{
	mkdir -p /etc/initramfs-tools /etc/modprobe.d
	rm -f /etc/initramfs-tools/modules /etc/modprobe.d/*
	make_command update-initramfs </dev/null
}

check_initramfs()
{
	what="the module has the options of modprobe.d"
	ktape status | grep -q '^event  *0  *4.2 MB' &&
		[ "$(events boot process_exec)" -gt 0 ]
}

here_unload()
{
	rmmod ktape
}

prepare_board()
{
	make_ssh
	# A second is long only once cat reads: on a kernel with sanitizers it begins late.
	make_command sleep <<-'EOT'
		until [ -s /tmp/trace ]; do busybox sleep 0.1; done
		busybox sleep "$1"
	EOT
	# Enough for two lines even if little runs in that second.
	for _ in 1 2 3; do
		while :; do
			/bin/true
		done >>later.out 2>&1 &
		echo $! >>pids
	done
}

check_board()
{
	what="the file of cat and the directory have the same events"
	[ "$(events trace sched_switch)" -gt 0 ] &&
		[ "$(events trace sched_switch)" = "$(events t sched_switch)" ]
}

prepare_serial()
{
	line -s 11520 /dev/ttyGS0 /dev/ttyUSB0 >line.out 2>&1 &
	echo $! >>pids
	while [ ! -e /dev/ttyUSB0 ]; do usleep 100000; done
}

check_serial()
{
	what="what arrived is a trace"
	ktape profile default && ktape start
	[ "$(events t text)" = 1 ] && is_whole t
}

prepare_two()
{
	make_ssh
	run_always sh -c /bin/true
}

check_two()
{
	what="both traces are whole"
	ktape record -q --split left -o l && ktape record -q --split right -o r &&
		is_whole l && is_whole r
}

prepare_ci()
{
	make_make
}

# of_queue TRACE MEMBER: print a member of the statistics run_queue, the waits for a CPU
of_queue()
{
	ktape stats -j "$1" | sed -n \
		's/.*"kind":"run_queue","key":null,.*"'"$2"'":\([0-9]*\),.*/\1/p'
}

# status N: print the Nth status
status()
{
	sed -n 's/^status //p' out | sed -n "$1p"
}

# Whether the condition of the first command, run_queue.p99 > 5ms, holds depends on the
# machine. For the comparison a make of a few processes is too short: its status is 4.
check_ci()
{
	what="each status is that of the comparison"
	one=$(of_queue before count) two=$(of_queue after count) p99=$(of_queue after p99)
	echo "run_queue: $one values before, $two after, p99 $p99 ns"
	[ "$p99" -gt 0 ] && [ "$(status 1)" = $((3 * (p99 > 5000000))) ] &&
		[ "$(status 2)" = 4 ] &&
		grep -q "A has $one values, B has $two, and p99.9 needs 10000 " out
}

# ---- run --------------------------------------------------------------------------

# run_recipe NAME: run its commands, compare the output, check what they leave
run_recipe()
{
	name=$1
	why=
	if type "needs_$name" >/dev/null 2>&1; then
		why=$("needs_$name")
	fi
	if [ -n "$why" ]; then
		skip "$name" "$why"
		return
	fi
	mkdir -p "$dir/$name/bin"
	cd "$dir/$name" || exit
	cp "${KTAPE_MODULE:-/ktape.ko}" ktape.ko
	: >pids
	! type "prepare_$name" >/dev/null 2>&1 || "prepare_$name" >prepared 2>&1
	script "$name" >commands
	(
		PATH=$PWD/bin:$PATH
		# shellcheck disable=SC1091	# made above
		. ./commands
	) >out 2>&1 </dev/null
	while read -r pid; do
		kill "$pid"
	done <pids 2>/dev/null
	wait 2>/dev/null
	[ ! -d /out ] || { mkdir -p /out/cookbook && cp out "/out/cookbook/$name"; }
	if [ -s commands ] && [ ! -e failed ]; then
		result 0 "$name: its commands succeed"
	else
		cat out >>failed
		result 1 "$name: its commands succeed" failed
	fi
	shown "$name" >sample
	cp out log
	[ -s sample ] && is_like sample out >>log
	result $? "$name: it prints what the page shows" log
	what=
	"check_$name" >>log 2>&1
	result $? "$name: $what" log
	for session in $(ktape status | sed -n '/^id  name/,$s/^[1-9][0-9]* *\([a-z]*\) .*/\1/p'); do
		ktape destroy "$session"
	done
	cd "$dir" || exit
}

# The page and the functions here must have the same recipes.
recipes | sort >names
sed -n 's/^check_\([a-z]*\)()$/\1/p' "$self" | sort >checked
diff names checked >log
result $? "each recipe of the page has its check" log

# A line that drifted must be found.
printf '%s\n' '[1.5] cpu 0 a-1 mark: id=7 took 1.20 ms' >was
printf '%s\n' '[22.75] cpu 3 a-99  mark: id=7 took 3 us' >same
printf '%s\n' '[22.75] cpu 3 a-99 mark: ident=7 took 3 us' >other
is_like was same >log && ! is_like was other >log
result $? "a line that differs in more than its numbers is detected"

for name in ${COOKBOOK:-$(recipes)}; do
	run_recipe "$name"
done
# shellcheck disable=SC2031	# only the commands of recipes run in a subshell
echo "1..$n"
