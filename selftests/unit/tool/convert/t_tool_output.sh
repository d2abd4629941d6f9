#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_output.sh FOLDER: no output destroys an input or an earlier output.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1" || exit 2

make_trace=$out/make_trace
ktape=$out/command/ktape

# A folder t with a trace, a pipe form p, and s.tband, which FILE@CORE can name.
fresh()
{
	rm -rf t p s.tband o
	"$make_trace" folder t 3
	"$make_trace" pipe 3 >p
	printf '\1\1\1\1\0\4\2\350\7\0\4\4\24\7\0\4\5\50\7\0' >s.tband
	find t p s.tband -type f -exec cksum {} + | sort >before
}

# Check that all is as fresh() has left it, without other files.
untouched()
{
	find t p s.tband -type f -exec cksum {} + 2>&1 | sort |
		cmp - before >>log
}

no_temporary()
{
	! find . -name '.ktape-*' | grep . >>log
}

# refused NAME SAID ARGUMENT...
refused()
{
	local name=$1 said=$2

	shift 2
	run 1 "$@" && says "$said" && untouched && no_temporary
	result $? "$name: refused"
}

test_files()
{
	fresh
	ln t/cpu0 hard
	ln -s t/cpu0 soft
	ln -s t way
	refused "convert: a stream of the folder" "is the file cpu0 of the input t" \
		convert -t perfetto -o t/cpu0 t
	refused "convert: by another path" "is the file cpu0 of the input t" \
		convert -t perfetto -o "t/../../${PWD##*/}/t/./cpu0" t
	refused "convert: a hard link" "is the file cpu0 of the input t" \
		convert -t perfetto -o hard t
	refused "convert: a symbolic link" "is the file cpu0 of the input t" \
		convert -t perfetto -o soft t
	refused "convert: a link to the folder" "is the file cpu1 of the input t" \
		convert -t csv -o way/cpu1 t
	refused "convert: an input by a link" "is the file cpu1 of the input way" \
		convert -t csv -o t/cpu1 way
	refused "convert: the metadata of a stream" "is the file metadata that" \
		convert -t csv -o t/metadata t/cpu1
	refused "convert: the input itself" "p is also an input" \
		convert -t csv -o p p
	refused "convert: the second input" "p is also an input" \
		convert -t csv -o p t p
	refused "convert: an input of a core" "s.tband is also an input" \
		convert -t csv -o s.tband s.tband@0
	refused "convert: an open file of the shell" "is the file cpu0 of the input t" \
		convert -t csv -o /proc/self/fd/7 t 7>>t/cpu0
	# shellcheck disable=SC2094	# that is the point
	refused "convert: standard input" "p is also an input" \
		convert -t csv -o p - <p
	refused "send: the input" "p is also an input" send p p
	rm -f hard soft way
}

# Files that an input format reads, and configurations.
test_option_files()
{
	local how

	fresh
	run 0 convert -t tracex -o x.trx t
	printf '<x></x>\n' >c.trxc
	ln c.trxc hard
	cksum c.trxc >sum
	for how in "-f tracex -I custom=c.trxc" "-f tracex:custom=c.trxc"; do
		# shellcheck disable=SC2086	# words
		refused "convert $how: over that file" \
			"hard is also an input" \
			convert $how -t csv -o hard x.trx
	done
	echo 'events = mark' >cfg
	refused "profile: over what it loads" "cfg is also an input" \
		profile --device x --load cfg --save ./cfg
	refused "record: over what it loads" "cfg is also an input" \
		record -C cfg --save cfg
	cksum c.trxc | cmp - sum >>log && grep -qx 'events = mark' cfg
	result $? "refused outputs leave all files unchanged"
	rm -f x.trx c.trxc hard sum cfg
}

