#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_ship_foreign.sh FOLDER: ktape ship takes pieces of its log, and nothing else of the
# folder changes: content, inode, time, mode.  The folder has what others may keep there, and
# things that look like pieces.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"
ktape=$out/command/ktape
log=$PWD/night/ktape-%Y%m%d-%H%M%S

"$out/t_lib_linux" --scene scene &&
	run 0 convert -q --to native -o irq -e irq scene &&
	run 0 convert -q --to native -o sched -e sched scene &&
	run 0 convert -q --to lttng -o lttng irq || exit

# piece TRACE NAME [LOG]: put a piece there
piece()
{
	cp -r "$1" "$2" && "$out/make_trace" piece "$2" "${3:-$log}" &&
		touch -d '2026-01-01' "$2"
}

# pieces: the log has two, a folder and a file
pieces()
{
	rm -rf night/ktape-20260101-000000 night/ktape-20260101-010000-1
	piece irq night/ktape-20260101-000000 &&
		piece sched night/ktape-20260101-010000-1
}

mkdir night elsewhere
pieces || exit

# ---- what is not of the log ----------------------------------------------------------------
echo photo >night/photo.jpg
echo notes >night/notes.txt
echo notes >night/ktape-20260102-000000
mkdir -p night/holiday/2026 night/ktape-20260102-010000 night/empty night/ktape-20260102-020000
echo photo >night/holiday/2026/1.jpg
echo photo >night/ktape-20260102-010000/1.jpg
# Traces: with no log, of another tracer, of a log elsewhere, and as files.
cp -r irq night/trace
cp -r irq night/ktape-20260103-000000
cp -r lttng night/lttng
cp -r lttng night/ktape-20260103-010000
piece irq night/ktape-20260103-020000 "$PWD/elsewhere/ktape-%Y%m%d-%H%M%S"
"$out/make_trace" session night/ktape-20260103-030000 night/session.ktape
# A copy of a piece, and an excerpt of one that has a name like a piece.
cp -r night/ktape-20260101-000000 night/keep-this
cp -r night/ktape-20260101-000000 night/ktape-20260101-000000.old
run 0 convert -q --to native -o night/ktape-20260104-000000 night/ktape-20260101-000000
# A piece into which someone has put a file, a folder, a link.
for what in 1 2 3; do
	piece irq night/ktape-20260105-0${what}0000
done
echo notes >night/ktape-20260105-010000/notes.txt
mkdir night/ktape-20260105-020000/cpu77
ln -s ../photo.jpg night/ktape-20260105-030000/cpu77
# Links, to a piece of the log as well.
piece irq elsewhere/ktape-20260106-000000
mkdir elsewhere/photos
echo photo >elsewhere/photos/1.jpg
ln -s ../elsewhere/ktape-20260106-000000 night/ktape-20260106-000000
ln -s ../elsewhere/photos night/ktape-20260106-010000
ln -s ../elsewhere/photos/1.jpg night/ktape-20260106-020000
ln -s nowhere night/ktape-20260106-030000
mkfifo night/fifo night/ktape-20260107-000000
mkdir night/ktape-20260107-010000 night/ktape-20260107-020000
mkfifo night/ktape-20260107-010000/metadata
ln -s ../ktape-20260101-000000/metadata night/ktape-20260107-020000/metadata
# The tables of an earlier target, under its name and under another one.
"$ktape" convert -q --to "parquet:dir=$PWD/night/parquet" scene 2>>log
cp -r night/parquet night/ktape-20260108-000000
echo hidden >night/.hidden

# things: all that is not of the log; FOLDER... may be left out
things()
{
	local but=()

	for folder; do
		but+=(-path "$folder" -prune -o)
	done
	find night elsewhere -path night -o -path elsewhere -o -path night/ktape-20260101-000000 -prune -o \
		-path night/ktape-20260101-010000-1 -prune -o -path night/.ktape-ship -prune -o \
		"${but[@]}" -printf '%p %i %T@ %m %n %s %l\n' |
		sort
	find night elsewhere -path night/ktape-20260101-000000 -prune -o \
		-path night/ktape-20260101-010000-1 -prune -o -path night/.ktape-ship -prune -o \
		"${but[@]}" -type f -exec sha256sum {} + | sort
}

