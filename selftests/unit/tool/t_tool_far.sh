#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_far.sh FOLDER: times beyond the year 2262, where ns since 1970 no longer have 63 bits,
# never become times before 1970; and those before 1970 are right.
here=$(cd "${0%/*}" && pwd)
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../support/tool.sh" "$1"

skip()
{
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# trace DIR SECONDS MONO: 8 packets of 2 CPUs, of times 1000 to 8004 ns of this clock
trace()
{
	"$out/make_trace" folder "$1" 2 && "$out/make_trace" dated "$1" "$2" "$3"
}

range='is out of range: times are from the year 1677 to 2262'
beyond='times from here on are beyond the year 2262'

trace late 9223372037 0 && trace early -9223372037 0 && trace last 9223372036 0 &&
	trace before -5 0 && trace crossing 0 9223372036854773000
result $? 'the traces are written'
run 2 verify late && says "late: the clock's offset of 9223372037 s $range"
result $? 'verify: an offset beyond 2262 is refused'
for command in dump stats 'convert -t jsonl -o x' 'convert -t parquet -o x' 'bundle -o x'; do
	# shellcheck disable=SC2086	# words
	run 1 $command late && says "late: the clock's offset of 9223372037 s $range" &&
		[ ! -e x ]
	result $? "$command: an offset beyond 2262 is refused"
done
run 1 dump early && says "early: the clock's offset of -9223372037 s $range"
result $? 'an offset before 1677 is refused'
run 0 dump --json last && grep -q '^{"ts":"9223372036000001000",' text &&
	! grep -q '^{"ts":"-' text
result $? 'the last second is not'

# Some of its times are beyond: they are shown as the last one, reported once.
for jobs in 1 4; do
	run 1 dump -J $jobs crossing && [ "$(grep -c "$beyond" log)" = 1 ] &&
		says 'cpu0: at byte 8' && lines 64 && ! grep -q '^\[-' text &&
		[ "$(sort text | tail -n 1 | cut -d ']' -f 1)" = '[9223372036.854775806' ] &&
		grep -q '^\[9223372036.854774000\] ' text
	result $? "dump with $jobs threads: times beyond 2262 are the last one, and told once"
done
for format in text csv jsonl ftrace chrome html perfetto parquet; do
	run 1 convert --partial -t $format -o out.$format crossing && says "$beyond"
	result $? "convert -t $format says so, too"
done
! grep -a '"ts":-' out.chrome.partial out.chrome 2>>log
result $? 'and no time is negative'
# A time stamp of 64 bits, which is 5849 years of ns.
printf '\1\1\1\1\0\xd\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\3\0' >wide.tband
run 1 dump --from tband wide.tband && says "$beyond" &&
	grep -q '^\[9223372036.85477580[0-9]\] .* isr_enter: id=3' text
result $? 'a time of 64 bits of another format'

run 0 dump --json before && [ "$(head -n 1 text | cut -d '"' -f 4)" = -4999999000 ] &&
	run 0 convert -q -t csv -o - before && [ "$(sed -n 2p text | cut -d , -f 1)" = -4999999000 ]
result $? 'times before 1970 are right'

if ! python3 "$here/../support/make_linux_traces.py" . 2>log; then
	skip 'traces of another tracer' 'no python3'
	echo "1..$n"
	exit $failed
fi
cp -r ctf1 text1 && cp -r ctf1 old && cp -r ctf2 json2 && cp -r ctf1 small &&
	sed -i 's/offset = 1700000000000000000;/offset_s = 9300000000;/' text1/metadata &&
	sed -i 's/offset = 1700000000000000000;/offset_s = 5;\n\toffset = 7;/' old/metadata &&
	sed -i 's/offset = 1700000000000000000;/offset = 5;/' small/metadata &&
	sed -i 's/"seconds": 1700000000/"seconds": 9300000000/' json2/metadata
for ctf in text1 json2; do
	run 1 dump $ctf && says "$ctf: metadata: the clock's offset of 9300000000 s $range"
	result $? "CTF of another tracer, $ctf: an offset beyond 2262 is refused"
done
for ctf in old small; do
	if ! command -v babeltrace2 >/dev/null; then
		skip "$ctf: times are those of babeltrace2" 'no babeltrace2'
		continue
	fi
	babeltrace2 --clock-seconds $ctf 2>>log |
		sed -n 's/^\[\(-\{0,1\}\)\([0-9]*\)\.\([0-9]*\)\].*/\1\2\3/p' | sed 's/^\(-\{0,1\}\)0*\([0-9]\)/\1\2/' >theirs
	"$out/command/ktape" dump --all --json $ctf 2>>log | grep -v '"ring":"registry"' |
		sed 's/^{"ts":"\(-\{0,1\}[0-9]*\)".*/\1/' >ours
	[ "$(wc -l <ours)" -gt 5 ] && diff theirs ours >>log
	result $? "CTF of another tracer, $ctf: times are those of babeltrace2"
done

echo "1..$n"
exit $failed
