#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_doctor_hostile.sh FOLDER: ktape doctor on a machine whose files are garbage, and with
# modules that are damaged.
# shellcheck source=selftests/unit/support/doctor_machine.sh
. "${0%/*}/../../support/doctor_machine.sh" "$1" || exit 2

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

echo "TAP version 13"
test_hostile
test_elf
echo "1..$n"
exit $failed
