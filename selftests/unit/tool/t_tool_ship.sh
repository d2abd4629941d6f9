#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_ship.sh FOLDER: pieces of a log are converted and handed over, each once,
# whatever fails or dies in between. The uploader is a script that does as it is told; the
# process that ships is killed at chosen moments, and the files that arrive must be those
# of a run that nothing disturbs.
# shellcheck source=selftests/unit/tool/tool.sh
. "${0%/*}/tool.sh" "$1"
ktape=$out/command/ktape

# Three traces that begin at different times, so that their tables have different names.
"$out/t_lib_linux" --scene scene &&
	run 0 convert -q --to native -o irq -e irq scene &&
	run 0 convert -q --to native -o sched -e sched scene || exit
for piece in irq:a sched:b scene:c; do
	"$out/make_trace" piece ${piece%:*} "$PWD/night/${piece#*:}" || exit
done

# pieces: a log of three pieces, the oldest first
pieces()
{
	rm -rf night
	mkdir night
	cp -r irq night/a && cp -r sched night/b && cp -r scene night/c
	touch -d '2026-01-01 00:00' night/a
	touch -d '2026-01-01 01:00' night/b
	touch -d '2026-01-01 02:00' night/c
}

# Copy the tables of $1 to there/, and note the call. If the file "plan" has a line, it
# is what happens in this call instead: fail, die-before or die-after (SIGKILL to ktape).
cat >uploader <<'EOT'
#!/bin/sh
echo "${1##*/}" >>calls
what=$(head -n 1 plan 2>/dev/null)
sed -i 1d plan 2>/dev/null
[ "$what" = fail ] && exit 7
[ "$what" = die-before ] && kill -9 "$PPID"
[ "$what" = die-before ] && exit 0
mkdir -p there && cp -R "$1"/. there/ || exit 1
[ "$what" = die-after ] && kill -9 "$PPID"
exit 0
EOT
chmod +x uploader

# tables: checksums of what has arrived, by path
tables()
{
	(cd there 2>/dev/null && find . -type f -exec sha256sum {} + | sort -k 2)
}

# shellcheck disable=SC2016	# $1 is of the uploader's shell
uploader='exec ./uploader "$1"'

ship()
{
	timeout 1200 "$ktape" ship --to "$uploader" --backoff 1ms "$@" night >text 2>log.txt
	got=$?
	cat log.txt >>log.all
	return $got
}

echo "TAP version 13"
echo "1..16"

pieces
: >calls
ship --json && [ "$(ls night)" = "" ] && [ "$(sort calls | uniq -c | wc -l)" = 3 ] &&
	[ "$(wc -l <calls)" = 3 ] &&
	grep -qx '{"shipped":3,"left":0,"bad":0,"dropped":0,"dropped_bytes":0}' text &&
	[ "$(find night/.ktape-ship -mindepth 1 ! -name lock)" = "" ]
result $? "each piece is handed over once, and removed"
tables >want
[ "$(grep -c '/capture/' want)" = 3 ] && [ "$(grep -c parquet want)" = 45 ]
result $? "all tables have arrived"

rm -rf there; pieces
printf 'fail\nfail\nfail\n' >plan; : >calls
ship && tables >got && diff want got >>log && [ "$(wc -l <calls)" = 6 ] &&
	grep -q 'exit status 7' log.txt && [ "$(ls night)" = "" ]
result $? "an uploader that fails is tried again"

rm -rf there; pieces
yes fail | head -n 50 >plan; : >calls
ship --tries 3; [ $? = 3 ] && [ "$(echo night/*)" = "night/a night/b night/c" ] && [ "$(wc -l <calls)" = 3 ]
result $? "after --tries failures the pieces are left: exit status 3"
: >plan
ship && tables >got && diff want got >>log && [ "$(ls night)" = "" ]
result $? "the next run ships what was left"

for when in die-before die-after; do
	rm -rf there; pieces
	# The first piece arrives, ktape dies in the second call.
	printf 'go\n%s\n' "$when" >plan; : >calls
	ship; first=$?
	[ -d night/b ] && [ -d night/c ] && [ ! -d night/a ] && [ $first = 137 ] && ship &&
		tables >got && diff want got >>log && [ "$(ls night)" = "" ]
	result $? "SIGKILL while the uploader runs ($when): nothing is lost, nothing is different"
done

# The states of the head of ship_state.c, as a crash leaves them.
rm -rf there; pieces
mkdir -p night/.ktape-ship/a.tmp/event
echo half >night/.ktape-ship/a.tmp/event/half
"$ktape" convert -q --to "parquet:dir=$PWD/night/.ktape-ship/b.ready" night/b 2>>log
# The pieces of d and e are gone: a recorder with --keep removed them.
cp -r night/.ktape-ship/b.ready night/.ktape-ship/d.ready; : >night/.ktape-ship/e.done
: >night/.ktape-ship/c.done; mkdir night/.ktape-ship/c.ready; : >calls
ship && [ "$(sort calls | tr '\n' ' ')" = "a.ready b.ready d.ready " ] && [ "$(ls night)" = "" ] &&
	[ "$(find night/.ktape-ship -mindepth 1 ! -name lock)" = "" ] &&
	[ ! -e there/event/half ]