left()
{
	find night -maxdepth 1 \( -name ktape-20260101-000000 -o -name ktape-20260101-010000-1 \) | wc -l
}

# shipped STATUS PIECES ARGUMENT...: ship; so many pieces of the log are left, and nothing
# else has changed
shipped()
{
	local want=$1 pieces=$2

	shift 2
	pieces && things >before || return
	timeout 600 "$ktape" ship --backoff 1ms "$@" night >text 2>log
	got=$?
	[ $got = "$want" ] || echo "exit status $got, not $want: $*" >>log
	[ "$(left)" = "$pieces" ] || echo "$(left) pieces are left, not $pieces: $*" >>log
	things >after
	diff before after >>log && [ $got = "$want" ] && [ "$(left)" = "$pieces" ]
}

echo "TAP version 13"
things >all
# As many as this script makes: otherwise it would compare nothing.
[ "$(wc -l <all)" -gt 200 ] && grep -q ' night/holiday/2026/1.jpg$' all
result $? "the folder is full of things of others"

shipped 3 0 --to true && says '30 entries are no finished pieces of this log'
result $? "pieces go, nothing else"
[ "$(grep -c 'no finished pieces' log)" = 1 ] && says "pieces of the log $PWD/elsewhere/ktape-%Y"
result $? "what stays is reported once"
shipped 0 0 --to true --log "$log" && says '30 entries are no finished' &&
	! says 'were moved there'
result $? "--log with the name of the log"
shipped 0 0 --to true --log night/
result $? "--log with its folder"
shipped 3 0 --to true --json --quiet && grep -q '"shipped":2,"left":0,"bad":0,"dropped":0' text
result $? "--json"
shipped 3 2 --to true --keep && rm -rf night/.ktape-ship
result $? "--keep"
shipped 3 2 --to 'exit 7' --tries 2 && rm -rf night/.ktape-ship
result $? "an uploader that fails"
shipped 3 0 --to true --max 1 --json && grep -q '"shipped":0,.*"dropped":2' text
result $? "--max removes pieces, nothing else"
# What others have does not count: there is room for the pieces alone.
pieces
size=$(du -sb night/ktape-20260101-0*0000* | awk '{ n += $1 } END { print n }')
shipped 3 0 --to true --max "$size" --json && grep -q '"shipped":2,.*"dropped":0' text
result $? "--max counts pieces, nothing else"
shipped 3 2 --to 'exit 7' --tries 1 --max "$size" --log "$log" && rm -rf night/.ktape-ship
result $? "--max, --log and an uploader that fails"
shipped 0 2 --to true --log /nowhere/x && [ "$("$ktape" ship --to true --json --log /nowhere/x night 2>log)" = \
	'{"shipped":0,"left":0,"bad":0,"dropped":0,"dropped_bytes":0}' ]
result $? "--log with the name of another log takes nothing"
shipped 3 0 --to "parquet:dir=$PWD/tables" && shipped 3 0 --to "file://$PWD/tables" --max 1G
result $? "to a folder elsewhere"

# The earlier tables stay as they are beside the new ones.
pieces && things night/parquet >before && find night/parquet -type f -exec ls -i {} + | sort >old
timeout 600 "$ktape" ship --to parquet --max 1G night 2>log
got=$?
things night/parquet >after
find night/parquet -type f -exec ls -i {} + | sort >new
diff before after >>log && [ $got = 3 ] && [ "$(left)" = 0 ] && [ -z "$(comm -23 old new)" ] &&
	[ "$(wc -l <new)" -gt "$(wc -l <old)" ]
result $? "to the folder that has earlier tables"
shipped 3 0 --to 'true' --max 1
result $? "its tables are data for another target"

# --follow looks again and again, until a signal.
pieces && things >before
"$ktape" ship --to true --follow --max 1G night 2>log &
follower=$!
until [ "$(left)" = 0 ]; do
	kill -0 $follower || break
	sleep 0.1
done
piece irq waiting && mv waiting night/ktape-20260101-000000
until [ "$(left)" = 0 ]; do
	kill -0 $follower || break
	sleep 0.1
