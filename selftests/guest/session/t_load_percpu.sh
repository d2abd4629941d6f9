#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The static per-CPU data of all modules is in one small piece of memory, 8 KiB on
# most machines. Load and unload ktape and stock modules that have such data, in random
# orders: there is always room for all of them.
set -u

# shellcheck source=selftests/guest/support/result.sh
. "${0%/*}/result.sh"

# Each order loads or unloads each module once.
orders=100
[ "${KTAPE_SCALE:-1}" = 1 ] || orders=10
seed=${KTAPE_SEED:-$(date +%s)}
stock=

echo "TAP version 13"
for file in /lib/percpu-modules/*.ko; do
	[ -e "$file" ] || continue
	name=${file##*/}
	name=${name#*-}
	stock="$stock ${name%.ko}"
done
if [ -z "$stock" ]; then
	echo "1..0 # SKIP this kernel has no stock modules"
	exit 0
fi
echo "# KTAPE_SEED=$seed: ktape$stock"

# Print the modules in a random order, $orders times.
print_shuffled()
{
	# shellcheck disable=SC2086	# words
	printf '%s\n' ktape $stock | awk -v seed="$seed" -v orders="$orders" '
		{ name[NR] = $1 }
		END {
			srand(seed)
			while (orders-- > 0)
				for (i = NR; i > 0; i--) {
					j = 1 + int(rand() * i)
					t = name[j]
					name[j] = name[i]
					name[i] = t
					print t
				}
		}'
}

# toggle NAME: load the module, or unload it; fails with a line that says why
toggle()
{
	if grep -q "^$1 " /proc/modules; then
		rmmod "$1" 2>&1 || return 1
		unloaded=$((unloaded + 1))
		return 0
	fi
	case $1 in
	ktape) file=$KTAPE_MODULE ;;
	*) file=$(echo /lib/percpu-modules/*-"$1.ko") ;;
	esac
	if ! insmod "$file" 2>&1; then
		dmesg | grep -E 'percpu|ktape' | tail -n 3
		return 1
	fi
	loaded=$((loaded + 1))
}

loaded=0
unloaded=0
failed=0
done=0
print_shuffled >/tmp/test/order
while read -r name; do
	done=$((done + 1))
	toggle "$name" >/tmp/test/toggle && continue
	failed=$((failed + 1))
	[ $failed -gt 5 ] ||
		sed "s/^/# $done, $name: /" /tmp/test/toggle
done </tmp/test/order
echo "# $loaded times loaded, $unloaded times unloaded, $failed times failed"
# Each module is loaded every other time, from the first one on.
modules=$(echo ktape "$stock" | wc -w)
[ $failed = 0 ] && [ $loaded = $((modules * ((orders + 1) / 2))) ] &&
	[ $unloaded = $((modules * (orders / 2))) ]
result $? "ktape and stock modules are loaded in $orders random orders"

# All of them at once, ktape last.
for name in ktape $stock; do
	! grep -q "^$name " /proc/modules || rmmod "$name"
done
bad=0
for name in $stock ktape; do
	toggle "$name" >/tmp/test/toggle || bad=1
done
result $bad "all of them at once"
for name in ktape $stock; do
	rmmod "$name"
done
echo "1..$n"
