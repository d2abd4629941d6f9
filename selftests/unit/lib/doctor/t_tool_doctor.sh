#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_doctor.sh FOLDER: what ktape doctor finds on a machine: its kernel, configuration,
# headers, rights, memory and other tracers; and what a command prints whose device cannot be
# opened. Findings about the module are in t_tool_doctor_module.sh.
# shellcheck source=selftests/unit/support/doctor_machine.sh
. "${0%/*}/../../support/doctor_machine.sh" "$1" || exit 2

test_good()
{
	machine
	doctor 1 && ends 'modprobe ktape' &&
		[ "$(grep -c '^problem' text)" = 1 ] && ! grep '^warning' text
	result $? "a machine with all but the loaded module"
	has 1 ok module "/lib/modules/$R/extra/ktape.ko is for this kernel" ''
	result $? "the module is found by modules.dep"
	for kind in gz:gzip xz:xz zst:zstd; do
		machine
		"${kind#*:}" -q "m/lib/modules/$R/extra/ktape.ko"
		rm -f "m/lib/modules/$R/extra/ktape.ko"
		put "lib/modules/$R/modules.dep" "extra/ktape.ko.${kind%:*}:"
		finds "a module packed by ${kind#*:} is read" ok module \
			'for this kernel' ''
	done
}

test_kernel()
{
	machine
	put proc/sys/kernel/osrelease 5.4.0-1-test
	finds 'a kernel that is too old' problem kernel 'older than 5.10' ''
	machine
	rm m/proc/sys/kernel/osrelease
	finds 'no /proc' warning kernel 'version cannot be read' \
		'mount -t proc proc /proc'
	machine
	put sys/kernel/cpu_byteorder big
	finds 'a big-endian machine' problem byte-order 'big-endian' ''
	machine
	ln -sf 'user:[4026532837]' m/proc/self/ns/user
	finds 'a user namespace' warning container 'user namespace' \
		'sudo ktape doctor   # on the host'
	machine
	ln -sf 'pid:[4026532836]' m/proc/self/ns/pid
	finds 'a PID namespace' note container 'PID namespace' \
		'sudo ktape doctor   # on the host'
}

test_config()
{
	local option severity

	while read -r option severity; do
		machine
		sed -i "s/^CONFIG_$option=y/# CONFIG_$option is not set/" \
			"m/boot/config-$R"
		finds "no CONFIG_$option" "$severity" config \
			"without CONFIG_$option" ''
	done <<-EOT
		MODULES problem
		TRACEPOINTS warning
		HAVE_SYSCALL_TRACEPOINTS warning
		KPROBES warning
		STACKTRACE warning
		BLOCK note
		NET note
		CGROUPS note
		DETECT_HUNG_TASK note
		MODULE_UNLOAD note
	EOT
	machine
	put "boot/config-$R" CONFIG_MODULES=n
	doctor 1 && ! grep -e '^problem *loaded' -e '^problem *module' text
	result $? "without modules nothing is said about loading one"
	for option in CPU_BIG_ENDIAN:problem TRIM_UNUSED_KSYMS:warning; do
		machine
		echo "CONFIG_${option%:*}=y" >>"m/boot/config-$R"
		finds "CONFIG_${option%:*}" "${option#*:}" config \
			"with CONFIG_${option%:*}" ''
	done
	machine
	rm "m/boot/config-$R"
	finds 'no configuration' note config 'options of the kernel are unknown' ''
	machine
	sed 's/^CONFIG_NET=y//' "m/boot/config-$R" | gzip >m/proc/config.gz
	finds '/proc/config.gz is read' note config 'without CONFIG_NET' ''
}

