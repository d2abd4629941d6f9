# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# Very many network and block devices come, are used, and go.
#
# devices:NET:BLOCK
#
# $scene has the arguments. span, of used/oracle.sh, records a log while a command runs;
# used/judge fails if an event is lost, missing or wrong.

net=${scene%:*} block=${scene#*:}

work()
{
	insmod /used/modules/dummy.ko numdummies="$net" || return
	insmod /used/modules/brd.ko rd_nr="$block" rd_size=64 max_part=1 || return
	have="$(count '/sys/class/net/dummy*') $(count '/sys/block/ram*')"
	echo "$have devices"
	[ "$have" = "$net $block" ] || return
	for i in $(seq 0 10 $((net - 1))); do
		ip link set "dummy$i" up || return
	done
	for i in $(seq 0 10 $((block - 1))); do
		dd if=/dev/zero of="/dev/ram$i" bs=4K count=1 conv=fsync 2>/dev/null || return
	done
	rmmod brd && rmmod dummy
}

before_events=$events
events=$events,net,block
span devices work
events=$before_events
tail -n 1 "$folder/work" | sed 's/^/# /'
