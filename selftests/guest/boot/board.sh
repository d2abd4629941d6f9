#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# In a guest that stands for a board: what its user types, from insmod to the files that
# are copied to the host. Each line is a test; ../../board checks the files.

status=0

# try LINE: run it, and print it with the first lines of its output
try()
{
	echo "# board: $1"
	if sh -c "$1" >/tmp/output 2>&1; then
		head -n 8 /tmp/output | sed 's/^/# /'
		echo "ok board: $1"
	else
		sed 's/^/# /' /tmp/output
		echo "not ok board: $1"
		status=1
	fi
}

try 'insmod /ktape.ko'
try 'ktape profile set sched,process,irq,timer,syscall'
try 'cat /dev/ktape >/out/cat.ktape & sleep 2; kill $!'
try 'ktape record -d 2s -o /out/record'
try 'ktape verify /out/record && ktape verify /out/cat.ktape'
# The dumps that the host's tool has to repeat.
try 'ktape dump --all /out/record >/out/record.txt && [ -s /out/record.txt ]'
try 'ktape dump --all /out/cat.ktape >/out/cat.txt && [ -s /out/cat.txt ]'
try 'ktape dump --json /out/record >/out/record.json'
try 'rmmod ktape'
exit $status
