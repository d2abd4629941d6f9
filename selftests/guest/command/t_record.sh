#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape record` in folders and pipes on every kind of file system: the
# reader finds what the recorder counted.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

# wait_for_size FILE LEAST: wait until FILE has LEAST bytes
wait_for_size()
{
	for _ in $(seq $((100 * ${KTAPE_SCALE:-1}))); do
		[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -lt "$2" ] || break
		sleep 0.2
	done
}

test_cat()
{
	emit &
	emitter=$!
	cat /dev/ktape >$dir/f 2>/dev/null &
	# Many more than 1000 events.
	wait_for_size $dir/f 200000
	kill $! $emitter
	wait
	ktape dump --all $dir/f >$dir/text 2>$dir/err
	result $? "a stream read by cat can be dumped" $dir/err
	# Lines like "[time] cpu 1 NAME-TID event: ...", with names of real
	# threads.
	read -r lines names <<-EOT
	$(awk '
		$4 ~ /^[^?].*-[0-9]/ && !seen[$4]++ { names++ }
		END { print NR, names + 0 }' $dir/text)
	EOT
	echo "# $lines lines, $names threads with names"
	[ "$lines" -ge 1000 ]
	result $? "the stream read by cat has at least 1000 events"
	[ "$names" -ge 5 ]
	result $? "at least 5 threads have names"
	# Much less than a block is shown all the same.
	ktape profile process
	ktape clear
	ktape dump -e process /dev/ktape >$dir/text 2>$dir/err &
	reader=$!
	for _ in $(seq $((10 * ${KTAPE_SCALE:-1}))); do
		sleep 1
		[ ! -s $dir/text ] || break
		/bin/busybox true
	done
	lines=$(wc -l <$dir/text)
	echo "# $lines lines of a slow session"
	[ "$lines" -ge 1 ]
	result $? "dump shows the device's events while there are few" $dir/err
	kill -TERM $reader
	wait $reader
	result $? "dump of the device ends with a signal" $dir/err
	ktape profile default
	rm -f $dir/f $dir/text
}

test_folder()
{
	ktape record -o $dir/plain -- emit 0 2>$dir/log
	result $? "a command is recorded into a folder on tmpfs" $dir/log
	agrees "plain write on tmpfs" $dir/plain $dir/log

	ktape record -o /scratch/direct -- emit 0 2>$dir/log
	result $? "a command is recorded into a folder on a disk" $dir/log
	! grep -q 'plain writes' $dir/log
	result $? "the disk is written by io_uring and O_DIRECT" $dir/log
	agrees "io_uring on a disk" /scratch/direct $dir/log

	ktape record -p all -b 16K -B 4K -o /scratch/small -- \
		emit 0 2>$dir/log
	result $? "a command is recorded with rings that are too small" $dir/log
	grep ' lost' $dir/log | tail -n 1 | sed 's/^.*ktape:/#/'
	agrees "small rings" /scratch/small $dir/log

	ktape record -o $dir/plain -d 100ms 2>$dir/log
	[ $? = 1 ] && grep -q 'not empty' $dir/log
	result $? "a folder that is not empty is refused" $dir/log
	ktape record -f -o $dir/plain -d 100ms 2>$dir/log
	result $? "-f replaces a folder that is not empty" $dir/log
	rm -rf /scratch/direct /scratch/small $dir/plain
}

test_pipe()
{
	ktape record -o - -- emit 0 2>$dir/log >$dir/pipe
	result $? "a pipe form is recorded" $dir/log
	agrees "pipe form" $dir/pipe $dir/log
	ktape record --split $dir/pipe -o $dir/split 2>$dir/err
	result $? "the pipe form is split into a folder" $dir/err
	ktape dump --json $dir/pipe | sort >$dir/a
	ktape dump --json $dir/split | sort >$dir/b
	diff $dir/a $dir/b >$dir/err 2>&1
	result $? "the folder holds the same records as the pipe form" $dir/err

	ktape record -q -o - -- emit 0 |
		ktape dump --json - >$dir/a 2>$dir/err
	# Live events may come too late to be sorted, and dump reports that.
	! grep -v 'came too late to be sorted' $dir/err &&
		[ "$(wc -l <$dir/a)" -ge 1000 ]
	result $? "dump reads what record writes to a pipe" $dir/err

	# Runs until it is killed, because the start of a recording may take
	# long.
	emit &
	timeout 600 ktape record -o - 2>$dir/log | head -c 200000 >/dev/null
	[ "$(summary $dir/log)" -gt 0 ]
	result $? "the recording ends when the pipe's reader exits" $dir/log
	kill $!
	wait $!
	rm -rf $dir/pipe $dir/split $dir/a $dir/b
}

test_ctf2()
{
	ktape record -q -p none -e user,process -o $dir/two --ctf 2 -- \
		ktape mark instant 7 in-ctf-2 2>$dir/err &&
		[ "$(head -c 1 $dir/two/metadata)" = "$(printf '\036')" ] &&
		ktape dump $dir/two 2>>$dir/err | grep -q in-ctf-2 &&
		ktape verify $dir/two >>$dir/err 2>&1
	result $? "a recording with metadata in CTF 2 is read and whole" $dir/err
	rm -rf $dir/two
}

echo "TAP version 13"
need_ktape
test_cat
test_folder
test_pipe
test_ctf2
echo "1..$n"
