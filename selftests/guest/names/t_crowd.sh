#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2086	# words
# Test that a machine with very many threads and cgroups needs no parameter of the module: in
# a trace all have the names that /proc and /sys say, those that were there when the module was
# loaded and those that come and go while it records; and that a registry (the table of names)
# which may not grow reports how many names had no room, and why.
# KTAPE_CROWD=THREADS,CGROUPS (3000,500; on a slow kernel 800,100): up to 8192 threads the
# registry begins smaller than by default, so that it has to grow.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

[ "${KTAPE_SCALE:-1}" = 1 ] || KTAPE_CROWD=${KTAPE_CROWD:-800,100}
KTAPE_CROWD=${KTAPE_CROWD:-3000,500}
threads=${KTAPE_CROWD%,*}
groups=${KTAPE_CROWD#*,}
file=$dir/crowd
# Entries that the registry begins with, the parameter for fewer than by default, and the
# most that test_limited allows.
first=8192 small='' most=4096
[ "$threads" -gt $first ] || first=2048 most=1024
[ "$threads" -gt $first ] || first=512 most=512
[ $first = 8192 ] || small=registry=$first
seconds=$((600 * ${KTAPE_SCALE:-1} * (1 + threads / 3000)))

# await FILE: wait until the crowd has made it; fail if the crowd has ended
await()
{
	for _ in $(seq $((seconds * 5))); do
		[ ! -e "$1" ] || return 0
		kill -0 "$crowd" 2>/dev/null || return 1
		sleep 0.2
	done
	return 1
}

start_crowd()
{
	rm -f $file*
	crowd $file "$threads" "$groups" 2>$dir/crowd.err &
	crowd=$!
	await $file.ready
	result $? "$threads threads and $groups cgroups are there" $dir/crowd.err
}

end_crowd()
{
	rm -f $file.go
	wait $crowd
	result $? "the crowd ends" $dir/crowd.err
}

# status KEY: print a number of the registry's status
status()
{
	ktape status --json | sed -n 's/.*"registry":{[^}]*"'"$1"'":\([0-9]*\).*/\1/p'
}

# compare TRACE WHAT: each line of the crowd's file has a name in the trace, the same one,
# and each switch of one of its threads shows that name
compare()
{
	ktape dump --json "$1" >$dir/text 2>$dir/dump.err
	result $? "$2: the trace can be read" $dir/dump.err
	awk '
		function field(name,  text) {
			if (!match($0, "\"" name "\":(\"[^\"]*\"|-?[0-9]+)"))
				return ""
			text = substr($0, RSTART, RLENGTH)
			sub(/^[^:]*:/, "", text)
			gsub(/"/, "", text)
			return text
		}
		FNR == NR { is[$1, $2] = $3; all++; next }
		index($0, "\"event\":\"registry\"") {
			type = field("type")
			id = field("id")
			if (type == "cgroup")
				id += field("param1") * 4294967296
			# A thread has the name of its maker until it gives itself one.
			if (((type, id) in is) && field("name") == is[type, id])
				same[type, id] = 1
			next
		}
		index($0, "\"event\":\"sched_switch\"") {
			switches++
			if ($0 ~ /"tid":[0-9]+,"comm":null/)
				nameless++
		}
		END {
			for (k in is)
				n += k in same
			print all + 0, n + 0, switches + 0, nameless + 0
		}' $file $dir/text >$dir/found
	read -r all same switches nameless <$dir/found
	echo "# $2: $all objects, $same with their names; $switches switches, $nameless without a name"
	[ "$all" -ge $((threads + groups)) ] && [ "$all" = "$same" ]
	result $? "$2: all names are those of /proc" $dir/found
	[ "$switches" -gt 0 ] && [ "$nameless" = 0 ]
	result $? "$2: no switch without a name" $dir/found
}

# verified TRACE WHAT: verify finds nothing wrong
verified()
{
	ktape verify "$1" >$dir/verify 2>&1
	result $? "$2: verify finds nothing wrong" $dir/verify
}

test_grown()
{
	insmod "$KTAPE_MODULE" $small
	[ "$(status entries)" = $first ]
	result $? "the registry begins small"
	start_crowd
	[ "$(status dropped)" = 0 ] && [ "$(status entries)" -ge $((threads + groups)) ]
	result $? "it has grown with them: $(status entries) entries, $(status dropped) names dropped"
	ktape record -o $dir/grown -e sched >$dir/log 2>&1 &
	recorder=$!
	sleep 2
	touch $file.go
	await $file.done
	result $? "they come and go" $dir/crowd.err
	kill -INT $recorder
	wait $recorder
	result $? "that is recorded" $dir/log
	sed 's/^/# /' $dir/log | tail -n 3
	[ "$(status dropped)" = 0 ]
	result $? "no name had no room" $dir/log
	compare $dir/grown grown
	verified $dir/grown grown
	rm -r $dir/grown
}

test_loaded()
{
	rmmod ktape && insmod "$KTAPE_MODULE" $small
	result $? "the module is loaded again"
	[ "$(status dropped)" = 0 ] && [ "$(status entries)" -ge $((threads + groups)) ]
	result $? "it has room for all: $(status entries) entries, $(status dropped) dropped"
	sed -n "$((threads + groups + 1)),\$p" $file >$dir/rest
	cp $dir/rest $file
	ktape record -o $dir/loaded -e sched -d 2s >$dir/log 2>&1
	result $? "that is recorded" $dir/log
	compare $dir/loaded loaded
	verified $dir/loaded loaded
	rm -r $dir/loaded
}

test_limited()
{
	end_crowd
	rmmod ktape && insmod "$KTAPE_MODULE" registry=256 registry_max=$most
	result $? "the module is loaded with registry_max=$most"
	start_crowd
	[ "$(status entries)" = $most ] && [ "$(status limit)" -gt $((threads - most)) ]
	result $? "names had no room: $(status limit) at the limit, $(status late) late"
	ktape status | grep -q 'names without room: .* as large as it may get'
	result $? "status reports how many, and why"
	ktape doctor 2>&1 | grep -q 'had no room for .* names'
	result $? "so does doctor"
	ktape record -o $dir/limited -e sched >$dir/log 2>&1 &
	recorder=$!
	sleep 1
	touch $file.go
	await $file.done
	kill -INT $recorder
	wait $recorder
	result $? "that is recorded" $dir/log
	verified $dir/limited limited
	grep -q 'threads have no name: since it was loaded the module had no room for names: [0-9]* at its limit' \
		$dir/verify
	result $? "it says how many names had no room, and why" $dir/verify
	rm -r $dir/limited
	end_crowd
	rmmod ktape
}

echo "TAP version 13"
need_ktape
mkdir -p $dir
trap 'kill $crowd $recorder 2>/dev/null; rmdir /sys/fs/cgroup/crowd/* /sys/fs/cgroup/crowd 2>/dev/null' EXIT
test_grown
test_loaded
test_limited
echo "1..$n"
