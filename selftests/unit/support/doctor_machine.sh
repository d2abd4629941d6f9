# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154	# tool.sh and tests share variables
# A machine made of files in the folder m, for tests of ktape doctor, and what looks for a
# finding in its report. Each test changes one thing and reads the finding, as text and as
# JSON. tool.sh, and this: . doctor_machine.sh FOLDER
# shellcheck source=selftests/unit/support/tool.sh
. "${BASH_SOURCE[0]%/*}/tool.sh" "$1" || exit 2

R=6.1.0-1-test
version=$("$out/command/ktape" version | head -n 1 | sed 's/^ktape \([^,]*\),.*/\1/')
efivar=sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
make='make clean modules   # in the source of ktape'

: >log
mkdir reports
reports=0

# put FILE TEXT...: write a file of the machine, a line for each text
put()
{
	[ -d "m/${1%/*}" ] || mkdir -p "m/${1%/*}"
	printf '%s\n' "${@:2}" >"m/$1"
}

# module FILE VERMAGIC: a file as the kernel's linker makes it
module()
{
	mkdir -p "m/${1%/*}"
	printf '%s\n' '.section .modinfo,"a"' '.string "license=GPL"' \
		".string \"vermagic=$2 \"" ".string \"version=$version\"" |
		gcc -c -x assembler -o "m/$1" -
}

sign()
{
	printf 'signature~Module signature appended~\n' >>"m/$1"
}

# user UID CAPABILITIES [GROUPS]
user()
{
	put proc/self/status "Uid:	$1	$1	$1	$1" \
		"Gid:	$1	$1	$1	$1" "Groups:	${3:-$1} " \
		"CapEff:	$2"
}

# machine: a machine where only "modprobe ktape" is left to do
machine()
{
	rm -rf m
	if [ -d fresh ]; then
		cp -a fresh m
		return
	fi
	mkdir -p m/dev "m/lib/modules/$R/build" m/proc/self/ns m/sys/kernel
	user 0 000001ffffffffff
	put proc/sys/kernel/osrelease "$R"
	put proc/sys/kernel/arch "$(uname -m)"
	put proc/modules 'ext4 1 1 - Live 0x0'
	put proc/meminfo 'MemTotal: 1000000 kB' 'MemAvailable: 800000 kB'
	put proc/stat 'btime 1000000000'
	put sys/devices/system/cpu/online 0-3
	put sys/devices/system/clocksource/clocksource0/current_clocksource tsc
	put sys/kernel/security/lockdown '[none] integrity confidentiality'
	put sys/kernel/security/lsm lockdown
	put etc/os-release 'ID=debian'
	put "boot/config-$R" CONFIG_{MODULES,TRACEPOINTS,KPROBES,STACKTRACE}=y \
		CONFIG_{HAVE_SYSCALL_TRACEPOINTS,BLOCK,NET,CGROUPS}=y CONFIG_CRC32=m \
		CONFIG_{DETECT_HUNG_TASK,MODULE_UNLOAD}=y
	put "lib/modules/$R/build/Makefile"
	put "lib/modules/$R/modules.dep" 'kernel/fs/ext4.ko: kernel/lib/crc.ko' \
		'extra/ktape.ko:'
	module "lib/modules/$R/extra/ktape.ko" "$R SMP mod_unload modversions"
	ln -s 'user:[4026531837]' m/proc/self/ns/user
	ln -s 'pid:[4026531836]' m/proc/self/ns/pid
	cp -a m fresh
}

load()
{
	put proc/modules 'ktape 1 0 - Live 0x0'
	put sys/module/ktape/version "$version"
}

# lock MODE
lock()
{
	put sys/kernel/security/lockdown "none [$1]"
}

secure_boot()
{
	mkdir -p "m/${efivar%/*}"
	printf '\6\0\0\0\1' >"m/$efivar"
	lock integrity
}

# without_module: as on a machine that has never seen ktape
without_module()
{
	machine
	rm -r "m/lib/modules/$R/build" "m/lib/modules/$R/extra"
	put "lib/modules/$R/modules.dep" 'kernel/fs/ext4.ko:'
}

# kmsg MICROSECONDS TEXT: the kernel log
kmsg()
{
	put dev/kmsg '6,1,100,-;Linux version' "3,2,$1,-;$2"
}

# doctor STATUS [OPTION...]
doctor()
{
	run "$1" doctor --root m "${@:2}"
}

# has STATUS SEVERITY ID WHAT NEXT [OPTION...]: a finding of ID has the severity,
# WHAT in its text, and exactly the command NEXT, as text and as JSON
has()
{
	if ! doctor "$1" "${@:6}" || ! awk -v severity="$2" -v id="$3" \
		-v what="$4" -v next_is="$5" '
		/^[a-z]/ { check(); mine = 0; command = "" }
		$1 == severity && $2 == id && index($0, what) { mine = 1 }
		/^ *next: / { command = $0; sub(/^ *next: /, "", command) }
		function check() { found += mine && command == next_is }
		END { check(); exit !found }' text; then
		cat text >>log
		return 1
	fi
	# Python reads all reports at once, in test_reports.
	reports=$((reports + 1))
	doctor "$1" --json "${@:6}" && cp text "reports/$reports.json" &&
		printf '%s\n' "${@:2:4}" >"reports/$reports.want"
}

# The reports as JSON have the findings that has() has looked for in the texts.
same_findings()
{
	python3 - "$reports" <<-'EOT' >log 2>&1
		import json, sys
		for number in range(1, int(sys.argv[1]) + 1):
		    report = json.load(open(f"reports/{number}.json"))
		    severity, name, what, step = open(f"reports/{number}.want").read().split("\n")[:4]
		    found = [f for f in report["findings"] if f["id"] == name and
		             f["severity"] == severity and what in f["what"] and
		             f["next"] == step]
		    assert found, (severity, name, what, step, report)
		    assert severity == "ok" or all(f["why"] for f in found), report
		    problems = [f for f in report["findings"] if f["severity"] == "problem"]
		    assert report["problems"] == len(problems), report
		    assert report["next"] == (problems[0]["next"] if problems else ""), report
	EOT
}

# test_reports LEAST: as JSON, at least so many reports have what has() has found in the texts
test_reports()
{
	same_findings && [ "$reports" -ge "$1" ]
	result $? "as JSON: the findings of $reports reports"
}

# ends NEXT: the last line is this command
ends()
{
	[ "$(tail -n 1 text)" = "next: $1" ] || { cat text >>log; return 1; }
}

skip()
{
	n=$((n + 1))
	echo "ok $n - $2 # SKIP $1"
}

# finds NAME SEVERITY ID WHAT NEXT [OPTION...]: one test, on a machine whose
# module is not loaded, so that the status is 1
finds()
{
	has 1 "${@:2}"
	result $? "$1"
}
