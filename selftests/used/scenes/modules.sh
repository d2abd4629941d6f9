# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154
# Debian's modules are loaded and unloaded, those with many tracepoints and per-CPU data
# among them.
#
# modules:ROUNDS
#
# $scene has the arguments. span, of used/oracle.sh, records a log while a command runs;
# used/judge fails if an event is lost, missing or wrong.

# in_reverse: print what modules has loaded, the last one first
in_reverse()
{
	cut -d ' ' -f 1 /proc/modules | awk -v keep="$of_the_guest" '
		BEGIN {
			split(keep, names, " ")
			for (i in names)
				is_kept[names[i]] = 1
		}
		!($1 in is_kept)'
}

# named_loaded: print the modules that are loaded and were asked for by name
named_loaded()
{
	for needs in /used/modules/*.needs; do
		module=${needs##*/}
		! is_loaded "${module%.needs}" || echo "${module%.needs}"
	done
}

# unload: unload all that modules has loaded. Some are in use until a grace period or
# their own work is over; and one that computes checksums for others stays.
unload()
{
	for _ in $(seq 300); do
		for module in $(in_reverse); do
			rmmod "$module" 2>/tmp/rmmod && act child 2 getppid 200
		done
		[ -n "$(named_loaded)" ] || return 0
		sleep 0.2
	done
	cat /tmp/rmmod
	echo "still loaded: $(named_loaded | tr '\n' ' ')"
	cat /proc/modules
	return 1
}

work()
{
	loads=0
	for _ in $(seq "$scene"); do
		for needs in /used/modules/*.needs; do
			module=${needs##*/}
			modules "${module%.needs}" || return
			loads=$((loads + 1))
			act child 2 getppid 200
		done
		unload || return
	done
	echo "$loads modules were loaded"
}

# Not to be unloaded: disks are among them.  The name is not "kept", which oracle.sh uses.
of_the_guest=$(cut -d ' ' -f 1 /proc/modules | tr '\n' ' ')
span modules work
tail -n 1 "$folder/work" | sed 's/^/# /'
