#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_filter.sh FOLDER: test the configuration that filter options result in;
# it is saved before a device is needed.
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1"

# saves OPTION...: print the configuration to the file text without recording
saves()
{
	run 0 record "$@" --save -
}

# has LINE: the configuration must have this line
has()
{
	grep -qxF -- "$1" text ||
		{ echo "no line: $1"; cat text; } >>log
	grep -qxF -- "$1" text
}

# event NAME: the configuration must have this event
event()
{
	sed -n 's/^events = //p' text | tr , '\n' | grep -qxF "$1"
}

# Group, event, object and signal, each suppressed or not, in both orders.
test_rkh()
{
	for n16 in $(seq 0 15); do
		what=(group:sched event:sched_switch object:all signal:USR1)
		there=() back=() wrong=
		for i in 0 1 2 3; do
			word=--pass
			[ $((n16 >> i & 1)) = 0 ] || word=--suppress
			there+=("$word" "${what[i]}")
			back=("$word" "${what[i]}" "${back[@]}")
		done
		for order in there back; do
			declare -n list=$order
			saves -e sched,sched_stat_runtime,irq "${list[@]}" &&
				truth "$n16" || wrong+=" $order"
		done
		[ -z "$wrong" ]
		result $? "rkh: ${there[*]}$wrong"
	done
}

# truth BITS: suppress 1 group, 2 event, 4 object, 8 signal
truth()
{
	local group=$(($1 & 1)) both=$(($1 & 3)) pid=off signal=off

	[ $(($1 & 4)) = 0 ] || pid=none
	[ $(($1 & 8)) = 0 ] || signal='!SIGUSR1'
	event irq_handler_entry && ! event sched_blocked_reason &&
		[ "$(event sched_stat_runtime; echo $?)" = $group ] &&
		[ "$(event sched_wakeup; echo $?)" = $group ] &&
		{ event sched_switch; [ $? = $((both > 0)) ]; } &&
		has "pid = $pid" && has "signal = $signal"
}

# Group and event: the events that remain of -p PROFILE -e EVENTS.
test_masks()
{
	while IFS='|' read -r options events; do
		# shellcheck disable=SC2086	# words
		saves $options && has "events = $events"
		result $? "rkh: $options"
	done <<-EOT
	-e sched_switch,sched_stat_runtime --suppress group:sched --pass group:sched|sched_switch,sched_stat_runtime
	-e sched_switch --pass group:sched|sched_switch
	-e mark --pass event:sched_switch|mark,sched_switch
	-e mark --pass event:sched_switch --suppress group:sched|mark
	-e mark --suppress group:sched --pass event:sched_switch|mark
	-e mark --pass group:ipi --suppress event:ipi_send*|mark,ipi_raise,ipi_entry,ipi_exit
	-e mark --suppress event:ipi_send* --pass group:ipi|mark,ipi_raise,ipi_entry,ipi_exit
	-e mark --suppress event:mark|none
	-e mark,text,irq --suppress group:all --pass group:user|mark,text
	EOT
	for what in group:no group:control event:no object:x signal:no signal:off signal:\!INT \
		group: event: thing:1; do
		run 2 record --device x --suppress $what
		result $? "rkh: $what is refused"
	done
}

test_save()
{
	saves -e mark && cp text want
	run 0 record -e mark --save new && cmp -s new want &&
		[ "$(stat -c %a new)" = "$(printf %o $((0666 & ~$(umask))))" ]
	result $? "save: a new file"
	echo "events = irq" >old
	chmod 640 old
	ln -s old link
	run 0 record -e mark --save link && cmp -s old want && [ -L link ] &&
		[ "$(stat -c %a old)" = 640 ]
	result $? "save: replaces an old file through a link"
	echo "events = irq" >old
	(
		ulimit -f 1
		trap "" XFSZ
		run 1 record -e all --save old && says "old: File too large"
	)
	result $? "save: a full disk is reported"
	[ "$(cat old)" = "events = irq" ] && [ "$(ls old*)" = old ]
	result $? "save: a full disk leaves the old file and no other"
	run 0 record -e mark --save /dev/null && [ -c /dev/null ]
	result $? "save: a device file is not replaced"
	run 1 record -e mark --save no/file && says "no/file: No such file"
	result $? "save: no folder"
	run 2 record -e mark --save - -o - --device x && lines 0
	result $? "save: refuses to overwrite the trace"
	run 2 profile --json --save - --device x && lines 0
	result $? "save: is refused with --json"
}

test_words()
{
	saves -e ' mark , irq_handler_entry' && has "events = mark,irq_handler_entry"
	result $? "blanks around commas"
	run 2 record -e mark --rate none=5 --save - && says '"none" is not valid, expected EVENT=N'
	result $? "rate: of no event"
	for typed in object:0x8000000000000000 function:18446744073709551615 \
		s8:-128 u32:4294967295; do
		run 1 mark --device /dev/null event 1 $typed && says ioctl
		result $? "mark: $typed"
	done
	for typed in object:-1 s8:-129 s8:128 u8:256 u16:-1 u32:4294967296; do
		run 2 mark --device /dev/null event 1 $typed && says "is not a valid "
		result $? "mark: $typed is refused"
	done
	run 1 mark --device /dev/null event 1 "memory:$(printf %0256d 1)" &&
		says "does not fit"
	result $? "mark: a text that is too long is reported"
	run 1 mark --device /dev/null name marker 1 "$(printf %032d 1)" &&
		says "name: it was cut to 31 bytes: 0000000000000000000000000000000"
	result $? "mark: a truncated name is reported"
}

echo "TAP version 13"
test_words
test_rkh
test_masks
test_save
echo "1..$n"
exit $failed