test_folders()
{
	fresh
	refused "convert: a new file in the folder" "new is inside the input t" \
		convert -t perfetto -o t/new t
	mkdir t/sub
	ln -s "$PWD/t/sub" sub
	refused "convert: below the folder" "sub/new is inside the input t" \
		convert -t perfetto -o sub/new t
	ln -s t/late late
	refused "convert: a link to a file that is not there" \
		"late is inside the input t" convert -t perfetto -o late t
	rm -r late sub t/sub
	refused "convert: the folder itself" "t is also an input" \
		convert -t native --force -o t t
	refused "convert: a new folder, with a slash" \
		"t/new/ is inside the input t" convert -t native -o t/new/ t
	refused "convert: a new folder, with slashes" \
		"t/new/// is inside the input t" convert -t lttng -o t/new/// t
	refused "convert: the folder of a stream" "t/cpu0 is inside t" \
		convert -t native --force -o t t/cpu0
	(cd t && "$ktape" convert -t csv -o here .) 2>log
	[ $? = 1 ] && says "here is inside the input ." && untouched
	result $? "convert: from within the folder: refused"
	if unshare -rm true 2>>log; then
		mkdir -p other
		# shellcheck disable=SC2016	# of that shell
		unshare -rm sh -c 'mount --bind t other &&
			exec "$0" convert -t csv -o other/cpu0 t' "$ktape" 2>log
		[ $? = 1 ] && says "is the file cpu0 of the input t" && untouched
		result $? "convert: through a mount: refused"
	else
		echo "ok $((n = n + 1)) - convert: through a mount # SKIP no namespaces"
	fi
}

# The shell opens the file for appending.
test_standard_output()
{
	local command

	fresh
	for command in "convert -t csv -o - t" "dump t" "stats --linux t" \
		"verify t" "diff t t"; do
		# shellcheck disable=SC2086	# words
		timeout 600 "$ktape" $command >>t/cpu0 2>log
		status=$?
		# Exit status 1 of verify is a result.
		[ $status -eq 1 ] || { [ $status -eq 2 ] &&
			[ "${command%% *}" = verify ]; } &&
			says "standard output is the file cpu0 of the input t" &&
			untouched
		result $? "$command >>t/cpu0: refused"
	done
	# shellcheck disable=SC2094	# that is the point
	timeout 600 "$ktape" convert -t csv -o - p >>p 2>log
	[ $? = 1 ] && says "standard output is also an input" && untouched
	result $? "convert -o - >>input: refused"
	# shellcheck disable=SC2094	# that is the point
	timeout 600 "$ktape" dump --all - <p >>p 2>log
	[ $? = 1 ] && says "standard output is also an input" && untouched
	result $? "dump - <input >>input: refused"
}

test_traces()
{
	fresh
	refused "record: into a trace" "t/new is inside the trace $PWD/t:" \
		record --device x -o t/new
	refused "snapshot: into a trace" "t/new is inside the trace $PWD/t:" \
		snapshot --device x -o t/new
	refused "recover: into a trace" "t/new is inside the trace $PWD/t:" \
		recover --image p -o t/new
	refused "split: into a trace" "t/new is inside the trace $PWD/t:" \
		record --split p -o t/new
	refused "split: into a trace, with a slash" \
		"t/new/ is inside the trace $PWD/t:" record --split p -o t/new/
	refused "record -l: into a trace" "is inside the trace $PWD/t:" \
		record --device x -l t/
	refused "record -l: into new folders of a trace" \
		"is inside the trace $PWD/t:" record --device x -l t/a/%Y/%H
	mkdir t/sub
	refused "split: further below a trace" "t/sub/new is inside the trace" \
		record --split p -o t/sub/new
	(cd t/sub && "$ktape" record --split ../../p -o new) 2>log
	[ $? = 1 ] && says "new is inside the trace $PWD/t:" && untouched
	result $? "split: from within a folder of a trace: refused"
	rmdir t/sub
	refused "split: over its input" "is inside t" \
		record -f --split t/cpu0 -o t
	refused "recover: over its input" "is inside t" \
		recover -f --image t/cpu0 -o t
	refused "receive: over its line" "is inside t" \
		receive --force -o t t/cpu0
	refused "receive: into a trace" "t/new is inside the trace $PWD/t:" \
		receive -o t/new s.tband
}

