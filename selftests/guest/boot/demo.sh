#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Record a real workload with ktape in the guest, show the result, and leave the
# trace in /out/demo. See scripts/demo.
set -eu

seconds=${DEMO_SECONDS:-4}

show()
{
	echo
	echo "\$ $*"
	"$@"
}

# The workload, then each way in which modules, programs and shells can emit.
cat >/load <<'EOT'
/bin/workload "$1" /scratch
insmod /ktape_emit.ko
echo text >/dev/ktape_mark
ktape mark name marker 7 seven
ktape mark begin 7 outer
ktape mark -t instant 7
ktape mark value 9 -5 'five less'
ktape mark end 7 outer
ktape mark exception _TRACE_HW_SEVERITY3 0x1234 1
ktape mark -b buffer exception SW1 0x1234 2 1 2 3 4 5 6
ktape mark event 1025 1 2 3 4 5 6 u8:200 string:text
rmmod ktape_emit
EOT

show insmod /ktape.ko
# Double the time until there are enough events: a host that is busy with something else
# leaves the workload less of its time.
while :; do
	show ktape record -e '*' -b 4M -o /scratch/demo -- sh /load "$seconds"
	ktape dump /scratch/demo >/scratch/dump.txt
	if [ "$(wc -l </scratch/dump.txt)" -ge 50000 ] || [ "$seconds" -ge 60 ]; then
		break
	fi
	seconds=$((seconds * 2))
	rm -r /scratch/demo
done
show ktape status
echo
echo '$ ktape dump /scratch/demo | head -n 30'
head -n 30 /scratch/dump.txt
echo "... $(wc -l </scratch/dump.txt) lines"
cp -r /scratch/demo /out/demo
show ktape record -l /scratch/log/ -e "*" --rotate 400ms --zstd -- \
	/bin/workload 3 /scratch
cp -r /scratch/log /out/log
# Record with losses: the rings are far too small, in both modes.
for mode in discard overwrite; do
	show ktape record -m $mode -b 16K -B 4K -e "*" -o /scratch/$mode -- \
		/bin/workload 1 /scratch 2>/out/$mode.txt || echo "status $?"
	cat /out/$mode.txt
	cp -r /scratch/$mode /out/$mode
done
# Two events on idle CPUs, with a pause in which the low half of the clock, which is all
# that most records have of it, wraps.
show ktape record -e mark -o /scratch/pause -- sh -c \
	'ktape mark -t instant 1; sleep 11; ktape mark -t instant 2'
cp -r /scratch/pause /out/pause
# A page, and what stands out, while the workload runs.
/bin/workload 3 /scratch >/dev/null 2>&1 &
load=$!
show ktape try -d 1s -o /out/try.html
kill "$load" 2>/dev/null || :
wait
show rmmod ktape
