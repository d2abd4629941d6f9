#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_ship.sh FOLDER: pieces of a log are converted and handed over, each once,
# whatever fails or dies in between. The uploader is a script that reads a file for what to do; the
# process that ships is killed at chosen moments, and the files that arrive must be those
# of a run that nothing disturbs.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"
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
name=${1##*/}
echo "${name%%.*}" >>calls
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
echo "1..21"

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

# key PIECE: let the uploader fail with this piece alone, and print what its state is called
key()
{
	local to=$uploader others

	mkdir others && for others in night/*; do
		[ "$others" = "night/$1" ] || mv "$others" others/
	done
	mkdir -p night/.ktape-ship
	mv night/.ktape-ship others/state
	uploader='exit 7'
	ship --tries 1
	uploader=$to
	mv -f others/state/* night/.ktape-ship/ 2>/dev/null
	rmdir others/state
	[ -z "$(ls others)" ] || mv others/* night/
	rmdir others
	others=$(cd night/.ktape-ship && echo "$1".*.ready)
	[ -d "night/.ktape-ship/$others" ] && echo "${others%.ready}"
}

# The states of the head of ship/state.c, as a crash leaves them.
rm -rf there; pieces
state=night/.ktape-ship
key_a=$(key a) && key_b=$(key b) && key_c=$(key c) || echo "no keys" >>log
mv "$state/$key_a.ready" "$state/$key_a.tmp"
echo half >"$state/$key_a.tmp/event/half"
# The pieces of d and e are gone: a recorder with --keep removed them.
cp -r "$state/$key_b.ready" "$state/d.${key_b#b.}.ready"; : >"$state/e.${key_b#b.}.done"
: >"$state/$key_c.done"; : >calls
ship && [ "$(sort calls | tr '\n' ' ')" = "a b d " ] && [ "$(ls night)" = "" ] &&
	[ "$(find night/.ktape-ship -mindepth 1 ! -name lock)" = "" ] &&
	[ ! -e there/event/half ]
result $? "every state that a crash can leave: half converted, converted, handed over"

# Another piece gets the name of one whose tables wait: each is shipped as what it is.
rm -rf there; pieces; : >calls
cp -r sched later && "$out/make_trace" piece later "$PWD/night/a" &&
	key a >/dev/null && rm -r night/* && cp -r later night/a && ship --json && grep -q '"shipped":2,"left":0' text && [ "$(ls night)" = "" ] &&
	[ "$(tr '\n' ' ' <calls)" = "a a " ] && [ "$(find night/.ktape-ship -mindepth 1 ! -name lock)" = "" ] &&
	tables | grep -c '/capture/' | grep -qx 2
result $? "a piece that has the name of an earlier one is not taken for it"

# The same with marks that it was shipped, and that it cannot be converted.
rm -rf there; pieces; : >calls
key=$(key a) && rm -r "$state/$key.ready" && : >"$state/$key.bad" && : >"$state/b.done" && : >"$state/c.bad" &&
	rm -r night/a && cp -r later night/a && ship --json && grep -q '"shipped":3,"left":0,"bad":0' text
result $? "marks of an earlier piece of the name, and those of earlier versions, do not count"

# Something has the piece locked, or another piece has its name, before it is removed.
rm -rf there; pieces; : >calls
to=$uploader
uploader='exec 5<night/a; flock -x 5; (sleep 1000 & echo $! >sleeper)'
rm -r night/b night/c
ship; kill "$(cat sleeper)"; [ -f night/a/metadata ] && uploader='mv night/a old && cp -r old night/a' &&
	rm -r night/.ktape-ship && ship && [ -f night/a/metadata ]
result $? "a piece that is begun under the name of one that was shipped stays"
rm -rf old
uploader=$to

# A piece goes away between the check of the folder and its conversion.
rm -rf there; pieces; : >calls
uploader='rm -rf night/b night/c'
ship --json && grep -q '"shipped":1,"left":0,"bad":0' text &&
	[ "$(find night/.ktape-ship -mindepth 1 ! -name lock)" = "" ]
result $? "a piece that went away gets no mark"
uploader=$to

# What someone else has put into the folder of the state.
rm -rf there; pieces; : >calls
echo photo >photo
# shellcheck disable=SC2016	# $1 is of the uploader's shell
uploader='ln -s ../../photo "${1%.ready}.new"'
ship; linked=$?
uploader=$to
pieces
mkdir night/.ktape-ship && ln -s ../../other night/.ktape-ship/lock
ship; [ $? = 1 ] && [ $linked = 0 ] && [ "$(cat photo)" = photo ] && [ ! -e other ] && [ -d night/c ] &&
	rm night/.ktape-ship/lock && chmod o+w night/.ktape-ship && { ship; [ $? = 1 ]; } &&
	grep -q 'others can write' log.txt && [ -d night/c ]
result $? "nothing is written through a link, nor in a folder that others can write to"

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
	[ "$(head -n 1 calls)" != a ] && [ "$(tail -n 1 calls)" = c ]
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
