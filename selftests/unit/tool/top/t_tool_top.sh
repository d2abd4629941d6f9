#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_top.sh FOLDER: test ktape top: lines and JSON of traces, pipes and growing files;
# then in a terminal of tmux the screen, its keys, and that every end of the command
# leaves the terminal as it was.
# shellcheck disable=SC2317	# until_true calls functions by their names
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"

"$out/t_lib_linux" --scene scene && "$out/make_trace" session whole whole.kt &&
	"$out/make_trace" pipe 2 >both.kt || exit
ulimit -c 0

# until_true COMMAND...: wait until it succeeds, at most 60 s
until_true()
{
	for _ in $(seq 600); do
		"$@" && return
		sleep 0.1
	done
	echo "never true: $*" >>log
	return 1
}

has_lines()
{
	[ "$(wc -l <"$1")" -ge "$2" ]
}

prints()
{
	grep -qE -- "$1" text || { echo "does not print: $1" >>log; return 1; }
}

test_lines()
{
	run 0 top -i scene -t 5us && lines 6 &&
		prints '^ +0.000006000 +5.00 us +85.00% +10.00% +0.00% +2400000 +0 +2.90 us +3.00 us +-$'
	result $? "lines: one for each interval"
	run 0 top -i scene -t 5us -n 2 -k 1 -s wait && lines 5 &&
		prints '^ +100 app +40.00% ran 2.00 us, waited 2.90 us, longest 2.90 us, 1 switches'
	result $? "lines: threads, their order, a number of intervals"
	run 0 top -i scene -g work -k 9 && lines 3 &&
		run 0 top -i scene -g 101 -k 9 && prints 'wor"ker.xff'
	result $? "lines: filter; control characters in names are escaped"
	"$out/t_lib_linux" --lossy lossy && run 0 top -i lossy -j &&
		prints '"lost":5,"lost_total":5,'
	result $? "JSON: losses"
	run 0 top -i whole -j -t 10us && mv text dir && run 0 top -i whole.kt -j \
		-t 10us && mv text file && cmp dir file >>log 2>&1 &&
		run 0 top -i - -j -t 10us <whole.kt && cmp dir text >>log 2>&1
	result $? "JSON: a directory, a file and standard input give the same"
	run 0 top -i - -j -t 10us < <(cat whole.kt) && cmp dir text >>log 2>&1
	result $? "JSON: and so does a pipe"
	if command -v python3 >/dev/null; then
		run 0 stats -j whole && mv text stats && python3 - >>log 2>&1 <<-'EOT'
			import json
			whole = json.load(open('stats'))
			parts = [json.loads(x) for x in open('dir')]
			assert len(parts) > 3, len(parts)
			assert sum(p['span_ns'] for p in parts) == whole['span_ns']
			for name in 'run_ns', 'idle_ns', 'irq_ns', 'switches':
			    a = sum(c[name] for p in parts for c in p['cpus'])
			    b = sum(c[name] for c in whole['cpus'])
			    assert abs(a - b) <= len(parts), (name, a, b)
		EOT
		result $? "JSON: the intervals add up to what stats prints"
	else
		echo "ok $((n += 1)) - JSON: adds up # SKIP no python3"
	fi
}

test_usage()
{
	run 2 top -i scene -j -l && run 2 top -i scene -S 1 && run 2 top -f &&
		run 2 top -i scene -t 0 && run 2 top -i scene -n 0 &&
		run 2 top -i scene -s cpu && run 2 top scene
	result $? "wrong options are refused"
	run 1 top -i nothing && says 'nothing: No such file' &&
		run 1 top --device /dev/null && says '/dev/null'
	result $? "a trace or device that does not exist"
	printf '\0\1\2\3' >odd
	run 1 top -i odd
	result $? "a file that is no trace"
	run 0 convert -q -t rkh -o x.rkh scene && run 1 top -i x.rkh &&
		says 'only native traces'
	result $? "a trace of another format"
}

# events: print the sum of the events of all intervals on standard input
events()
{
	sed 's/.*"events":\([0-9]*\),.*/\1/' | awk '{ n += $1 } END { print n }'
}