test_headers()
{
	local release os next

	without_module
	doctor 1 && ends "apt-get install linux-headers-$R"
	result $? "a machine with nothing: headers come first"
	while IFS='|' read -r release os next; do
		without_module
		mv "m/lib/modules/$R" "m/lib/modules/$release"
		put proc/sys/kernel/osrelease "$release"
		printf '%b' "$os" >m/etc/os-release
		finds "headers of $release: $next" problem headers \
			"headers of kernel $release are missing" "$next"
	done <<-'EOT'
		6.1.0-9-amd64|PRETTY_NAME="x"\nID=debian\n|apt-get install linux-headers-6.1.0-9-amd64
		6.8.0-40-generic|ID=ubuntu\nID_LIKE=debian\n|apt-get install linux-headers-6.8.0-40-generic
		6.6.31-v8|ID=raspbian\nID_LIKE=debian\n|apt-get install linux-headers-6.6.31-v8
		6.5.6-300.fc39.x86_64|ID=fedora\n|dnf install kernel-devel-6.5.6-300.fc39.x86_64
		5.14.0-4.el9.x86_64|ID="rocky"\nID_LIKE="rhel centos fedora"\n|dnf install kernel-devel-5.14.0-4.el9.x86_64
		6.9.1-arch1-1|ID=arch\n|pacman -S linux-headers
		6.4.0-150600.21-default|ID="opensuse-leap"\nID_LIKE="suse opensuse"\n|zypper install kernel-default-devel
		6.6.30-0-virt|ID=alpine\n|apk add linux-virt-dev
		6.1.55-custom|ID=buildroot\n|make modules KDIR=FOLDER   # in the source of ktape; FOLDER is where kernel 6.1.55-custom was built
	EOT
	without_module
	put "lib/modules/$R/pkgbase" linux-lts
	put etc/os-release 'ID=arch'
	finds "headers of Arch's other kernels" problem headers missing \
		'pacman -S linux-lts-headers'
	without_module
	mv "m/lib/modules/$R" m/lib/modules/6.1.0-2-test
	finds 'the kernel was upgraded' problem headers \
		'not the running one' reboot
	machine
	rm -r "m/lib/modules/$R/build"
	finds 'headers are not needed for a module that is there' note headers \
		missing "apt-get install linux-headers-$R"
}

test_rights()
{
	local gid

	machine
	lock confidentiality
	finds 'lockdown=confidentiality' problem lockdown confidentiality reboot
	machine
	rm -r m/sys/kernel/security
	finds 'unknown lockdown' note lockdown unknown \
		'mount -t securityfs securityfs /sys/kernel/security'
	machine
	user 1000 0000000000000000
	finds 'no capability, before the module is loaded' note rights \
		'neither CAP_PERFMON nor CAP_SYS_ADMIN' 'sudo ktape doctor'
	load
	put dev/ktape
	chmod 666 m/dev/ktape
	finds 'no capability' problem rights \
		'neither CAP_PERFMON nor CAP_SYS_ADMIN' 'sudo ktape doctor'
	user 1000 0000004000000000
	doctor 1 && ! grep '^[a-z]* *rights' text
	result $? "CAP_PERFMON is enough"
	user 1000 0000000000200000
	doctor 1 && ! grep '^[a-z]* *rights' text
	result $? "CAP_SYS_ADMIN is enough"

	# The file belongs to whoever runs the test.
	gid=$(stat -c %g m/dev/ktape)
	chmod 640 m/dev/ktape
	user 4321 0 "4 $gid"
	has 1 problem rights 'neither' 'sudo ktape doctor'
	result $? "a member of the device's group"
	user 4321 0 4
	put etc/group 'other:x:77:' "tracing:x:$gid:" 'x:y'
	put sys/module/ktape/parameters/dev_mode 416
	if [ "$gid" = 0 ]; then
		finds 'not a member, of the group root' problem rights \
			'its mode is 0640' 'sudo ktape doctor'
		chgrp 777 m/dev/ktape
		put etc/group 'other:x:77:' "tracing:x:777:" 'x:y'
	fi
	# shellcheck disable=SC2016	# for the user's shell
	finds "not a member of the device's group" problem rights \
		'its mode is 0640' 'sudo usermod -aG tracing "$USER"'
	put sys/module/ktape/parameters/dev_mode 384
	finds 'a group, but not by dev_mode=' problem rights \
		'its mode is 0640' 'sudo ktape doctor'
	user 4321 0 "4 $gid 777"
	put sys/module/ktape/parameters/dev_mode 416
	doctor 1 && ! grep '^[a-z]* *rights' text
	result $? "a member of the device's group, with dev_mode="
	user 4321 0 4
	chmod 600 m/dev/ktape
	finds 'a device for its owner' problem rights 'its mode is 0600' \
		'sudo ktape doctor'
}