# An output gets its name at the end, with the permissions of the old file.
test_success()
{
	local how

	fresh
	echo old >o
	chmod 640 o
	ln -s o link
	run 0 convert -t csv -o link t && [ -L link ] && [ -f o ] &&
		[ "$(stat -c %a o)" = 640 ] && [ "$(wc -l <o)" = 97 ] &&
		no_temporary
	result $? "convert: a link stays a link, permissions stay"
	rm link
	mkfifo fifo
	cat fifo >got &
	run 0 convert -t csv -o fifo t && wait && cmp got o >>log && [ -p fifo ]
	result $? "convert: a pipe is written directly"
	run 0 convert -t csv -o /dev/null t && [ -c /dev/null ]
	result $? "convert: a device is written directly"
	run 0 convert -t csv -o /proc/self/fd/7 t 7>open && cmp open o >>log
	result $? "convert: an open file is written directly"
	run 0 convert -t native:form=pipe -o q t && run 0 convert -t native \
		-o d q && run 0 dump --all d && lines 96 && no_temporary
	result $? "convert: the native forms"
	stat -c %i d >inode
	run 0 convert -t native --force -o d t &&
		stat -c %i d | cmp - inode >>log &&
		run 0 dump --all d && lines 96 && no_temporary
	result $? "convert: a replaced folder keeps its inode"
	run 0 convert -t lttng -o l t && run 0 convert -t lttng --force -o l t &&
		[ -s l/metadata ] && [ -s l/channel0_0 ] && no_temporary
	result $? "convert: writes the folder of another format"
	run 1 convert -t lttng -o l t && says "Directory not empty"
	result $? "convert: replaces the folder of another format only with --force"
	for how in d/ d/// ./d/.; do
		run 0 record -f --split p -o $how && run 0 dump --all d && lines 96
		result $? "split: replaces $how"
	done
	(cd d && "$ktape" record -f --split ../p -o .) 2>log &&
		run 0 dump --all d && lines 96
	result $? "split: replaces the folder where it runs"
	run 1 record -f --device x -o d/ && ! grep -q "lies in" log
	result $? "record: may replace d/"
	rm -rf fifo got open q d l inode
}

# As with inetd(8): one socket is standard input, output and error.
test_socket()
{
	fresh
	run 0 convert -t csv -o want p
	if timeout 600 python3 - "$ktape" p >got 2>log <<'END'
import socket, subprocess, sys
ours, theirs = socket.socketpair()
child = subprocess.Popen([sys.argv[1], "convert", "-t", "csv", "-o", "-", "-"],
                         stdin=theirs, stdout=theirs)
theirs.close()
ours.sendall(open(sys.argv[2], "rb").read())
ours.shutdown(socket.SHUT_WR)
while data := ours.recv(65536):
    sys.stdout.buffer.write(data)
sys.exit(child.wait())
END
	then
		cmp got want >>log
	else
		false
	fi
	result $? "convert: standard input and output are one socket"
	rm -f got want
}

# Names and permissions of the output, and files that prevent a replacement.
test_rights()
{
	local file as_nobody

	fresh
	run 1 convert -t csv -o none/ t && says "none/: Is a directory" &&
		[ ! -e none ] && no_temporary
	result $? "convert: a file whose name ends in a slash"
	echo old >o
	ln o second
	chmod 4755 o
	run 0 convert -t csv -o o t && cmp o second >>log
	result $? "convert: a file with two hard links stays one file"
	rm second
	run 0 convert -t csv -o o t && [ "$(stat -c %a o)" = 755 ]
	result $? "convert: a setuid bit is not kept with another owner"
	rm o
	as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	if [ "$(id -u)" != 0 ] || ! "${as_nobody[@]}" true 2>>log; then
		echo "ok $((n = n + 1)) - convert: rights # SKIP not root"
		return
	fi
	mkdir open
	chmod 755 .
	chmod 1777 open
	cp "$ktape" command
	echo old >open/o
	chown 65534:0 open/o
	chmod 600 open/o
	timeout 600 "${as_nobody[@]}" ./command convert -t csv -o open/o t 2>log &&
		[ "$(stat -c %a:%u open/o)" = 600:65534 ] &&
		[ "$(wc -l <open/o)" = 97 ]
	result $? "convert: a private output stays private"
	for file in metadata cpu0 cpu1 registry; do
		rm -rf open/o
		run 0 record --split p -o open/o
		[ -e "open/o/$file" ] || continue
		chown -R 65534 open/o
		chown 0 open/o "open/o/$file"
		chmod 1777 open/o
		find open/o -type f -exec cksum {} + | sort >earlier
		timeout 600 "${as_nobody[@]}" ./command convert --force -t native \
			-o open/o s.tband 2>log
		[ $? = 1 ] && says "Operation not permitted" && find open/o \
			-type f -exec cksum {} + | sort | cmp - earlier >>log &&
			no_temporary
		result $? "convert: nothing changes if another user's $file cannot be removed"
	done
	rm -rf open command earlier
}

