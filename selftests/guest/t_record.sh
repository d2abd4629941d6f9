#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The ktape command where it is at home: it records into folders and pipes on
# every kind of file system, its reader finds what its writer counted, and what
# was recorded stays, however a recording ends.

n=0
dir=/tmp/test

result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		[ -z "${3:-}" ] || sed 's/^/# /' "$3" | head -n 20
	fi
}

# records TRACE: lines without the checkpoint of the registry, and without time
# extensions, which are no events
records()
{
	ktape dump --json "$1" 2>>$dir/dump.err |
		grep -vcE '"ring":"registry"|"event":"time_extend"'
}

# summary LOG: events that the recorder says it has written
summary()
{
	sed -n 's/.*ktape: \([0-9]*\) events, .* lost, .*/\1/p' "$1"
}

# ledger TRACE: what the event rings should hold by their ledger, and hold
ledger()
{
	ktape dump --json "$1" 2>>$dir/dump.err | awk '
		function field(name,  text) {
			if (!match($0, "\"" name "\":[0-9]+"))
				return 0
			text = substr($0, RSTART, RLENGTH)
			sub(/.*:/, "", text)
			return text
		}
		/"event":"time_extend"/ { next }
		/"ring":"event"/ { held++ }
		/"event":"ledger"/ && /"fields":.*"ring":(0|"event")/ {
			said += field("emitted") - field("filtered")
			said -= field("full") + field("nested")
			said -= field("too_big") + field("shed") + field("rate")
			nr++
		}
		END { print said + 0, held + 0, nr + 0 }'
}

# agrees NAME TRACE LOG: reader, recorder and kernel count the same
agrees()
{
	: >$dir/dump.err
	read -r said held nr <<-EOT
	$(ledger "$2")
	EOT
	found=$(records "$2")
	echo "# $1: $(summary "$3") recorded, $found read; event rings: $said by $nr ledger records, $held read"
	[ "$nr" -gt 0 ] && [ "$said" = "$held" ] && [ "$held" -ge 1000 ] &&
		[ "$found" = "$(summary "$3")" ]
	result $? "$1: reader, recorder and ledger agree" $dir/dump.err
}

need_ktape()
{
	ktape version >/dev/null 2>&1 && return
	echo "1..0 # SKIP no ktape command"
	exit 4
}

test_cat()
{
	emit 4 &
	timeout 5 cat /dev/ktape >$dir/f 2>/dev/null
	wait $!
	ktape dump $dir/f >$dir/text 2>$dir/err
	result $? "what cat has read can be dumped" $dir/err
	lines=$(wc -l <$dir/text)
	# "[time] cpu 1 NAME-TID event: ...", with names that threads have.
	names=$(awk '{ print $4 }' $dir/text | sort -u | grep -c '^[^?].*-[0-9]')
	echo "# $lines lines, $names threads with names"
	[ "$lines" -ge 1000 ]
	result $? "cat has read at least 1000 events"
	[ "$names" -ge 5 ]
	result $? "at least 5 threads have names"
	rm -f $dir/f $dir/text
}

test_folder()
{
	ktape record -o $dir/plain -- emit 2 2>$dir/log
	result $? "a command is recorded into a folder on tmpfs" $dir/log
	agrees "plain write on tmpfs" $dir/plain $dir/log

	ktape record -o /scratch/direct -- emit 2 2>$dir/log
	result $? "a command is recorded into a folder on a disk" $dir/log
	! grep -q 'without io_uring' $dir/log
	result $? "the disk is written by io_uring and O_DIRECT" $dir/log
	agrees "io_uring on a disk" /scratch/direct $dir/log

	ktape record -p all -b 16K -B 4K -o /scratch/small -- \
		emit 1 2>$dir/log
	result $? "a command is recorded by rings that are too small" $dir/log
	grep ' lost' $dir/log | tail -n 1 | sed 's/^.*ktape:/#/'
	agrees "small rings" /scratch/small $dir/log

	ktape record -o $dir/plain -d 100ms 2>$dir/log
	[ $? = 1 ] && grep -q 'not empty' $dir/log
	result $? "a folder with something in it is refused" $dir/log
	ktape record -f -o $dir/plain -d 100ms 2>$dir/log
	result $? "but replaced when that is asked for" $dir/log
	rm -rf /scratch/direct /scratch/small $dir/plain
}