test_machine()
{
	local clock

	for clock in hpet acpi_pm jiffies; do
		machine
		put sys/devices/system/clocksource/clocksource0/current_clocksource $clock
		finds "clock source $clock" warning clock \
			"does not trust the CPU's counter (clock source: $clock)" \
			'dmesg | grep -i -e tsc -e clocksource'
	done
	machine
	put proc/meminfo 'MemTotal: 32000 kB' 'MemAvailable: 30000 kB'
	finds 'less memory than two times the rings' problem memory \
		'half of the memory, the limit of the module, allows 15 MiB' \
		'ktape record -b 2048K -o trace'
	put proc/meminfo 'MemTotal: 1000000 kB' 'MemAvailable: 800000 kB' \
		'LowTotal: 32000 kB'
	finds 'less low memory than two times the rings' problem memory \
		'half of the low memory, the limit of the module, allows 15 MiB' \
		'ktape record -b 2048K -o trace'
	put proc/meminfo 'MemTotal: 1000000 kB' 'MemAvailable: 9000 kB'
	finds 'less free memory than the rings' problem memory \
		'the free memory allows 8 MiB for rings, 18 MiB are needed (4096 KiB on each of 4 CPUs)' \
		'ktape record -b 1024K -o trace'
	has 1 ok memory 'rings of 512 KiB on each of 4 CPUs' '' -b 512K
	result $? "--buffer"
	put proc/meminfo
	finds 'unknown memory' note memory unknown ''
	machine
	put proc/self/cgroup 0::/a/b
	put sys/fs/cgroup/a/memory.max 10000000
	put sys/fs/cgroup/a/memory.current 5000000
	put sys/fs/cgroup/a/b/memory.max max
	finds 'the limit of a control group above' problem memory \
		'the control group of this process allows 4 MiB' \
		'ktape record -b 1024K -o trace'
	machine
	put proc/self/cgroup 5:cpu,memory:/no 4:memory:/x 0::/
	put sys/fs/cgroup/memory/x/memory.limit_in_bytes 6000000
	finds 'the limit of a control group of version 1' problem memory \
		'the control group of this process allows 5 MiB' \
		'ktape record -b 1024K -o trace'
	machine
	put proc/sys/kernel/osrelease 5.10.0-1
	user 1000 0
	put proc/self/limits \
		'Max locked memory         8192                 8192                 bytes'
	finds 'little locked memory on an old kernel' note memlock \
		'only 8 KiB' 'ulimit -l 64'
	put proc/sys/kernel/osrelease "$R"
	doctor 1 && ! grep memlock text
	result $? "locked memory does not matter on a new kernel"
	machine
	put proc/sys/kernel/io_uring_disabled 2
	finds 'io_uring is disabled' note io_uring 'it is disabled' \
		'sysctl kernel.io_uring_disabled=0'
	put proc/sys/kernel/io_uring_disabled 1
	has 1 ok io_uring works ''
	result $? "io_uring_disabled=1 does not concern root"
	user 1000 0
	finds 'io_uring is disabled for users' note io_uring 'it is disabled' \
		'sudo sysctl kernel.io_uring_disabled=0'
	finds 'no folder for traces' warning output \
		'no trace can be written to nowhere: No such file or directory' \
		'cd /var/tmp' -o nowhere
	mkdir traces
	doctor 1 -o traces && grep '^[a-z]* *output' text >>log && [ -z "$(ls -A traces)" ]
	result $? "nothing is left in the folder for traces"
}

