#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_doctor_module.sh FOLDER: what ktape doctor finds about the module: its file, its
# signature, what the kernel's log says about loading it, and the one that is loaded.
# shellcheck source=selftests/unit/support/doctor_machine.sh
. "${0%/*}/../../support/doctor_machine.sh" "$1" || exit 2

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

echo "TAP version 13"
test_module
test_log
test_signature
test_loaded
test_reports 40
echo "1..$n"
exit $failed
