#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_doctor.sh FOLDER: ktape doctor on a machine made of files. Each test
# changes one thing and reads the finding, as text and as JSON.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1" || exit 2

R=6.1.0-1-test
version=$("$out/command/ktape" version | head -n 1 | sed 's/^ktape \([^,]*\),.*/\1/')
efivar=sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
make='make clean modules   # in the source of ktape'

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

test_reports()
{
	same_findings && [ "$reports" -gt 50 ]
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

# without_module: as on a machine that has never seen ktape
without_module()
{
	machine
	rm -r "m/lib/modules/$R/build" "m/lib/modules/$R/extra"
	put "lib/modules/$R/modules.dep" 'kernel/fs/ext4.ko:'
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

test_module()
{
	local ko=lib/modules/$R/extra/ktape.ko

	without_module
	finds 'no module' problem module "no module for kernel $R" "$make"
	without_module
	put "var/lib/dkms/ktape/$version/source"
	finds 'no module, but DKMS has the source' problem module 'no module' \
		"dkms install --force ktape/$version -k $R"
	without_module
	put "usr/src/ktape-$version/dkms.conf"
	finds 'no module, but /usr/src has the source' problem module \
		'no module' "dkms install --force ktape/$version -k $R"
	without_module
	module lib/modules/5.10.1-old/updates/dkms/ktape.ko '5.10.1-old SMP '
	finds 'a module of another kernel' problem module \
		'only for 5.10.1-old' "$make"
	machine
	module "$ko" '6.1.0-0-test SMP mod_unload'
	finds 'a module that was built for another kernel' problem module \
		"built for kernel 6.1.0-0-test, but $R is running" "$make"
	machine
	module "$ko" '6.1.0-0-test SMP mod_unload modversions'
	finds 'another kernel, with modversions' warning module \
		"built for kernel 6.1.0-0-test, but $R is running" "$make"
	machine
	printf '\001\001' | dd of="m/$ko" bs=1 seek=18 conv=notrunc status=none
	put proc/sys/kernel/arch riscv64
	finds 'a module for another architecture' problem module \
		'another architecture' "$make"
	machine
	echo 'not an ELF file' >"m/$ko"
	finds 'a module that is none' problem module 'not a kernel module' "$make"
	machine
	mv "m/$ko" "m/$ko.xz"
	put "lib/modules/$R/modules.dep" 'extra/ktape.ko.xz:'
	finds 'a module that cannot be unpacked' warning module \
		'cannot be read or unpacked' "modinfo /$ko.xz"
	machine
	put "lib/modules/$R/modules.dep"
	finds 'a module that depmod does not know' problem module \
		'modprobe does not know' 'depmod -a'
	machine
	module new/ktape.ko "$R SMP"
	finds '--module' problem loaded 'not loaded' 'insmod /new/ktape.ko' \
		-m /new/ktape.ko
	finds '--module of a missing file' problem module 'no file /no.ko' \
		"$make" -m /no.ko
}

# kmsg MICROSECONDS TEXT: the kernel log
kmsg()
{
	put dev/kmsg '6,1,100,-;Linux version' "3,2,$1,-;$2"
}

test_log()
{
	local text

	for text in "ktape: version magic '6.1' should be '$R SMP'" \
		'ktape: disagrees about version of symbol module_layout' \
		'ktape: Unknown symbol foo (err -2)'; do
		machine
		touch -d @1000000001 "m/lib/modules/$R/extra/ktape.ko"
		kmsg 5000000 "$text"
		finds "the log has: ${text%%\'*}" problem log "$text" "$make"
	done
	text='ktape: Could not allocate 4364 bytes percpu data'
	machine
	touch -d @1000000001 "m/lib/modules/$R/extra/ktape.ko"
	kmsg 5000000 "$text"
	finds "the log has: $text" warning log "$text" \
		'ls -d /sys/module/*/sections/.data..percpu'
	# Another module's: what the log has of ktape is older, and is shown.
	kmsg 5000000 "$text"
	put dev/kmsg '6,1,100,-;Linux version' "3,2,5000000,-;$text" \
		'3,3,6000000,-;rds: Could not allocate 336 bytes percpu data'
	finds "the log has that of another module, too" warning log "$text" \
		'ls -d /sys/module/*/sections/.data..percpu'
	put dev/kmsg '6,1,100,-;Linux version' \
		'3,3,6000000,-;rds: Could not allocate 336 bytes percpu data'
	doctor 1 && ! grep '^warning *log' text
	result $? "the log has that of another module only"
	text='ktape: cannot be loaded: registry of names: error -12'
	machine
	touch -d @1000000001 "m/lib/modules/$R/extra/ktape.ko"
	kmsg 5000000 "$text"
	finds "the log has: $text" warning log "$text" 'dmesg | grep ktape'
	for text in __crc32c_le crc32c; do
		machine
		touch -d @1000000001 "m/lib/modules/$R/extra/ktape.ko"
		kmsg 5000000 "ktape: Unknown symbol $text (err -2)"
		finds "the log has: Unknown symbol $text" problem log \
			"Unknown symbol $text" 'modprobe crc32'
	done
	touch -d @1000000009 "m/lib/modules/$R/extra/ktape.ko"
	doctor 1 && ! grep '^problem *log' text
	result $? "the log is ignored when the module was built since"
	machine
	load
	kmsg 5000000 "$text"
	doctor 1 && ! grep '^problem *log' text
	result $? "the log is ignored when the module is loaded"
}

test_signature()
{
	local ko=lib/modules/$R/extra/ktape.ko pub=/var/lib/dkms/mok.pub
	local key=/var/lib/dkms/mok.key

	machine
	secure_boot
	finds 'Secure Boot, not signed, no key' problem signature \
		"ktape.ko is not signed" \
		"mkdir -p /var/lib/dkms && openssl req -new -x509 -newkey rsa:2048 -nodes -days 36500 -subj /CN=ktape/ -addext extendedKeyUsage=codeSigning -keyout $key -outform DER -out $pub && mokutil --import $pub"
	put $pub
	finds 'Secure Boot, not signed, a key' problem signature 'not signed' \
		"/lib/modules/$R/build/scripts/sign-file sha256 $key $pub /$ko"
	put "var/lib/dkms/ktape/$version/source"
	finds 'Secure Boot, not signed, DKMS signs' problem signature \
		'not signed' "dkms install --force ktape/$version -k $R"
	sign $ko
	finds 'Secure Boot, signed' ok signature 'is signed' ''
	kmsg 5000000 'Loading of module with unavailable key is rejected'
	touch -d @1000000001 "m/$ko"
	finds 'Secure Boot, signed, the key is not enrolled' problem signature \
		'key that the kernel does not trust' \
		"mokutil --import $pub && reboot"
	finds 'the log says that the key is not enrolled' warning log \
		'unavailable key is rejected' ''
	machine
	lock integrity
	finds 'lockdown without Secure Boot' problem signature \
		'(Secure Boot is off, lockdown=integrity)' reboot
	mkdir -p "m/${efivar%/*}"
	finds 'lockdown, and variables of the firmware that cannot be read' \
		problem signature '(Secure Boot is unknown, lockdown=integrity)' \
		'modprobe efivarfs && mount -t efivarfs efivarfs /sys/firmware/efi/efivars'
	machine
	put sys/module/module/parameters/sig_enforce Y
	finds 'module.sig_enforce' problem signature 'not signed' reboot
	machine
	secure_boot
	lock none
	finds 'Secure Boot on a kernel that does not care' ok signature \
		'unsigned modules, although Secure Boot is on' ''
	rm -r m/sys/kernel/security
	finds 'Secure Boot and unknown lockdown' warning signature unknown \
		'mount -t securityfs securityfs /sys/kernel/security'
	without_module
	secure_boot
	put $pub
	finds 'Secure Boot and no module yet' note signature \
		'only modules with a signature' ''
	machine
	secure_boot
	put $pub
	mv "m/$ko" "m/$ko.xz"
	put "lib/modules/$R/modules.dep" 'extra/ktape.ko.xz:'
	finds 'Secure Boot and a module that cannot be unpacked' note signature \
		'only modules with a signature' ''
}

test_loaded()
{
	machine
	put proc/sys/kernel/modules_disabled 1
	finds 'loading is disabled' problem loaded \
		'disabled until the next boot' \
		'echo ktape | tee /etc/modules-load.d/ktape.conf'
	machine
	user 0 0000000000000000
	finds 'root without CAP_SYS_MODULE' problem loaded 'not loaded' \
		'sudo modprobe ktape   # on the host'
	machine
	user 1000 0000000000000000
	finds 'another user' problem loaded 'not loaded' 'sudo modprobe ktape'
	machine
	load
	put proc/misc ' 57 ktape_mark' ' 56 ktape' '1 psaux'
	finds 'loaded, but no device' problem device \
		'although the module is loaded' 'mknod -m 600 /dev/ktape c 10 56'
	put dev/ktape text
	finds 'a file in place of the device' problem device 'not a device' \
		'rm /dev/ktape'
	finds '--device of a missing file' problem device \
		'/dev/other does not exist' 'ktape doctor' --device /dev/other
	put sys/module/ktape/version 0.0-old
	finds 'another version of the module' warning version \
		'module is version 0.0-old' 'modprobe -r ktape && modprobe ktape'
	rm -r "m/lib/modules/$R/extra"
	finds 'another version, and no other module' warning version \
		'module is version 0.0-old' \
		'make && make install   # in the source of ktape; then load the module again'
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

# Every file that is read, as garbage, too long, a folder, a FIFO, unreadable.
test_hostile()
{
	local file how bad=0

	machine
	secure_boot
	put dev/kmsg '3,2,5,-;ktape: Unknown symbol'
	put proc/self/cgroup 0::/a
	put sys/fs/cgroup/a/memory.max 1
	put sys/kernel/tracing/set_event a
	put proc/sys/kernel/io_uring_disabled 2
	rm -rf good
	mv m good
	mkdir -p json
	(cd good && find . -type f) >names
	while read -r file; do
		for how in garbage long folder fifo closed empty escapes; do
			rm -rf m
			cp -a good m
			rm "m/$file"
			spoil "$how" "m/$file" "good/$file"
			spoiled "$how-${file//\//-}" || bad=1
		done
	done <names
	python3 -c 'import glob, json
for name in glob.glob("json/*"):
    json.load(open(name, encoding="utf-8"))' >>log 2>&1 || bad=1
	[ $bad = 0 ] && [ "$(wc -l <names)" -gt 15 ]
	result $? "files of garbage: $(wc -l <names) files in 7 ways"
}

# spoil HOW FILE ORIGINAL: write a file, perhaps like the original
# shellcheck disable=SC2016	# a shell must not expand them
spoil()
{
	case $1 in
	garbage) head -c 5000 /dev/urandom >"$2" ;;
	long) yes "$(head -c 100 "$3" | tr -d '\0')" | head -c 5000000 >"$2" ;;
	folder) mkdir "$2" ;;
	fifo) mkfifo "$2" ;;
	closed) cp "$3" "$2" && chmod 0 "$2" ;;
	empty) : >"$2" ;;
	escapes) printf '\033[31m%s\n' "$(tr -d '\0' <"$3")" '$(reboot)' \
		'a;b ktape: Unknown symbol \"' >"$2" ;;
	esac
}

