#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape record -l --to`: the recorder starts a converter, `ktape ship`. Each finished
# piece of the log becomes tables, once, and is removed, whatever ends in between: the
# converter, the recorder, both.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

log=/scratch/ship
marked=0

# mark N: record N more markers, which are rows of the table marker
mark()
{
	for _ in $(seq "$1"); do
		ktape mark instant 7 row || return
	done
	marked=$((marked + $1))
}

# captures: print the number of pieces that have all their tables
captures()
{
	find $log/parquet/capture -name '*.parquet' 2>/dev/null | wc -l
}

# markers: print the number of rows in the table of markers
markers()
{
	find $log/parquet/marker -name '*.parquet' -exec rows {} +
}

# pieces: print the number of pieces that are left in the folder
pieces()
{
	find $log -mindepth 1 -maxdepth 1 ! -name '.*' ! -name parquet ! -name 'my-*' | wc -l
}

# until_is WHAT NUMBER: wait until the command WHAT prints it
until_is()
{
	patience=$((300 * ${KTAPE_SCALE:-1}))
	until [ "$($1)" = "$2" ]; do
		patience=$((patience - 1))
		[ $patience -gt 0 ] || return
		sleep 0.2
	done
}

# converter: print the pids of processes that convert.  One process looks for them: one for
# each process of the system would take minutes on a kernel with sanitizers.
converter()
{
	grep -ls '^ktape.ship.-q' /proc/[0-9]*/cmdline | tr -cd '0-9\n'
}

# converters: print their number
converters()
{
	converter | wc -l
}

# written N: wait until N markers are on the disk in pieces
written()
{
	kill -USR1 "$recorder"
	patience=$((300 * ${KTAPE_SCALE:-1}))
	until [ "$(for piece in "$log"/ktape-*; do
		ktape dump "$piece" 2>/dev/null
	done | grep -c row)" -ge "$1" ]; do
		patience=$((patience - 1))
		[ $patience -gt 0 ] || return
		sleep 0.2
	done
}

# start: record into the log
start()
{
	ktape record -p none -e user -l $log/ --to parquet 2>$dir/log &
	recorder=$!
	until_is converters 1
}

# begun: print how many pieces the recorder has begun, by its last message
begun()
{
	sed -n 's/.* the last of \([0-9]*\) pieces is .*/\1/p' $dir/log
}

# begin_piece NUMBER: begin a new piece, and wait until that many have been converted
begin_piece()
{
	kill -HUP "$recorder"
	until_is captures "$1"
}

test_pieces()
{
	mkdir $log
	start
	result $? "a converter runs beside the recorder" $dir/log
	mark 5 && begin_piece 1 && mark 6 && begin_piece 2
	result $? "each finished piece is converted while the next one is recorded" $dir/log
	until_is pieces 1 && [ "$(markers)" = $marked ]
	result $? "it is removed, and its rows are in the tables" $dir/log
	mark 4
	kill -TERM $recorder
	wait $recorder
	result $? "SIGTERM ends the recorder" $dir/log
	[ "$(captures)" = "$(begun)" ] && [ "$(pieces)" = 0 ] && [ "$(converters)" = 0 ]
	result $? "the last piece is converted, too" $dir/log
	[ "$(markers)" = $marked ]
	result $? "each marker is one row" $dir/log
	echo "# $(captures) pieces, $(markers) of $marked markers"
}

test_killed()
{
	done=$(captures)
	start
	mark 5
	kill -KILL "$(converter)"
	until_is converters 0 && begin_piece $((done + 1)) && [ "$(converters)" = 1 ]
	result $? "a converter that was killed begins again with the next piece" $dir/log
	mark 3 && written 3
	result $? "the markers are on the disk" $dir/log
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	until_is converters 0
	result $? "the converter ends with a recorder that was killed" $dir/log
	start
	until_is captures $((done + 2)) && [ "$(markers)" = $marked ]
	result $? "what a killed recorder has left is converted, once" $dir/log
	mark 2
	# Both at once, at whatever they are doing.
	written 2
	kill -HUP $recorder
	kill -KILL $recorder "$(converter)" 2>/dev/null
	wait $recorder 2>/dev/null
	until_is converters 0
	ktape ship -q --to parquet $log 2>>$dir/log && [ "$(pieces)" = 0 ] &&
		[ "$(markers)" = $marked ] &&
		[ -z "$(find $log -name '.*' -type f)" ]
	result $? "ktape ship goes on with what both have left" $dir/log
	echo "# $(captures) pieces, $(markers) of $marked markers"
}

test_daemon()
{
	rm -rf $log
	mkdir $log
	ktape record -p none -e user -l $log/ --to 'exit 7' --daemon --pidfile $dir/pid \
		--logfile $dir/daemon.log 2>$dir/log
	result $? "a daemon is ready when the command ends" $dir/log
	recorder=$(cat $dir/pid)
	ktape mark instant 7 row
	kill -HUP "$recorder"
	failed()
	{
		grep -c 'the uploader failed (exit status 7)' $dir/daemon.log
	}
	until_is failed 1
	result $? "what the converter prints is in the log of a daemon" $dir/daemon.log
	kill -TERM "$recorder"
	ended "$recorder" 60 && grep -q 'are not converted yet: ktape ship' $dir/daemon.log &&
		[ "$(pieces)" -ge 1 ] && [ ! -e $dir/pid ]
	result $? "pieces that are left are reported" $dir/daemon.log
	rm -rf $log
}

# mine: the checksums of what is not of the log
mine()
{
	find $log -path '*/my-*' -type f -exec sha256sum {} + | sort
}

test_max()
{
	mkdir -p $log/my-holiday
	echo notes >$log/my-notes
	echo photo >$log/my-holiday/1.jpg
	ktape record -p none -e user -o $log/my-trace -d 100ms 2>$dir/log
	mine >$dir/before
	ktape record -p none -e user -l $log/ --to 'exit 7' --max 1 2>$dir/log &
	recorder=$!
	until_is converters 1
	ktape mark instant 7 row
	kill -HUP "$recorder"
	removed()
	{
		grep -c 'removed before it was shipped' $dir/log
	}
	until_is removed 1
	result $? "--max removes a piece that was not shipped" $dir/log
	kill -TERM "$recorder"
	ended "$recorder" 60
	until_is converters 0
	mine >$dir/after
	[ "$(pieces)" = 0 ] && [ "$(wc -l <$dir/after)" -gt 3 ] && cmp -s $dir/before $dir/after
	result $? "what is no piece of the log stays" $dir/log
	rm -rf $log
}

# refuses COMMAND...: it fails, and says what the kernel lacks
refuses()
{
	! "$@" 2>$dir/log && grep -q 'CONFIG_FILE_LOCKING' $dir/log
}

test_refused()
{
	mkdir $log
	refuses ktape record -p none -e user -l $log/ --to parquet
	result $? "record --to says that nothing would tell finished pieces" $dir/log
	refuses ktape ship --to parquet $log
	result $? "ktape ship says so, too" $dir/log
	[ -z "$(ls -A $log)" ]
	result $? "nothing was written"
	rm -rf $log
}

echo "TAP version 13"
need_ktape
# Only a kernel that can lock files has the file.
if [ -e /proc/locks ]; then
	test_pieces
	test_killed
	test_daemon
	test_max
else
	echo "# this kernel cannot lock files"
	test_refused
fi
echo "1..$n"