# fails NAME LIMIT ARGUMENT...: with a file size limit of LIMIT KiB the command
# must fail and leave the old output o. The limit does not apply to the shell,
# whose output may be a long file, too.
fails()
{
	local name=$1 limit=$2

	shift 2
	(ulimit -f "$limit"; run 1 "$@") && untouched && no_temporary && find o -type f \
		-exec cksum {} + | sort | cmp - earlier >>log
	result $? "$name: the earlier output stays"
}

test_failure()
{
	local how

	fresh
	{ cat s.tband; printf '\4\4\1\7\0'; } >back
	echo old >o
	cksum o >earlier
	fails "convert: an input that goes back" unlimited convert -t csv -o o back
	fails "convert: a full disk" 2 convert -t csv -o o t
	fails "convert: no such CPU" unlimited convert -t csv -c 99 -o o t
	fails "convert: no such input" unlimited convert -t csv -o o t none
	rm o
	run 1 convert -t csv -o o back && [ ! -e o ] && no_temporary
	result $? "convert: leaves no partial output"
	for how in native lttng; do
		rm -rf o
		run 0 convert -t "$how" -o o t &&
			find o -type f -exec cksum {} + | sort >earlier
		fails "convert -t $how: an input that goes back" unlimited \
			convert -t "$how" --force -o o back
		fails "convert -t $how: a full disk" 1 convert -t "$how" --force -o o t
		rm -rf o
		run 1 convert -t "$how" -o o back && [ ! -e o ]
		result $? "convert -t $how: leaves no partial folder"
		mkdir o
		run 1 convert -t "$how" -o o back && [ -d o ] && rmdir o
		result $? "convert -t $how: an empty folder stays"
	done
	rm -rf o
	run 0 record --split p -o o &&
		find o -type f -exec cksum {} + | sort >earlier
	fails "split: a full disk" 8 record -f --split p -o o
	"$make_trace" image r
	fails "recover: a full disk" 1 recover -f --image r -o o
	rm -rf o r back
}

# kept SIZE FORMAT PIPE: convert input that comes only once, with files limited
# to SIZE KiB
kept()
{
	rm -rf o
	# shellcheck disable=SC2002	# a pipe cannot be read again
	(ulimit -f "$1"; cat "$3" |
		run 1 convert -t "$2" -o o - && no_temporary &&
		says "the output up to this point is kept")
}

test_kept()
{
	local folder

	fresh
	printf '\4\4\74\7\0\4\5\74\7\0' >pair
	for _ in {1..14}; do
		cat pair pair >pairs
		mv pairs pair
	done
	cat s.tband pair >long
	{ cat long; printf '\4\4\1\7\0'; } >back
	kept 2 csv p && [ "$(stat -c %s o)" = 2048 ] &&
		head -n 1 o | grep -q '^ts_ns,'
	result $? "convert: a full disk: data from a pipe are kept"
	kept 64 native long && "$ktape" dump --all o >text 2>>log; [ -s text ]
	result $? "convert -t native: a full disk: data from a pipe are kept"
	# Whole packets of 64 KiB.
	kept 100 lttng long && [ -s o/metadata ] &&
		size=$(stat -c %s o/channel0_0) && [ "$size" -gt 0 ] &&
		[ "$size" -lt 70000 ]
	result $? "convert -t lttng: a full disk: data from a pipe are kept"
	for folder in csv native; do
		rm -rf o
		run 0 convert -t $folder -o o t
		find o -type f -exec cksum {} + | sort >earlier
		# shellcheck disable=SC2002	# a pipe cannot be read again
		cat back | run 1 convert --force -t $folder -o o - &&
			find o -type f -exec cksum {} + | sort |
			cmp - earlier >>log && no_temporary
		result $? "convert -t $folder: a full disk: an old output is not replaced by a partial one"
	done
	rm -rf o back earlier long pair
}

# A conversion that takes long enough to be interrupted.
make_long()
{
	cp s.tband long
	printf '\4\4\74\7\0\4\5\74\7\0' >pair
	for _ in {1..19}; do
		cat pair pair >pairs
		mv pairs pair
	done
	cat pair >>long
	rm pair
}