# A file that grows: the intervals of the first half come before the second half is
# written; SIGTERM ends it.
test_growing()
{
	local half pid
	# Eight of sixteen packets.
	half=$(($(stat -c %s both.kt) - 8 * 4096))

	head -c $half both.kt >growing
	"$out/command/ktape" top -i growing -f -j -t 500ns >text 2>log &
	pid=$!
	until_true has_lines text 2 && tail -c +$((half + 1)) both.kt >>growing &&
		until_true has_lines text 12 && kill -TERM $pid && wait $pid &&
		cp text grown && run 0 top -i both.kt -j -t 500ns &&
		[ "$(events <text)" = "$(events <grown)" ]
	result $? "a file that grows is followed, and SIGTERM ends it"
	kill $pid 2>/dev/null
}

# ---- the screen ---------------------------------------------------------------------

export TMUX_TMPDIR=$work

pane()
{
	tmux -f /dev/null "$@"
}

shows()
{
	pane capture-pane -p | grep -qE -- "$1"
}

hides()
{
	! shows "$1"
}

settings()
{
	stty -F "$tty" -g
}

are_same()
{
	[ "$(settings)" = "$before" ]
}

are_other()
{
	! are_same
}

is_stopped()
{
	grep -q '^State:.T' "/proc/$pid/status"
}

size_is()
{
	[ "$(stty -F "$tty" size)" = "$1" ]
}

# begin ARGUMENT...: run top in the terminal and wait for its screen; sets pid
begin()
{
	rm -f pid status settings
	pane send-keys "sh $work/go $*" Enter
	until_true test -s pid && pid=$(cat pid) && before=$(cat settings) &&
		until_true shows '^ktape top' && until_true are_other
}

hides_next()
{
	[ ! -e next ]
}

# ended STATUS: top has ended with it, and the terminal is as before
ended()
{
	until_true test -s status && [ "$(cat status)" = "$1" ] &&
		until_true are_same && until_true hides '^ktape top' &&
		until_true shows earlier && touch next && until_true shows '^ready:' &&
		until_true hides_next && return
	echo "status $(cat status), not $1; before $before, now $(settings)" >>log
	pane capture-pane -p >>log
	touch next
	return 1
}

press()
{
	pane send-keys "$@"
}

start_terminal()
{
	# The terminal has other settings while the shell reads a line: keep it from that
	# until they were compared.
	cat >go <<-EOT
		cd $work
		trap : INT QUIT
		stty -g >settings; echo earlier
		sh -c 'echo \$\$ >pid; exec $out/command/ktape top "\$@"' top "\$@" 2>go.err
		echo \$? >status
		until [ -e next ]; do sleep 0.1; done
		rm next
	EOT
	LC_ALL=C.UTF-8 pane -u new-session -d -x 100 -y 24 \
		'exec bash --norc --noprofile' >>log 2>&1 || return
	trap 'pane kill-server 2>/dev/null; rm -rf "$work"' EXIT
	tty=$(pane display-message -p '#{pane_tty}')
	pane send-keys "PS1=ready:" Enter
	until_true shows '^ready:'
}

test_keys()
{
	begin -i scene -t 500ns && until_true shows 'ENDED' &&
		until_true shows '^events .*▁' && shows '100 app' && shows 'wor"ker.xff'
	result $? "screen: title, curves, threads"
	press s && until_true shows 'by wait' && press s && until_true shows 'by longest' &&
		press / && press app && until_true shows 'filter \(empty: all\): app_' &&
		press Enter && until_true hides 'wor"ker' && shows '100 app' &&
		press / && press Enter && until_true shows 'wor"ker'
	result $? "screen: sort and filter"
	press p && until_true shows PAUSED && press p && until_true hides PAUSED &&
		press h && until_true shows 'this help' && press h &&
		until_true hides 'this help' && press P &&
		until_true shows 'this needs a session' && press S &&
		until_true shows 'this needs a session'
	result $? "screen: pause, help, keys that need a session"
	press Up && until_true shows '^q end' && pane resize-window -x 60 -y 12 && until_true size_is '12 60' &&
		until_true eval 'pane capture-pane -p | sed -n 12p | grep -q "^q end"' &&
		pane resize-window -x 20 -y 3 && until_true size_is '3 20' &&
		until_true eval 'pane capture-pane -p | sed -n 3p | grep -q "^q end"' &&
		pane resize-window -x 100 -y 24 && until_true shows 'wor"ker'
	result $? "screen: resized"
	press q && ended 0
	result $? "screen: q ends it, the terminal is as before"
}

