#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_open.sh FOLDER: ktape convert --open, with a browser that keeps what it is given.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1" || exit 2

"$out/make_trace" session t t.kt || exit
mkdir bin tmp
cat >bin/xdg-open <<'EOT'
#!/bin/sh
cp "$1" "$KEPT/page" && stat -c %a "${1%/*}" >"$KEPT/mode" && echo "$1" >"$KEPT/new" &&
	mv "$KEPT/new" "$KEPT/opened"
EOT
chmod +x bin/xdg-open
export PATH="$work/bin:$PATH" KEPT=$work TMPDIR=$work/tmp

# opened: wait until the browser has been run
opened()
{
	for ((i = 0; i < 600; i++)); do
		[ ! -e opened ] || return 0
		sleep 0.1
	done
	echo "xdg-open was not run" >>log
	return 1
}

# wait_open SIGNAL ARGUMENT...: run convert --open, end it by a signal when the page is
# open, and set status
wait_open()
{
	local name=$1 pid
	shift
	rm -f opened page mode
	# A shell without job control lets what is in the background ignore SIGINT.
	env --default-signal=INT "$out/command/ktape" convert --open "$@" \
		>text 2>log &
	pid=$!
	opened || { kill $pid; return 1; }
	kill -"$name" $pid
	wait $pid
	status=$?
}

test_temporary()
{
	run 0 convert -q -t html -o want.html t
	for name in INT TERM HUP; do
		wait_open $name -q t && [ "$status" = 0 ] && cmp page want.html &&
			[ "$(cat mode)" = 700 ] && [ -z "$(ls tmp)" ] &&
			grep -qxF "$(cat opened)   (Ctrl-C removes it)" text
		result $? "a page that only the user can read, until SIG$name"
	done
	wait_open TERM -q -e irq --to html t && [ "$status" = 0 ] && ! cmp -s page want.html
	result $? "options of convert select what is in it"
	cp -R t bad && printf '\377' | dd of=bad/cpu0 bs=1 seek=200 conv=notrunc 2>/dev/null
	rm -f opened
	wait_open TERM -q bad && [ "$status" = 1 ] && [ -z "$(ls tmp)" ]
	result $? "a damaged trace has a page, too, and the exit status says so"
}

test_named()
{
	rm -f opened
	run 0 convert -q --open -o mine.html t && opened && cmp mine.html want.html &&
		[ "$(cat opened)" = mine.html ] && [ -z "$(ls tmp)" ]
	result $? "with -o the page stays, and ktape does not wait"
	rm -f opened
	run 1 convert -q --open -o mine.html nothere && [ ! -e opened ]
	result $? "an earlier page is not opened after a failure"
}

test_refused()
{
	run 2 convert --open --to csv t && says 'a browser shows only the format html'
	result $? "another format"
	run 2 convert --open -o - t && says 'needs a file'
	result $? "standard output"
	run 2 convert --open && [ -z "$(ls tmp)" ]
	result $? "no input"
	run 1 convert -q --open nothere && [ -z "$(ls tmp)" ] && [ ! -e opened ]
	result $? "an input that does not exist leaves nothing behind"
	TMPDIR=$work/none run 1 convert -q --open t && says "$work/none/ktape-"
	result $? "no place for a temporary folder"
	cp bin/xdg-open keep && rm bin/xdg-open && mkdir only &&
		ln -s "$(command -v timeout)" only &&
		PATH=$work/only run 0 convert -q --open -o mine.html t &&
		says 'xdg-open cannot be run'
	result $? "without xdg-open the page is written"
	PATH=$work/only run 1 convert -q --open t </dev/null && says '-o FILE keeps it' &&
		[ -z "$(ls tmp)" ]
	result $? "without a browser and a terminal nothing waits, and nothing is left"
	ln -s "$(type -P false)" only/xdg-open &&
		PATH=$work/only run 1 convert -q --open t </dev/null &&
		says 'has found no browser' && [ -z "$(ls tmp)" ]
	result $? "nor if xdg-open finds no browser"
}

echo "TAP version 13"
test_temporary
test_named
test_refused
echo "1..$n"
exit $failed
