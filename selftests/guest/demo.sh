#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# In the guest: record a real workload with ktape, show what came of it, and
# leave the trace in /out/demo.  See scripts/demo.
set -eu

seconds=${DEMO_SECONDS:-4}

show()
{
	echo
	echo "\$ $*"
	"$@"
}

show insmod /ktape.ko
show ktape record -e '*' -b 4M -o /scratch/demo -- \
	/bin/workload "$seconds" /scratch
show ktape status
echo
echo '$ ktape dump /scratch/demo | head -n 30'
ktape dump /scratch/demo >/scratch/dump.txt
head -n 30 /scratch/dump.txt
echo "... $(wc -l </scratch/dump.txt) lines"
cp -r /scratch/demo /out/demo
show rmmod ktape