# spoiled NAME: the command ends by itself, without a report of a sanitizer, and
# prints neither control characters nor a command that is taken from a file
spoiled()
{
	local form status

	for form in '' --json; do
		timeout 200 "$out/command/ktape" doctor --root m $form >text 2>log
		status=$?
		if [ $status -gt 1 ] || [ -s log ] ||
			LC_ALL=C grep -aq $'[\001-\010\013-\037\177]' text ||
			grep -aq 'next:.*reboot)' text; then
			echo "# $1: status $status"
			head -n 20 log text
			return 1
		fi
	done
	cp text "json/$1"
}

# An ELF file with each byte of its headers changed, and cut at each length.
test_elf()
{
	local ko=m/lib/modules/$R/extra/ktape.ko bad=0 size at

	machine
	cp "$ko" good.ko
	size=$(wc -c <good.ko)
	for ((at = 0; at < size; at += at < 64 ? 1 : 7)); do
		cp good.ko "$ko"
		printf '\377\200' |
			dd of="$ko" bs=1 seek=$at conv=notrunc status=none
		doctor 1 || bad=1
		[ $((at % 3)) != 0 ] || head -c $at good.ko >"$ko"
		doctor 1 || bad=1
	done
	[ $bad = 0 ]
	result $? "modules whose ELF headers are damaged or cut"
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
: >log
mkdir reports
reports=0
test_good
test_kernel
test_config
test_headers
test_module
test_log
test_signature
test_loaded
test_rights
test_machine
test_tracers
test_reports
test_hostile
test_elf
test_open
test_usage
echo "1..$n"
exit $failed