# pages: print the pages of this folder, and what was made for them
pages()
{
	find . -maxdepth 2 -name 'ktape-*.html*' -o -maxdepth 2 -name '.*ktape-*'
}

child_is()
{
	child=$(pgrep -P "$pid" -f 'convert -q --to html') && kill -STOP "$child" &&
		grep -q '^State:.T' "/proc/$child/status"
}

# The screen writes a page, or says why not, and goes on.
test_page()
{
	local page
	begin -i scene && press H && until_true shows '^ktape-.*\.html is written' &&
		page=$(pages) && lines_of "$page" 1 && run 0 convert -q --to html -o same.html scene &&
		cmp "$page" same.html >>log 2>&1 && rm "$page" && press s &&
		until_true shows 'by wait' && press q && ended 0
	result $? "screen: H writes the page that convert writes"
	cp -r scene damaged && printf x >damaged/metadata
	begin -i scene && mv scene moved && mv damaged scene && press H &&
		until_true shows '^ktape-.*\.html is not written: scene: ' && press s &&
		until_true shows 'by wait' && lines_of "$(pages)" 0 && press q && ended 0
	result $? "screen: a page that cannot be written, and why"
	rm -rf scene && mv moved scene
	for _ in $(seq 300); do
		cat whole.kt
	done >large.kt
	begin -i large.kt && press H && until_true child_is && shows '^writing ktape-.*html' &&
		press H && until_true shows '^ktape-.*\.html is being written' && press s &&
		until_true shows 'by wait' && press q && ended 0 && lines_of "$(pages)" 0 &&
		grep -q 'the page was not complete' go.err && [ ! -e "/proc/$child" ]
	result $? "screen: it ends before a page is complete, and nothing of that stays"
	begin -i large.kt && press H && until_true child_is && kill -TERM "$pid" && ended 0 &&
		lines_of "$(pages)" 0 && [ ! -e "/proc/$child" ]
	result $? "screen: a signal ends it before a page is complete"
}

# lines_of TEXT N: a text has so many lines
lines_of()
{
	[ "$(printf '%s' "$1" | grep -c .)" = "$2" ] || { echo "not $2: $1" >>log; return 1; }
}

test_signals()
{
	local number
	for number in INT:0 TERM:0 HUP:0 QUIT:0 SEGV:139 ABRT:134 FPE:136 BUS:135; do
		begin -i scene && kill -"${number%:*}" "$pid" && ended "${number#*:}"
		result $? "screen: SIG${number%:*} leaves the terminal as before"
	done
	begin -i scene && press C-c && ended 0
	result $? "screen: Ctrl-C leaves the terminal as before"
	begin -i scene && kill -TSTP "$pid" && until_true is_stopped &&
		until_true are_same && until_true hides '^ktape top' &&
		kill -CONT "$pid" && until_true shows '^ktape top' &&
		until_true are_other && press q && ended 0
	result $? "screen: stopped and continued"
	begin -i scene && kill -STOP "$pid" && until_true is_stopped &&
		stty -F "$tty" sane && kill -CONT "$pid" && press s &&
		until_true shows 'by wait' && press q && ended 0
	result $? "screen: continued after SIGSTOP and other settings"
}

# Keys come from the terminal while the trace comes through standard input.
test_pipe()
{
	mkfifo fifo
	sed -i 's/top "$@" 2>/top "$@" <fifo 2>/' go
	exec 8<>fifo
	cat whole.kt >&8 &
	begin -i - -t 10us && until_true shows '^ktape top  -  #[0-9]' && press s &&
		until_true shows 'by wait' && hides ENDED && press H &&
		until_true shows 'this input cannot be read again' && press q && ended 0
	result $? "screen: a pipe that stays open"
	exec 8>&-
}

test_screen()
{
	if ! command -v tmux >/dev/null; then
		echo "ok $((n += 1)) - screen # SKIP no tmux"
		return
	fi
	start_terminal
	result $? "a terminal of tmux"
	begin -i scene
	if grep -q 'without ncurses' go.err; then
		echo "ok $((n += 1)) - screen # SKIP built without ncurses"
		return
	fi
	press q
	ended 0
	result $? "screen: begins and ends"
	test_keys
	test_page
	test_signals
	test_pipe
}

echo "TAP version 13"
test_lines
test_usage
test_growing
test_screen
echo "1..$n"
exit $failed
