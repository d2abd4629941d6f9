#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_partial.sh FOLDER: ktape convert of a damaged input keeps an earlier output, in each
# format, and writes what could be read beside it; --partial replaces the earlier one.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"
ktape=$out/command/ktape

"$out/make_trace" session whole whole.ktape && cp -r whole damaged || exit
# A byte of a packet in the middle: its checksum is wrong then.
size=$(stat -c %s damaged/cpu0)
printf '\x5a\xa5' | dd of=damaged/cpu0 bs=1 seek=$((size / 2)) conv=notrunc 2>>log
"$ktape" verify damaged >text 2>log
grep -q 'wrong checksum' text || exit

# state PATH: everything of an output
state()
{
	# The temporary folder was in a folder, which has another time then.
	find "$1" \( -type d -printf '%P %i %m\n' -o -printf '%P %i %T@ %m %l\n' \) \
		-type f -exec sha256sum {} + | sort
}

# content PATH: the files of an output
content()
{
	if [ -d "$1" ]; then
		(cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2)
	else
		sha256sum <"$1"
	fi
}

# to FORMAT OUT: the arguments for an output
to()
{
	if [ "$1" = parquet-folder ]; then
		echo "--to parquet:dir=$2"
	else
		echo "--to $1 -o $2"
	fi
}

# convert FORMAT OUT IN ARGUMENT...
convert()
{
	local format=$1 path=$2 in=$3

	shift 3
	# shellcheck disable=SC2046	# words
	timeout 600 "$ktape" convert -q $(to "$format" "$path") --force "$@" "$in" >text 2>log
}

# none_left: there are no temporary names
none_left()
{
	[ -z "$(find . -name '.ktape-*')" ] || { find . -name '.ktape-*' >>log; return 1; }
}

# beside FORMAT: an earlier output of a whole trace stays
beside()
{
	rm -rf new out out.partial*
	convert "$1" new damaged; got=$?
	[ $got = 1 ] && says 'a part of the input is damaged: new has what could be read' || return
	convert "$1" out whole && state out >earlier || return
	# The second time there is an output of the first time, which may be the user's own.
	for beside in out.partial out.partial-2; do
		convert "$1" out damaged; got=$?
		[ $got = 1 ] &&
			says 'a part of the input is damaged: out stays as it was, and what could be read is in '$beside' (' &&
			state out >after && diff earlier after >>log &&
			content new >want && content $beside >have && diff want have >>log &&
			none_left || return
		[ $beside != out.partial ] || state out.partial >first || return
	done
	state out.partial >after && diff first after >>log
}

# in_place FORMAT: --partial
in_place()
{
	rm -rf new out out.partial*
	convert "$1" out whole || return
	convert "$1" out damaged --partial; got=$?
	[ $got = 1 ] && says 'a part of the input is damaged: out has what could be read' &&
		[ ! -e out.partial ] && none_left || return
	convert "$1" new damaged
	# Tables of another conversion are added to a folder: those of this one have to be there.
	content new >want && content out >have && [ -z "$(comm -23 <(sort want) <(sort have))" ]
}

echo "TAP version 13"
formats=$("$ktape" convert --list --json | sed -n 's/^{"name":"\([a-z0-9-]*\)","in":[a-z]*,"out":true,.*/\1/p')
[ "$(echo "$formats" | wc -l)" -ge 10 ]
result $? "there are formats"
for format in $formats parquet-folder; do
	beside "$format"
	result $? "$format: an earlier output stays"
	in_place "$format"
	result $? "$format: --partial replaces it"
done

# From a pipe, which cannot be read again.
"$out/make_trace" session other damaged.ktape
size=$(stat -c %s damaged.ktape)
printf '\x5a\xa5' | dd of=damaged.ktape bs=1 seek=$((size - 20000)) conv=notrunc 2>>log
for format in csv native; do
	rm -rf out out.partial*
	convert $format out whole && state out >earlier
	# shellcheck disable=SC2002	# a pipe is meant
	cat damaged.ktape | convert $format out -
	[ "${PIPESTATUS[1]}" = 1 ] && says 'out stays as it was' && state out >after &&
		diff earlier after >>log && [ -e out.partial ] && none_left
	result $? "$format: from a pipe"
done

# record --split of a file, which promises the same.
rm -rf out out.partial* new
run 0 record --split whole.ktape -o out && state out >earlier
for _ in 1 2; do
	run 1 record --split damaged.ktape -f -o out/ && says 'out/ stays as it was, and what could be read is in out.partial' &&
		state out >after && diff earlier after >>log && [ -f out.partial/metadata ] && none_left
	split=$?
done
run 1 record --split damaged.ktape -o new && content new >want && content out.partial >have &&
	diff want have >>log && [ "$split" = 0 ]
result $? "record --split"

# What has the name beside it stays, whatever it is.
rm -rf out out.partial*
convert csv out whole && state out >earlier
mkdir out.partial && echo notes >out.partial/notes
convert csv out damaged; got=$?
[ $got = 1 ] && says 'what could be read is in out.partial-2 (' && state out >after &&
	diff earlier after >>log && [ "$(ls out.partial)" = notes ] && [ -s out.partial-2 ] && none_left
result $? "a folder has the name of the file beside it"
rm -rf out out.partial*
ln -s nowhere out.partial
convert csv out whole && state out >earlier
convert csv out damaged; got=$?
[ $got = 1 ] && says 'what could be read is in out.partial-2 (' && state out >after &&
	diff earlier after >>log && [ -L out.partial ] && [ ! -e nowhere ] && none_left
result $? "a link has the name of the file beside it"
rm -rf out out.partial*
convert native out whole && state out >earlier
mkdir out.partial && echo notes >out.partial/notes
convert native out damaged; got=$?
[ $got = 1 ] && says 'what could be read is in out.partial-2 (' && state out >after &&
	diff earlier after >>log && [ "$(ls out.partial)" = notes ] && [ -f out.partial-2/metadata ] && none_left
result $? "a folder beside it has files of others"
rm -rf out out.partial*
convert csv out whole && cp -r damaged out.partial && state out >earlier && state out.partial >>earlier
convert csv out out.partial; got=$?
[ $got = 1 ] && says 'what could be read is in out.partial-2 (' && state out >after &&
	state out.partial >>after && diff earlier after >>log && none_left
result $? "an input has the name beside it"

# A link: its target stays, and the other output is beside the target.
rm -rf out out.partial* elsewhere
mkdir elsewhere
convert csv elsewhere/data whole && ln -s elsewhere/data out && state elsewhere/data >earlier
convert csv out damaged; got=$?
[ $got = 1 ] && says 'what could be read is in ./elsewhere/data.partial' &&
	state elsewhere/data >after && diff earlier after >>log && [ -f elsewhere/data.partial ] &&
	[ -L out ]
result $? "a link: beside its target"
timeout 600 "$ktape" convert -q --to csv -o - damaged >text 2>log; got=$?
[ $got = 1 ] && says 'standard output has what could be read' && [ -s text ]
result $? "standard output"

echo "1..$n"
exit $failed
