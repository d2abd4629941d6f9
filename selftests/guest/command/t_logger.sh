#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Test `ktape record -l`: a log in pieces, by size, by time and by signals, in
# the foreground and as a daemon; every event is in exactly one piece.

# shellcheck source=selftests/guest/support/record.sh
. "${0%/*}/record.sh"

# write_marks FROM TO: write numbered text events
write_marks()
{
	i=$1
	while [ "$i" -le "$2" ]; do
		echo "mark-$i-" >/dev/ktape_mark
		i=$((i + 1))
	done
}

# read_pieces FOLDER: read each piece on its own with one awk and print: the
# number of pieces, of bad pieces, of lines without the checkpoint at the start
# of each piece, of different marks, of all marks; the events that the event
# rings should hold by the ledger, and those that all pieces hold
read_pieces()
{
	: >$dir/dump.err
	for piece in "$1"/*; do
		echo piece
		ktape dump --json "$piece" 2>>$dir/dump.err || echo bad
	done | awk "$json"'
		function begins() {
			begun += !told
			told = 1
		}
		$0 == "piece" { pieces++; told = 0; next }
		$0 == "bad" { bad++; next }
		index($0, "\"event\":\"session\"") { begins() }
		index($0, "\"ring\":\"registry\"") {
			if (index($0, "\"event\":\"profile\""))
				begins()
			next
		}
		index($0, "\"event\":\"time_extend\"") { next }
		{ found++ }
		index($0, "\"ring\":\"event\"") { held++ }
		index($0, "mark-") {
			text = $0
			while (match(text, /mark-[0-9]*-/)) {
				kinds += !seen[substr(text, RSTART, RLENGTH)]++
				text = substr(text, RSTART + RLENGTH)
				nr++
			}
		}
		is_ledger() { said += expected() }
		END {
			print pieces + 0, bad + pieces - begun, found + 0,
				kinds + 0, nr + 0, said + 0, held + 0
		}'
}

marked=300
[ "${KTAPE_SCALE:-1}" = 1 ] || marked=120

# Marks in five parts, with a new piece after each part. The number of events
# per second is not predictable, so events are written until the piece ends.
cat >$dir/load <<'EOT'
pieces()
{
	set -- /scratch/size/*
	have=$#
}
emit &
i=1 patience=1200
while [ $i -le $1 ]; do
	echo "mark-$i-" >/dev/ktape_mark
	pieces
	had=$have
	while [ $((i % ($1 / 5))) = 0 ] && [ $have = $had ] &&
		[ $patience -gt 0 ]; do
		patience=$((patience - 1))
		sleep 0.1
		pieces
	done
	i=$((i + 1))
done
kill -9 $!
wait
EOT

# test_size SIZE OPTION: record marks into pieces of SIZE, and read them
test_size()
{
	mkdir /scratch/size
	ktape record -p default -l /scratch/size/%H -b 256K -B 16K \
		--rotate "$@" -- sh $dir/load $marked 2>$dir/log
	result $? "record -l works, $*" $dir/log
	read -r pieces bad found kinds nr said held <<-EOT
	$(read_pieces /scratch/size)
	EOT
	echo "# $pieces pieces, $(summary $dir/log) recorded, $found read;" \
		"event rings: $said by the ledger, $held read; $nr marks"
	[ "$pieces" -ge 6 ] && [ "$bad" = 0 ]
	result $? "each piece can be read alone, $*" $dir/dump.err
	[ "$found" = "$(summary $dir/log)" ] && [ "$said" = "$held" ] &&
		[ "$held" -ge 1000 ]
	result $? "the pieces together hold everything recorded, $*" $dir/log
	[ "$kinds" = $marked ] && [ "$nr" = $marked ]
	result $? "each event is in one piece, $*" $dir/log
	rm -rf /scratch/size
}

# pieces FOLDER: set $have to the number of pieces
pieces()
{
	set -- "$1"/*.ktape*
	[ -e "$1" ] || shift
	have=$#
}

# until_true COMMAND...: wait some seconds until COMMAND succeeds
until_true()
{
	patience=$((150 * ${KTAPE_SCALE:-1}))
	until "$@"; do
		patience=$((patience - 1))
		[ $patience -gt 0 ] || return
		sleep 0.1
	done
}

# on_disk TEXT: check that a piece has this text while the recorder runs
on_disk()
{
	for piece in "$dir"/time/*.zst; do
		! ktape dump --all "$piece" 2>/dev/null | grep -q "$1" || return 0
	done
	return 1
}

has_pieces()
{
	pieces $dir/time
	[ $have -ge "$1" ]
}

# Exactly that many: the oldest piece is removed shortly after the next one was
# created.
keeps_pieces()
{
	pieces $dir/time
	[ $have = "$1" ]
}

# another_than PIECE...: check that there is a piece besides these
another_than()
{
	for piece in "$dir"/time/*; do
		case " $* " in
		*" $piece "*) ;;
		*) return 0 ;;
		esac
	done
	return 1
}

test_daemon()
{
	mkdir $dir/time
	echo foreign >$dir/time/000000.ktape.zst
	ktape record -e user,sched -l "$dir/time/%H%M%S.ktape" --zstd \
		--keep 3 --daemon --pidfile $dir/pid --logfile $dir/daemon.log \
		2>$dir/log
	result $? "a daemon is ready when the command ends" $dir/log
	pid=$(cat $dir/pid)
	[ -n "$pid" ] && kill -0 "$pid" && [ ! -s $dir/log ]
	result $? "the daemon runs" $dir/log
	ktape record -l $dir/time/ --daemon --pidfile $dir/pid 2>$dir/log
	[ $? = 1 ] && grep -q "process $pid is already running" $dir/log
	result $? "a second daemon with this pidfile is refused" $dir/log

	write_marks 1 3
	kill -USR1 "$pid"
	until_true on_disk mark-3-
	result $? "SIGUSR1 writes everything to the disk" $dir/daemon.log
	# Numbers of files: two and three pieces, and a file that is no piece; then the
	# oldest pieces are removed.
	ok=0
	for want in 3 4 4 4; do
		write_marks 1 3
		set -- "$dir"/time/*
		kill -HUP "$pid"
		until_true another_than "$@" &&
			until_true keeps_pieces "$want" || ok=1
	done
	result $ok "SIGHUP begins a new piece" $dir/daemon.log
	until_true keeps_pieces 4 && grep -q foreign $dir/time/000000.ktape.zst
	result $? "the oldest pieces are removed, other files stay" $dir/daemon.log
	kill -TERM "$pid"
	ended "$pid" 10
	result $? "SIGTERM ends the daemon" $dir/daemon.log
	sed 's/^/# /' $dir/daemon.log
	[ ! -e $dir/pid ] && grep -q ' events, .* lost' $dir/daemon.log
	result $? "the summary is in the log, the pidfile is removed" \
		$dir/daemon.log
	ktape record -q -d 1s -e user -l "$dir/time/%H%M%S.ktape" --zstd \
		--keep 2 2>$dir/log && keeps_pieces 3
	result $? "the next run continues with the pieces of the previous one" $dir/log
	rm -rf $dir/time
}

test_time()
{
	mkdir $dir/time
	emit &
	load=$!
	ktape record -q -e sched,irq -l $dir/time/p.ktape.zst --rotate 1s \
		-m overwrite 2>$dir/log &
	recorder=$!
	until_true has_pieces 3
	result $? "pieces end by time" $dir/log
	kill -KILL $recorder $load
	wait
	bad=0
	for piece in "$dir"/time/*; do
		# A piece that was just begun may be empty.
		[ -s "$piece" ] || continue
		ktape dump --all "$piece" >$dir/text 2>>$dir/log || bad=1
	done
	[ $bad = 0 ]
	result $? "all pieces can be read after SIGKILL, the last one too" $dir/log
	ktape record -l /proc/none --daemon --pidfile $dir/pid 2>$dir/log
	[ $? = 1 ] && [ -s $dir/log ] && [ ! -e $dir/pid ]
	result $? "no daemon is started if no piece can be created" $dir/log
	rm -rf $dir/time $dir/text
}

echo "TAP version 13"
need_ktape
# The metadata at the begin of each piece count, too.
test_size 64K --zstd
test_size 100K --no-uring
test_daemon
test_time
echo "1..$n"