# interrupt SIGNAL: send SIGNAL as soon as there is a temporary file. If the
# conversion ends first, it is repeated with an input twice as long.
interrupt()
{
	for _ in 1 2 3 4; do
		echo old >o
		"$ktape" convert -t csv -o o long 2>log &
		pid=$!
		for _ in {1..600}; do
			find . -name '.ktape-*' | grep -q . && break
			kill -0 $pid 2>/dev/null || break
			sleep 0.05
		done
		kill "-$1" $pid
		{ wait $pid; } 2>/dev/null
		status=$?
		[ $status = 0 ] || return
		tail -c +$(($(stat -c %s s.tband) + 1)) long >tail.part
		cat tail.part >>long
		rm tail.part
	done
}

test_signals()
{
	fresh
	make_long
	interrupt TERM
	echo "exit status $status" >>log
	[ "$status" = 1 ] && says "interrupted: o was not written" &&
		grep -qx old o && no_temporary
	result $? "convert: SIGINT leaves the old output"
	interrupt XCPU
	echo "exit status $status" >>log
	[ "$status" = 152 ] && grep -qx old o && no_temporary
	result $? "convert: SIGTERM leaves no temporary file"
	mkfifo live
	"$ktape" convert -t csv -o o live 2>log &
	pid=$!
	exec 8>live
	cat p >&8
	for _ in {1..600}; do
		find . -name '.ktape-*' -size +0 | grep -q . && break
		sleep 0.05
	done
	kill -TERM $pid
	wait $pid
	status=$?
	exec 8>&-
	echo "exit status $status" >>log
	[ $status = 0 ] && head -n 1 o | grep -q '^ts_ns,' && no_temporary
	result $? "convert: data from a pipe up to a signal are kept"
	rm o
	"$ktape" convert -t csv -o o live 2>log &
	pid=$!
	exec 8>live
	cat p >&8
	for _ in {1..600}; do
		[ -e o ] && break
		sleep 0.05
	done
	[ -e o ] && no_temporary
	result $? "convert: a new output from a pipe has its name at once"
	kill -TERM $pid
	wait $pid
	status=$?
	exec 8>&-
	[ $status = 0 ] && head -n 1 o | grep -q '^ts_ns,'
	result $? "convert: a new output from a pipe is kept after a signal"
	"$ktape" record --split live -o d 2>log &
	pid=$!
	exec 8>live
	cat p >&8
	for _ in {1..600}; do
		[ -s d/cpu2 ] && break
		sleep 0.05
	done
	kill -TERM $pid
	wait $pid
	exec 8>&-
	run 0 dump --all d && [ "$(wc -l <text)" -gt 0 ]
	result $? "split: data from a pipe are kept"
	rm -rf live long o d
}

# A signal while the trace is checked for the page.  The message about the cut file waits
# for room in a pipe, until the trace has made way for a pipe, which the check waits for.
test_late_signal()
{
	echo old >o
	"$out/make_trace" folder cut 2
	truncate -s -4000 cut/cpu1
	mkfifo said
	exec 7<>said
	head -c 65536 /dev/zero >&7
	"$ktape" convert --to html -o o cut 2>said &
	pid=$!
	for _ in {1..600}; do
		find . -name '.ktape-*' | grep -q . && break
		sleep 0.05
	done
	mv cut moved
	mkfifo cut
	cat <&7 >raw &
	reader=$!
	timeout 600 sh -c "exec 8>cut && kill -TERM $pid"
	wait $pid
	status=$?
	echo end >&7
	for _ in {1..600}; do
		grep -qa '^end' raw && break
		sleep 0.05
	done
	kill $reader
	exec 7>&-
	tr -d '\0' <raw >log
	echo "exit status $status" >>log
	[ "$status" = 1 ] && says "interrupted: o was not written" &&
		grep -qx old o && no_temporary
	result $? "convert: a signal while the page's trace is checked leaves the old output"
	rm -rf cut moved said raw o
}

echo "TAP version 13"
test_late_signal
test_files
test_option_files
test_folders
test_standard_output
test_traces
test_success
test_socket
test_rights
test_failure
test_kept
test_signals
echo "1..$n"
exit $failed