test_pipe()
{
	emit 2 &
	ktape record -d 2s -o - 2>$dir/log >$dir/pipe
	result $? "a pipe form is recorded" $dir/log
	wait $!
	agrees "pipe form" $dir/pipe $dir/log
	ktape record --split $dir/pipe -o $dir/split 2>$dir/err
	result $? "it is split into a folder" $dir/err
	ktape dump --json $dir/pipe | sort >$dir/a
	ktape dump --json $dir/split | sort >$dir/b
	diff $dir/a $dir/b >$dir/err 2>&1
	result $? "which holds the same records" $dir/err

	emit 2 &
	ktape record -q -d 2s -o - | ktape dump --json - >$dir/a 2>$dir/err
	wait $!
	# What comes live may come too late to be put in order, and is told.
	! grep -v 'came too late to be sorted' $dir/err &&
		[ "$(wc -l <$dir/a)" -ge 1000 ]
	result $? "recorder and reader are joined by a pipe" $dir/err

	emit 2 &
	timeout 30 ktape record -o - 2>$dir/log | head -c 200000 >/dev/null
	[ "$(summary $dir/log)" -gt 0 ]
	result $? "a reader that goes ends the recording" $dir/log
	wait $!
	rm -rf $dir/pipe $dir/split $dir/a $dir/b
}

# ended PID SECONDS: does it end by itself?
ended()
{
	for _ in $(seq $(($2 * 5 * ${KTAPE_SCALE:-1}))); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.2
	done
	return 1
}

test_signals()
{
	# Not a job of this shell: for those busybox ignores SIGINT.
	emit 3 &
	setsid sh -c 'trap - INT; exec ktape record -o '$dir'/int -- sleep 1000' \
		2>$dir/log &
	recorder=$!
	sleep 2
	kill -INT $recorder
	ended $recorder 10
	result $? "SIGINT ends the recording" $dir/log
	wait $recorder
	result $? "SIGINT is no failure" $dir/log
	wait
	agrees "after SIGINT" $dir/int $dir/log
	! pidof sleep >/dev/null
	result $? "the command ended, too"

	emit 3 &
	ktape record -p all -B 4K -o $dir/kill 2>$dir/log &
	recorder=$!
	sleep 1
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	wait
	found=$(records $dir/kill)
	echo "# $found records after SIGKILL"
	[ "$found" -ge 1 ]
	result $? "what was written before SIGKILL can be read" $dir/dump.err
	rmmod ktape 2>$dir/err
	result $? "SIGKILL leaves no session and no user" $dir/err
	insmod "$KTAPE_MODULE"
	rm -rf $dir/int $dir/kill
}

test_disk_full()
{
	mkdir $dir/full
	mount -t tmpfs -o size=1M tmpfs $dir/full
	timeout 60 ktape record -p all -o $dir/full/trace -- \
		emit 3 2>$dir/log
	rc=$?
	tail -n 1 $dir/log | sed 's/^/# /'
	[ $rc = 1 ] && grep -q 'No space left' $dir/log
	result $? "a full disk is told" $dir/log
	found=$(records $dir/full/trace)
	echo "# $found records on the full disk"
	[ "$found" -ge 1000 ]
	result $? "what was written before can be read" $dir/dump.err
	umount $dir/full
	rmdir $dir/full
	ktape record -q -d 100ms -o $dir/after 2>$dir/log
	result $? "another recording works" $dir/log
	rm -rf $dir/after
}

echo "TAP version 13"
need_ktape
test_cat
test_folder
test_pipe
test_signals
test_disk_full
echo "1..$n"
