#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# A guest to try ktape in: load the module, then run a shell on the terminal, or the lines
# of /script, whose exit status goes to /out/status. See scripts/shell.
set -u

export PS1='guest:\w# ' ENV=/etc/shellrc
# A shell takes its size from the terminal, whatever these say.
unset LINES COLUMNS

# follow_size: give the terminal the sizes that the host's one gets
follow_size()
{
	# The port comes some time after its driver.
	until [ -c /dev/vport0p1 ]; do
		sleep 0.1
	done
	while read -r rows columns; do
		stty -F "$KTAPE_LINE" rows "$rows" cols "$columns"
	done </dev/vport0p1 2>/dev/null
}

banner()
{
	cat <<-EOT
		$(ktape --version | head -n 1), its module loaded, Linux $(uname -r) in QEMU, $(nproc) CPUs
		  /share    a folder of the host: $KTAPE_HOST_FOLDER
		  workload  a program with threads, timers and files to record: workload 5 /tmp
		  modprobe ktape, rmmod ktape; README.md "On a machine" has commands to try
		  exit, or Ctrl-D, ends the guest; so does Ctrl-] x if nothing answers
	EOT
}

# make_browser: make what --open calls: it takes a page to the host. The address of ktape
# serve is the guest's own, so no browser of the host reaches it.
make_browser()
{
	cat >/bin/xdg-open <<-'EOT'
		#!/bin/sh
		grep -q 'http-equiv=refresh' "$1" && exit 1
		cp "$1" /share/opened.html
		echo "guest: for a browser of the host: $KTAPE_HOST_FOLDER/opened.html" >&2
	EOT
	chmod +x /bin/xdg-open
}

# end_recorders: end them, and wait up to ten seconds until they have completed their files
end_recorders()
{
	killall ktape 2>/dev/null || return 0
	tries=100
	while pidof ktape >/dev/null && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
}

# run_script: run the lines without a terminal, and end what they leave in the background
run_script()
{
	mkfifo /tmp/printed
	cat /tmp/printed &
	printed=$!
	setsid sh /script </dev/null >/tmp/printed 2>&1 &
	script=$!
	wait $script
	echo $? >/out/status
	end_recorders
	kill -KILL -$script 2>/dev/null
	wait $printed
}

# run_terminal: run a shell on the terminal
run_terminal()
{
	# The size is there before the shell begins.
	follow_size &
	sizes=$!
	until stty -F "$KTAPE_LINE" size 2>/dev/null | grep -q '[1-9]'; do
		sleep 0.05
	done
	stty -F "$KTAPE_LINE" sane
	banner
	# shellcheck disable=SC2094	# a terminal
	setsid -c sh -i <"$KTAPE_LINE" >"$KTAPE_LINE" 2>&1
	end_recorders
	kill $sizes
}

make_browser
depmod
modprobe ktape || echo "The module ktape was not loaded: see dmesg"
cd /share || exit
if [ -e /script ]; then
	run_script
else
	run_terminal
fi
