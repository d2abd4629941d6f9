#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# t_tool_completion.sh FOLDER: the scripts of ktape completion have all commands and
# options, and real shells complete command lines with them.
# shellcheck disable=SC2317	# test_shell calls in_SHELL
here=$(cd "${0%/*}" && pwd) || exit
# shellcheck source=selftests/unit/support/tool.sh
. "${0%/*}/../../support/tool.sh" "$1" || exit 2

export LC_ALL=C HOME=$work
shells='bash zsh fish elvish powershell'
ktape=$out/command/ktape
commands=$("$ktape" help | sed -n 's/^  \([a-z]*\) .*/\1/p')

# The scripts call "ktape".
mkdir bin
ln -s "$ktape" bin/ktape
PATH=$work/bin:$PATH

# options_of COMMAND: print the options in its --help, which is read once
options_of()
{
	[ -s "help-$1" ] || "$ktape" "$1" --help >"help-$1"
	awk '
		/^  -., --/ { print substr($1, 1, 2) }
		/^  -., --/ || /^      --/ {
			match($0, /--[a-z-]+/)
			print substr($0, RSTART, RLENGTH)
		}' "help-$1" | sort -u
}

# rows SHELL COMMAND: print the options in the rows of a command in the script SHELL
rows()
{
	case $1 in
	bash) sed -n "/^\t$2)\$/,/;;/p" bash ;;
	zsh) sed -n "/^\t($2)\$/,/;;/p" zsh ;;
	fish) grep -- "__ktape_has $2'" fish ;;
	elvish) sed -n "/^        &$2=\[/,/^        \]/p" elvish ;;
	powershell) sed -n "/^        '$2' = @(/,/^        )/p" powershell ;;
	esac | case $1 in
	bash)
		grep -oE '(^|[[:blank:]])--?[a-z][a-z-]*|[[:blank:]]-[A-Z]' ;;
	zsh)
		# '(-x --long)'{-x+,--long=}'[help] or '--long[help]
		sed -nE "s/^\t\t\t'\*?(\([^)]*\))?'?\{?(--?[a-zA-Z-]+)[+=]?(,(--[a-z-]+)=?\})?.*/\2 \4/p" |
			tr ' ' '\n' ;;
	fish)
		sed -nE 's/(.*) -s ([a-zA-Z]) (.*)/-\2\n\1 \3/
			s/[^\n]* -l ([a-z-]+) .*/--\1/p' ;;
	*)
		sed -nE "s/^ +(, @\(|\[)'(--?[a-zA-Z-]+)'.*/\2/p" ;;
	esac | tr -d ' \t' | grep . | sort -u
}

# offers SHELL COMMAND: does the script have the command in its list?
# shellcheck disable=SC2016	# the text of PowerShell
offers()
{
	case $1 in
	bash) sed -n '/_ktape_words \\$/,/[a-z]$/p' bash | grep -qw "$2" ;;
	zsh) sed -n '/ktape_commands=(/,/^\t)/p' zsh | grep -q "^		'$2:" ;;
	fish) grep -q "__ktape_none -a $2 -d" fish ;;
	elvish) sed -n '/var commands/,/^    \]/p' elvish | grep -q "\['$2' '" ;;
	powershell) sed -n '/\$commands = /,/^    )/p' powershell | grep -q "@('$2', '" ;;
	esac
}

# missing SHELL: print what its script lacks, or has in addition
missing()
{
	local command

	for command in $commands; do
		offers "$1" "$command" || echo "$1: no command $command"
		[[ $command != help ]] || continue
		options_of "$command" >has
		rows "$1" "$command" | diff has - | sed -n "s/^[<>]/$1: $command: &/p"
	done
}

