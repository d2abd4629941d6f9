#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# ktape record -l: a log in pieces, by size, by time and by signals, in the
# foreground and in the background; every event is in exactly one piece.

# shellcheck source=selftests/guest/record.sh
. "${0%/*}/record.sh"

# mark FROM TO: text events, each with a number of its own
mark()
{
	i=$1
	while [ "$i" -le "$2" ]; do
		echo "mark-$i-" >/dev/ktape_mark
		i=$((i + 1))
	done
}

# marks: how many different ones the JSON in all.json has, and how many in all
marks()
{
	grep -o 'mark-[0-9]*-' $dir/all.json | sort | uniq -c |
		awk '{ n += $1; kinds++ } END { print kinds + 0, n + 0 }'
}

# read_pieces FOLDER: each alone, one after the other; all.json has their lines
# without what each begins with
read_pieces()
{
	: >$dir/all.json
	: >$dir/dump.err
	pieces=0
	bad=0
	for piece in "$1"/*; do
		pieces=$((pieces + 1))
		ktape dump --json "$piece" >$dir/one.json 2>>$dir/dump.err ||
			bad=$((bad + 1))
		grep -q '"ring":"registry".*"event":"profile"\|"event":"session"' \
			$dir/one.json || bad=$((bad + 1))
		grep -vE '"ring":"registry"|"event":"time_extend"' \
			$dir/one.json >>$dir/all.json
	done
	rm -f $dir/one.json
}

# balance: what the event rings should hold by the ledger, and what all pieces do
balance()
{
	awk '
		function field(name,  text) {
			if (!match($0, "\"" name "\":[0-9]+"))
				return 0
			text = substr($0, RSTART, RLENGTH)
			sub(/.*:/, "", text)
			return text
		}
		/"ring":"event"/ { held++ }
		/"event":"ledger"/ && /"fields":.*"ring":(0|"event").*"moment":0[,}]/ {
			said += field("emitted") - field("filtered")
			said -= field("full") + field("nested")
			said -= field("too_big") + field("shed") + field("rate")
		}
		END { print said + 0, held + 0 }' $dir/all.json
}

marked=300
busy=4
if [ "${KTAPE_SCALE:-1}" != 1 ]; then
	marked=120
	busy=12
fi

# test_size SIZE OPTION
test_size()
{
	mkdir /scratch/size
	cat >$dir/load <<-EOT
	emit $busy &
	i=1
	while [ \$i -le $marked ]; do
		echo "mark-\$i-" >/dev/ktape_mark
		[ \$((i % 30)) != 0 ] || sleep 0.4
		i=\$((i + 1))
	done
	wait
	# How many events a second has is nobody's promise.
	for _ in \$(seq 60); do
		set -- /scratch/size/*
		[ \$# -lt 3 ] || break
		emit 1
	done
	EOT
	ktape record -p default -l /scratch/size/%H -b 256K -B 16K \
		--rotate "$@" -- sh $dir/load 2>$dir/log
	result $? "a log is recorded, $*" $dir/log
	read_pieces /scratch/size
	found=$(wc -l <$dir/all.json)
	read -r kinds nr <<-EOT
	$(marks)
	EOT
	read -r said held <<-EOT
	$(balance)
	EOT
	echo "# $pieces pieces, $(summary $dir/log) recorded, $found read;" \
		"event rings: $said by the ledger, $held read; $nr marks"
	[ $pieces -ge 3 ] && [ $bad = 0 ]
	result $? "it has pieces that can be read alone, $*" $dir/dump.err
	[ "$found" = "$(summary $dir/log)" ] && [ "$said" = "$held" ] &&
		[ "$held" -ge 1000 ]
	result $? "together they hold what was recorded, $*" $dir/log
	[ "$kinds" = $marked ] && [ "$nr" = $marked ]
	result $? "each event is in one of them, $*" $dir/log
	rm -rf /scratch/size
}

# pieces FOLDER: how many
pieces()
{
	find "$1" -name '*.ktape*' | wc -l
}

# until COMMAND...: within some seconds
until_true()
{
	for _ in $(seq $((30 * ${KTAPE_SCALE:-1}))); do
		! "$@" || return 0
		sleep 0.5
	done
	return 1
}

# on_disk TEXT: in any piece, while the recorder runs
on_disk()
{
	for piece in "$dir"/time/*.zst; do
		! ktape dump "$piece" 2>/dev/null | grep -q "$1" || return 0
	done
	return 1
}

has_pieces()
{
	[ "$(pieces $dir/time)" -ge "$1" ]
}

# That many and no more: a piece goes a moment after the next one has come.
keeps_pieces()
{
	[ "$(pieces $dir/time)" = "$1" ]
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
	result $? "it runs" $dir/log
	ktape record -l $dir/time/ --daemon --pidfile $dir/pid 2>$dir/log
	[ $? = 1 ] && grep -q "process $pid runs already" $dir/log
	result $? "there is only one with this pidfile" $dir/log

	mark 1 3
	kill -USR1 "$pid"
	until_true on_disk mark-3-
	result $? "SIGUSR1 brings everything onto the disk" $dir/daemon.log
	# Two and three pieces, and a foreign one; then the oldest go.
	ok=0
	for want in 3 4 4 4; do
		mark 1 3
		kill -HUP "$pid"
		sleep 1
		until_true has_pieces "$want" || ok=1
	done
	result $ok "SIGHUP begins another piece" $dir/daemon.log
	until_true keeps_pieces 4 && grep -q foreign $dir/time/000000.ktape.zst
	result $? "the oldest pieces go, other files stay" $dir/daemon.log
	kill -TERM "$pid"
	ended "$pid" 10
	result $? "SIGTERM ends it" $dir/daemon.log
	sed 's/^/# /' $dir/daemon.log
	[ ! -e $dir/pid ] && grep -q ' events, .* lost' $dir/daemon.log
	result $? "its last words are in the log, its pidfile is gone" \
		$dir/daemon.log
	ktape record -q -d 1s -e user -l "$dir/time/%H%M%S.ktape" --zstd \
		--keep 2 2>$dir/log && [ "$(pieces $dir/time)" = 3 ]
	result $? "the next run knows the pieces of the one before" $dir/log
	rm -rf $dir/time
}

test_time()
{
	mkdir $dir/time
	emit 6 &
	ktape record -q -e sched,irq -l $dir/time/p.ktape.zst --rotate 1s \
		-m overwrite 2>$dir/log &
	recorder=$!
	until_true has_pieces 3
	result $? "pieces end by time" $dir/log
	kill -KILL $recorder
	wait
	bad=0
	for piece in "$dir"/time/*; do
		# One that was just begun may have nothing yet.
		[ -s "$piece" ] || continue
		ktape dump "$piece" >$dir/text 2>>$dir/log || bad=1
	done
	[ $bad = 0 ]
	result $? "what SIGKILL leaves can be read, the last piece too" $dir/log
	ktape record -l /proc/none --daemon --pidfile $dir/pid 2>$dir/log
	[ $? = 1 ] && [ -s $dir/log ] && [ ! -e $dir/pid ]
	result $? "where no piece can be made no daemon is left" $dir/log
	rm -rf $dir/time $dir/text
}

echo "TAP version 13"
need_ktape
# With metadata of 57 KiB in each piece.
test_size 64K --zstd
test_size 100K --no-uring
test_daemon
test_time
echo "1..$n"