done
kill -TERM $follower
wait $follower
got=$?
things >after
diff before after >>log && [ $got = 3 ] && [ "$(left)" = 0 ] && [ "$(grep -c 'no finished pieces' log)" = 1 ]
result $? "--follow"

# A piece changes between its conversion and its removal.
pieces && things >before
cat >uploader <<-'EOT'
	#!/bin/sh
	case $1 in */ktape-20260101-000000.*) ;; *) exit 0 ;; esac
	mv night/ktape-20260101-000000 elsewhere/piece
	mkdir night/ktape-20260101-000000
	echo photo >night/ktape-20260101-000000/1.jpg
EOT
chmod +x uploader
# shellcheck disable=SC2016	# $1 is of the uploader's shell
timeout 600 "$ktape" ship --to './uploader "$1"' night >text 2>log
got=$?
[ $got = 3 ] && [ "$(cat night/ktape-20260101-000000/1.jpg)" = photo ] && [ -f elsewhere/piece/metadata ]
result $? "what has the name of a piece that was shipped stays"
rm -rf elsewhere/piece night/ktape-20260101-000000
things >after
diff before after >>log
result $? "and so does everything else"

# A state that is a link to a folder of others.
rm -rf night/.ktape-ship
mkdir elsewhere/state
mkdir elsewhere/state/a.ready elsewhere/state/b.tmp
: >elsewhere/state/c.done
ln -s ../elsewhere/state night/.ktape-ship
shipped 1 2 --to true
result $? "a link in place of its own folder is refused"

# Pieces that are files.
rm -rf night/* night/.[!.]*
echo notes >night/20260101.ktape
cp night/20260101.ktape night/notes
"$out/make_trace" piece-file irq night/20260102.ktape "$PWD/night/%Y%m%d.ktape" &&
	cp night/20260102.ktape night/mine.ktape &&
	timeout 600 "$ktape" ship --to true --json night >text 2>log &&
	grep -q '"shipped":1,"left":0' text &&
	[ "$(ls night)" = "$(printf '20260101.ktape\nmine.ktape\nnotes')" ]
result $? "a piece that is a file"

# A log whose name has no conversions: its first piece is a folder of that name.
rm -rf night/* night/.[!.]*
piece irq night/piece "$PWD/night/piece" && piece sched night/piece-1 "$PWD/night/piece" &&
	timeout 600 "$ktape" ship --to true --json --log "$PWD/night/piece" night >text 2>log &&
	grep -q '"shipped":2,"left":0' text && [ -z "$(ls night)" ]
result $? "--log with a name that is that of its first piece"

# Tables that wait are of the log that their piece was of.
rm -rf night/* night/.[!.]*
piece irq night/piece "$PWD/night/piece" &&
	! "$ktape" ship --to 'exit 7' --tries 1 night >text 2>log && mv night/piece elsewhere/gone &&
	"$ktape" ship --to ': >handed' --log "$PWD/night/other" night >text 2>log && [ ! -e handed ] &&
	"$ktape" ship --to ': >handed' --log "$PWD/night/piece" night >text 2>log && [ -e handed ]
result $? "--log hands over no tables of another log"

# A log whose folders have the date in their names, below a link.
rm -rf night/* night/.[!.]*
mkdir -p night/real/20260101 && ln -s real night/link &&
	piece irq night/real/20260101/piece "$PWD/night/link/%Y%m%d/piece" &&
	timeout 600 "$ktape" ship --to true --json night/link/20260101 >text 2>log &&
	grep -q '"shipped":1,"left":0' text
result $? "a log below a link"

# The folder of a log was renamed: its pieces are not taken, which is no success.
piece irq night/real/20260101/piece "$PWD/night/earlier/piece"
timeout 600 "$ktape" ship --to true --json night/real/20260101 >text 2>log
[ $? = 3 ] && grep -q '"shipped":0' text && says "$PWD/night/earlier/piece" &&
	[ -d night/real/20260101/piece ]
result $? "pieces of a log elsewhere: exit status 3"

echo "1..$n"
exit $failed