result $? "every state that a crash can leave: half converted, converted, handed over"

# largest PIECE: the KiB of the largest file that it is converted to
largest()
{
	rm -rf tables && "$ktape" convert -q --to parquet:dir=tables "$1" 2>>log &&
		find tables -type f -printf '%s\n' | sort -n |
		awk 'END { print int(($1 + 1023) / 1024) }'
}

# The tables of piece c, and only these, are too large to be written.
rm -rf there; pieces; : >calls
limit=$(largest night/a) && [ "$(largest night/b)" -le "$limit" ] && [ "$(largest night/c)" -gt "$limit" ]
sizes=$?
# limited: ship while files can have that size
limited()
(
	trap '' XFSZ
	ulimit -f "$limit"
	ship
)
[ $sizes = 0 ] && { limited; [ $? = 1 ]; } && [ "$(ls night)" = c ] && [ "$(wc -l <calls)" = 2 ] &&
	grep -q 'cannot be converted' log.txt && { ship; [ $? = 1 ]; } && [ "$(ls night)" = c ]
result $? "a piece that cannot be converted stays, the others are shipped: exit status 1"

rm -rf there; pieces; : >calls
size=$(du -sb night/c | cut -f 1)
ship --json --max "$size"; [ $? = 3 ] && grep -q '"dropped":[12],' text &&
	[ "$(head -n 1 calls)" != a.ready ] && [ "$(tail -n 1 calls)" = c.ready ]
result $? "--max: the oldest pieces go first, and are counted: exit status 3"

# A recorder has its piece locked; a second ktape ship finds the folder locked.
rm -rf there; pieces; : >calls
exec 5<night/c
flock -x 5
ship && [ "$(ls night)" = c ] && [ "$(wc -l <calls)" = 2 ]
locked=$?
exec 5<&-
mkdir -p night/.ktape-ship
exec 6>night/.ktape-ship/lock
flock -x 6
ship; [ $? = 1 ] && grep -q 'another ktape ship' log.txt && [ $locked = 0 ]
result $? "a piece that is being recorded waits; two ktape ship exclude each other"
exec 6>&-

# Tables that stay on this machine. The folder may be that of the log: it is no piece.
# in_folder FOLDER TO: there are the tables that an uploader got, and nothing else
in_folder()
{
	rm -rf there; pieces
	uploader=$2
	ship && ship && [ -z "$(find "$1" -name '.*' -type f)" ] || return
	[ "$1" -ef there ] || mv "$1" there
	tables >got && diff want got >>log
}

in_folder night/parquet parquet && [ "$(ls night)" = "" ]
result $? "--to parquet: the tables are in the folder of the log"
in_folder other/tables "parquet:dir=other/tables" && [ "$(ls night)" = "" ] &&
	in_folder "$PWD/there" "file://$PWD/there"
result $? "--to parquet:dir=DIR and file:///PATH: they are in another folder"

# On another file system they are copied.
far=$(mktemp -d /dev/shm/ktape.XXXXXX)
trap 'rm -rf "$far"' EXIT
rm -rf there; pieces
uploader="file://$far"
ship && [ "$(stat -c %d "$far")" != "$(stat -c %d night)" ] && cp -r "$far" there &&
	tables >got && diff want got >>log
result $? "a folder on another file system gets copies"

# A crash in the middle: some files are there, by a link or by a copy, and a part of one.
uploader=parquet
rm -rf there; pieces
mkdir -p night/.ktape-ship night/parquet
"$ktape" convert -q --to "parquet:dir=$PWD/night/.ktape-ship/a.ready" night/a 2>>log &&
	cp -rl night/.ktape-ship/a.ready/event night/parquet/ &&
	cp -r night/.ktape-ship/a.ready/thread night/parquet/
made=$?
for file in night/parquet/event/*/*/*/*.parquet; do
	echo half >"${file%/*}/.${file##*/}.part"
done
[ $made = 0 ] && [ "$(find night/parquet -name '.*.part' | wc -l)" = 1 ] && ship && [ "$(find night/parquet -name '.*' -type f)" = "" ] && mv night/parquet there &&
	tables >got && diff want got >>log
result $? "tables of which a crash left some are put there again"

rm -rf there; pieces
: >night/parquet
ship --tries 2; [ $? = 3 ] && grep -q 'cannot be put into night/parquet' log.txt &&
	[ -d night/a ] && [ -d night/c ] && rm night/parquet && ship &&
	mv night/parquet there && tables >got && diff want got >>log
result $? "a folder that cannot be made is a failure that is tried again"
exit $failed