test_tracers()
{
	machine
	put sys/kernel/debug/kprobes/enabled 0
	finds 'kprobes are off' warning kprobes 'switched off' \
		'echo 1 | tee /sys/kernel/debug/kprobes/enabled'
	machine
	put proc/modules 'lttng_tracer 1 0 - Live 0x0' 'stap_1234 1 0 - Live 0x0'
	finds "LTTng's module" note tracers 'module of LTTng' lsmod
	finds "SystemTap's module" note tracers 'module of SystemTap' lsmod
	machine
	put sys/kernel/tracing/set_event sched:sched_switch irq:irq_handler_entry
	put sys/kernel/tracing/current_tracer nop
	finds 'events of ftrace' note tracers 'ftrace records 2 events' \
		'echo | tee /sys/kernel/tracing/set_event'
	machine
	put sys/kernel/debug/tracing/current_tracer function_graph
	finds 'a tracer of ftrace' note tracers 'tracer "function_graph"' \
		'echo nop | tee /sys/kernel/tracing/current_tracer'
	machine
	mkdir -p m/proc/12/fd m/proc/345/fd
	put proc/345/comm bpftrace
	ln -s /dev/null m/proc/12/fd/0
	ln -s /dev/null m/proc/345/fd/0
	ln -s anon_inode:bpf-prog m/proc/345/fd/7
	finds 'a process with BPF' note tracers 'process 345 (bpftrace)' \
		'ps -p 345 -f'
	[ "$(grep -c '"tracers"' text)" = 1 ]
	result $? "other processes are not named"
	machine
	has 1 ok tracers 'no other tracer is visible' ''
	result $? "no other tracer"
}

# What a command prints that cannot open the device.
test_open()
{
	run 1 status --device /nowhere &&
		says '/nowhere: No such file or directory' &&
		[ "$(wc -l <log)" = 1 ]
	result $? "a failed open of another path"
	: >file
	run 1 status --device "$work/file" && says 'is not a ktape device'
	result $? "a failed open of a file"
	if [ -e /dev/ktape ]; then
		skip "the module is loaded" "a failed open"
		return
	fi
	# The same problem and command as those of ktape doctor.
	"$out/command/ktape" doctor --json >text
	python3 -c 'import json
report = json.load(open("text"))
first = [f for f in report["findings"] if f["severity"] == "problem"][0]
print("ktape: /dev/ktape: No such file or directory: " + first["what"])
if first["next"]:
    print("ktape: next: " + first["next"] + "   (ktape doctor says why)")
' >want
	for command in status 'record -o t' 'profile' 'mark text hello'; do
		# shellcheck disable=SC2086	# words
		run 1 $command && cmp want log
		result $? "a failed open: ${command%% *} prints the first problem"
	done
}

test_usage()
{
	run 2 doctor operand && says 'takes no operands'
	result $? "no operands"
	run 2 doctor -b much && says 'not a valid value'
	result $? "a size that is none"
	timeout 600 "$out/command/ktape" doctor >text 2>log
	[ $? -le 1 ] && [ ! -s log ] && tail -n 1 text | grep -q '^next: .'
	result $? "the machine of this test ends with a next step"
	timeout 600 "$out/command/ktape" doctor --json >text 2>log
	[ $? -le 1 ] && [ ! -s log ] && python3 -m json.tool text >>log
	result $? "the machine of this test, as JSON"
}

echo "TAP version 13"
test_good
test_kernel
test_config
test_headers
test_rights
test_machine
test_tracers
test_reports 60
test_open
test_usage
echo "1..$n"
exit $failed