test_tables()
{
	local shell

	for shell in $shells; do
		run 0 completion "$shell" && cp text "$shell" &&
			missing "$shell" >>log && [ ! -s log ]
		result $? "$shell: the script has every command with its options"
	done
	{
		grep -q . powershell
		for shell in $shells; do
			cp "$shell" whole
			sed -i '/--gate/d; s/ --gate=*//; s/-l gate //' "$shell"
			missing "$shell" | grep -q 'record: < --gate' ||
				echo "$shell: a lost option is not found"
			cp whole "$shell"
		done
	} >log 2>&1
	[ ! -s log ]
	result $? "an option that a script lacks is detected"
	run 2 completion tcsh && says 'unknown shell "tcsh"' && run 2 completion
	result $? "other shells are refused"
}

# Descriptions with quotes and brackets must stay one word of the shell.
test_quotes()
{
	bash -n bash >log 2>&1
	result $? "bash: the script is well-formed"
	# Pairs of words in single quotes, in which a quote is doubled.
	sed -n "/^    *, @(/p" powershell |
		grep -vE "^ +, @\('[^']+', '([^']|'')+'\)\$" >log
	[ ! -s log ] && [ "$(grep -c '^ *, @(' powershell)" -gt 200 ]
	result $? "powershell: the rows are well quoted"
	sed -n "/^    *\['/p" elvish |
		grep -vE "^ +\['[^']+' '([^']|'')+'\]\$" >log
	[ ! -s log ] && [ "$(grep -c "^ *\['" elvish)" -gt 200 ]
	result $? "elvish: the rows are well quoted"
	# Brackets of the script itself, outside of texts and comments.
	for shell in powershell elvish; do
		sed -e 's/#.*//' -e "s/'[^']*'//g" $shell | tr -cd '(){}[]\n' |
			tr -d '\n' >brackets
		while sed -i 's/()//g; s/{}//g; s/\[\]//g' brackets &&
			! cmp -s brackets before; do
			cp brackets before
		done
		[ ! -s brackets ] || echo "$shell: $(cat brackets)"
	done >log
	[ ! -s log ]
	result $? "powershell, elvish: brackets are balanced"
}

# ---- what can follow ----------------------------------------------------------

# after WANT WORD...: the words, without their descriptions, that can follow
after()
{
	local expect=$1

	shift
	run 0 completion --after "$@" || return
	cut -f 1 text | paste -sd ' ' >words
	[ "$(cat words)" = "$expect" ] && return
	echo "$*: $(cut -c -200 words), not $expect" >>log
	return 1
}

# has WORD... -- WORD...: the first words are among those that can follow the others
has()
{
	local word
	local -a expect=()

	while [ "$1" != -- ]; do
		expect+=("$1")
		shift
	done
	shift
	run 0 completion --after "$@" || return
	for word in "${expect[@]}"; do
		cut -f 1 text | grep -qxF -- "$word" ||
			{ echo "$*: no $word" >>log; return 1; }
	done
}

test_after()
{
	has record dump help version -- && has convert -- help &&
		after '' nothing && after ':options' version
	result $? "after nothing: the commands"
	after ':options :traces' dump && after ':options :traces' dump t &&
		after ':traces' dump -- t && after ':options :traces' dump - &&
		after ':options :traces' dump --json -f
	result $? "after dump: options and traces"
	after ':options :traces' stats && after ':options :traces' stats t u &&
		after ':options :traces' verify && after ':options' verify t
	result $? "after stats: several traces; after verify: one"
	after 'discard overwrite snapshot' record -m &&
		after 'discard overwrite snapshot' record --mode &&
		after 'discard overwrite snapshot' record -fm &&
		after 'discard overwrite snapshot' record --mod &&
		after ':options :programs' record -mdiscard &&
		after ':options :programs' record --mode=discard &&
		after ':options :programs' record -m discard
	result $? "an argument is in its own word or in that of the option"
	after '' record -d && after ':folders' doctor -o && after ':files' record -o &&
		after 'rkh cobs' send --frame && after '1 2 4' stats --id-width
	result $? "arguments: any text, folders, a choice"
	after ':files' record -o t make && after ':files' record -- make -j &&
		after ':options :files' send t
	result $? "after a program: files, but no options of record"
	after ':options add list remove' probe &&
		after ':options' probe remove && after ':options' probe add &&
		has sched_switch sched -- trigger name add &&
		after ':programs' trigger n run irq -- &&
		has :options -- trigger n list && has HW3 -- mark exception &&
		has text exception -- mark
	result $? "words decide about the next ones"
	has set sched irq_handler_entry -- profile &&
		has sched -- profile or && ! has set -- profile or
	result $? "profile: an operation comes first"
	after 'bash zsh fish elvish powershell' completion --
	result $? "after completion: shells"
}

test_lists()
{
	local name

	: >log
	"$ktape" list --json | grep -oE '"name":"[a-z_0-9]+","class":"[a-z]+"' |
		cut -d '"' -f 4 | sort >names
	run 0 completion --list events && cut -f 1 text | sort -u |
		comm -13 - names >log && [ ! -s log ] && grep -qx 'irq	class' text &&
		grep -q '^sched_switch	.*thread' text
	result $? "events: all events of ktape list, classes, presets"
	run 0 completion --list recordable && cut -f 1 text | sort -u |
		comm -13 - names | grep -v '^probe_' >log
	[ ! -s log ]
	result $? "events to record: without a device, all but probes"
	run 0 completion --list classes && "$ktape" list --json |
		grep -oE '"class":"[a-z]+"' | cut -d '"' -f 4 | sort -u |
		comm -13 <(cut -f 1 text | sort) - >>log && [ ! -s log ]
	result $? "classes: those of ktape list"
	for name in inputs outputs; do
		run 0 completion --list $name && cut -f 1 text | sort >$name
	done
	"$ktape" convert --list | awk '{ print $1 }' | sort -u >formats
	sort -u inputs outputs | comm -23 - formats >log
	[ ! -s log ] && grep -qx perfetto outputs && ! grep -qx perfetto inputs &&
		grep -qx tband inputs
	result $? "formats: those of ktape convert --list"
	# shellcheck disable=SC2015	# either may fail
	for name in sessions probes; do
		run 0 completion --list $name && cat text >>log && [ ! -s log ] || break
	done
	result $? "sessions, probes: without a device nothing, not even a message"
	run 0 completion --list signals && grep -qx KILL text &&
		run 0 completion --list softirqs && grep -qx TIMER text &&
		run 0 completion --list syscalls && grep -qx openat text &&
		run 0 completion --list objects && grep -qx thread text
	result $? "values of fields"
	run 2 completion --list nonsense && says 'no kind "nonsense"' &&
		run 2 completion --list events more
	result $? "an unknown list is refused"
}

# ---- real shells --------------------------------------------------------------

# A folder with a trace, one without, and a file.
make_place()
{
	mkdir -p place/{pages,plain,trace}
	touch place/trace/metadata place/list
}

# Command lines, and the words that are offered at their end.
cat >expected <<'EOT'
ktape rec: receive record recover
ktape help di: diff
ktape record --ev: --events
ktape record -e sched_pi: sched_pi_setprio
ktape record -e sched,irq_h: sched,irq_handler_entry sched,irq_handler_exit
ktape record --events=sched_pi: sched_pi_setprio
ktape record --mode d: discard
ktape dump --severity: --severity
ktape dump --signal SEG: SEGV
ktape dump --group work: workqueue
ktape dump : trace
ktape dump pa: pages
ktape dump l: list
ktape snapshot -o p: pages plain
ktape convert --to tban: tband
ktape probe r: remove
ktape trigger name add sched_pi: sched_pi_setprio
ktape stop --dev: --device
ktape completion el: elvish
EOT
sed 's/: *[^:]*$//; s/:$//' expected >lines

# in_bash: complete each line as bash does, with its splitting at = and :
in_bash()
{
	# shellcheck disable=SC2016	# of the other bash
	bash --norc -c '
		source "$1"
		cd place
		while IFS= read -r line; do
			read -r -a COMP_WORDS <<<"${line//=/ = }"
			[[ $line != *" " ]] || COMP_WORDS+=("")
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			_ktape ktape "${COMP_WORDS[-1]}" ""
			echo "$line: $(printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd " ")"
		done' bash "$work/bash" 2>>log
}

in_zsh()
{
	mkdir of_zsh
	(cd place && timeout 1200 zsh -f "$here/complete.zsh" "$work/zsh" \
		"$work/of_zsh" 2>>../log)
}

# Newer versions of fish also print words that only contain the letters, which the
# shell offers if no word begins with them.
in_fish()
{
	# shellcheck disable=SC2016	# of fish
	timeout 1200 fish --no-config -c '
		source $argv[1]
		cd place
		while read -l line
			set -l word (string match -r "[^ ]*\$" -- $line)
			set -l found (complete --do-complete="$line" |
				string replace -r "\t.*" "" | sort)
			set -l begin (string match -r -- \
				"^"(string escape --style=regex -- "$word")".*" $found)
			if set -q begin[1]
				set found $begin
			end
			echo "$line: "(string join " " -- $found)
		end' "$work/fish" 2>>log
}

# same: lists with commas and folders look differently in each shell
same()
{
	sed -E 's/ +$//; s/:$/: /; s,/( |$),\1,g; s/ --events=/ /g; s/\<sched,(irq)/\1/g; s/ +$//'
}

test_shell()
{
	local shell=$1

	if ! command -v "$shell" >/dev/null; then
		n=$((n + 1))
		echo "ok $n - $shell completes command lines # SKIP no $shell"
		return
	fi
	: >log
	"in_$shell" <lines >offered
	diff <(same <expected) <(same <offered) >>log
	[ "$(wc -l <offered)" = "$(wc -l <expected)" ] && [ ! -s log ]
	result $? "$shell completes command lines"
}

# elvish needs a terminal, and evaluates its configuration before it reads from that.
test_elvish()
{
	local name="elvish takes the script and completes command lines"

	if ! command -v elvish >/dev/null; then
		n=$((n + 1))
		echo "ok $n - $name # SKIP no elvish"
		return
	fi
	cat >rc.elv <<-EOT
		eval (slurp < $work/elvish)
		fn offered {|@words|
			\$edit:completion:arg-completer[ktape] \$@words |
				each {|c| put (repr \$c) } | to-lines
		}
		{
			offered ktape probe r
			offered ktape record --mode=x
			offered ktape stop -
		} > $work/offered.new
		e:mv $work/offered.new $work/offered
	EOT
	rm -f offered
	timeout 1200 "$here/../../support/terminal.py" offered elvish -rc rc.elv >said 2>&1
	grep -oE "complex-candidate '?[a-z=-]+" offered | sed "s/.* '*//" |
		paste -sd ' ' >log
	diff log - <<<'add list remove --mode=discard --mode=overwrite --mode=snapshot --device -h --help' >>said ||
		{ cat -v said >>log; false; }
	result $? "$name"
}

echo "TAP version 13"
test_tables
test_quotes
test_after
test_lists
make_place
test_shell bash
test_shell zsh
test_shell fish
test_elvish
n=$((n + 1))
if command -v pwsh >/dev/null; then
	# shellcheck disable=SC2016	# of PowerShell
	pwsh -NoProfile -c '[scriptblock]::Create((Get-Content -Raw powershell)) | Out-Null' >log 2>&1
	n=$((n - 1))
	result $? "PowerShell takes the script"
else
	echo "ok $n - PowerShell takes the script # SKIP no pwsh, which Debian does not have"
fi
echo "1..$n"
exit $failed
