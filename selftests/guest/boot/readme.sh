# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2317	# functions are called by their names
# How the guest runs the lines of README.md, and what each has to leave: sourced by the script
# that selftests/readme makes, in the folder that the host shares. The file NUMBER has line
# NUMBER; its table in selftests/readme calls one of
#
#	run NUMBER STATUSES CHECK	run the line
#	run_until NUMBER STATUSES CHECK	run it, and end it once the check is true
#	keys NUMBER STATUSES CHECK	run it on a terminal, with the keys of keys_CHECK
#	host NUMBER STATUSES REASON	do not run it
#
# STATUSES: exit statuses that are right, with commas between; CHECK: check_CHECK has to be
# true afterwards, "-" for none. before_CHECK, if there is one, prepares what the line needs.
# shellcheck disable=SC2034	# failed is for that script
set -u

failed=0
PATH=$PWD/bin:$PATH

# The board of README is this machine.
cat >bin/ssh <<'EOT'
#!/bin/sh
shift
exec "$@"
EOT
chmod +x bin/ssh

# line_result STATUS NUMBER: print a test line for a line, and what it printed if it failed
line_result()
{
	if [ "$1" = 0 ]; then
		echo "ok readme line $2: $(cat "$2")"
		return
	fi
	failed=1
	echo "not ok readme line $2: $(cat "$2")"
	tail -n 20 "$2.out" | sed 's/^/# /'
}

# ends_well NUMBER STATUS STATUSES CHECK: is the status one of these, and the check true?
ends_well()
{
	case ,$3, in
	*,$2,*) ;;
	*)
		echo "# line $1: exit status $2, not $3"
		return 1
		;;
	esac
	[ "$4" = - ] || check_"$4" "$1" || {
		echo "# line $1: $4 is not true"
		return 1
	}
}

host()
{
	echo "# line $1 is not for this guest: $(echo "$3" | tr _ ' '): $(cat "$1")"
}

# prepare CHECK: what a line needs that README does not say there
prepare()
{
	! command -v before_"$1" >/dev/null || before_"$1"
}

run()
{
	status=0
	prepare "$3"
	sh "./$1" </dev/null >"$1.out" 2>&1 || status=$?
	ends_well "$1" $status "$2" "$3"
	line_result $? "$1"
}

keys()
{
	status=0
	keys_"$3" | command keys sh "./$1" >"$1.out" 2>&1 || status=$?
	ends_well "$1" $status 0 -
	line_result $? "$1"
}

# until_check CHECK NUMBER: wait until it is true; fails if it is not when ktape has ended
until_check()
{
	until check_"$1" "$2"; do
		sleep 0.1
		pidof ktape >/dev/null || check_"$1" "$2" || return
	done
}

# The shell that began a recorder in the background ends before it does. The last check is for
# what the end completes.
run_until()
{
	prepare "$3"
	setsid sh "./$1" </dev/null >"$1.out" 2>&1 &
	shell=$!
	status=0
	until pidof ktape >/dev/null || ! kill -0 $shell 2>/dev/null; do
		sleep 0.1
	done
	until_check "$3" "$1" || status=255
	killall -TERM ktape 2>/dev/null
	while pidof ktape >/dev/null; do
		sleep 0.1
	done
	[ $status != 0 ] || wait $shell || status=$?
	ends_well "$1" $status "$2" "$3"
	line_result $? "$1"
}

# ---- what lines leave -------------------------------------------------------------

check_loaded()
{
	[ -c /dev/ktape ]
}

check_page_of_try()
{
	for page in ktape-*.html; do
		[ "$(tail -n 1 "$page")" = '</html>' ] || return
	done
}

check_trace_t()
{
	[ -s t/metadata ] && [ "$(ktape dump t | wc -l)" -gt 0 ]
}

check_trace_t2()
{
	[ -s t2/metadata ] && [ "$(ktape dump t2 | wc -l)" -gt 0 ]
}

keys_top()
{
	cat <<-'EOT'
		shows ktape top
		shows by run
		type q
		end
	EOT
}

check_said_whole()
{
	grep -q 'nothing is wrong: .* 100 % of' "$1.out"
}

check_page_opened()
{
	[ "$(tail -n 1 opened.html 2>/dev/null)" = '</html>' ]
}

check_perfetto()
{
	[ -s t.pftrace ]
}

# The index of the folder has the trace.  The check is repeated after the end of the server.
check_served()
{
	[ ! -s index ] || grep -q '>t<' index || return
	address=$(grep -o 'http://[^ ]*' "$1.out") || return
	[ -s index ] || wget -q -O index "$address"
}

check_night()
{
	ktape status | grep -qw night
}

check_log_zstd()
{
	[ -n "$(ls log/*/*.zst 2>/dev/null)" ]
}

# The pieces of the first log: this one takes what is in the folder into its tables.
before_log_parquet()
{
	cp -r log log.zstd
}

check_log_parquet()
{
	[ -n "$(find log/parquet -name '*.parquet' 2>/dev/null)" ]
}

before_loaded_alone()
{
	rmmod ktape && cp "/lib/modules/$(uname -r)/extra/ktape.ko" .
}

check_loaded_alone()
{
	grep -q '^ktape ' /proc/modules
}

check_board_trace()
{
	[ -s /tmp/t/metadata ]
}

check_board_stream()
{
	[ -s /tmp/trace ]
}

# A recording without an end is one that was cut off.
check_dumped()
{
	[ "$(wc -l <"$1.out")" -gt 100 ]
}

# has_marks EVENTS TEXT NUMBER: session 0, which records since the module was loaded, has so
# many of these events with the text
has_marks()
{
	rm -rf marks
	ktape snapshot -o marks 2>marks.err && [ "$(ktape dump -e "$1" marks | grep -c "$2")" = "$3" ]
}

check_marked_text()
{
	has_marks text text 1
}

check_marked_ends()
{
	has_marks mark_begin backup 1 && has_marks mark_end mark_end 1
}
