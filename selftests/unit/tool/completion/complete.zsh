# SPDX-License-Identifier: GPL-2.0-only
# zsh -f complete.zsh SCRIPT FOLDER: read command lines, and print for each what an
# interactive zsh offers at its end.  FOLDER is for files of this program.
zmodload zsh/zpty
folder=$2
zpty shell "TERM=dumb zsh -f -i"
# Words with -O, -A or -D only sort: they offer nothing.
zpty -w shell "PS1= PS2= RPS1=
unsetopt zle_bracketed_paste
autoload -U compinit
compinit -D -u
source $1
compadd()
{
	local -a offered
	[[ \${@[(I)-[OAD]*]} -gt 0 ]] || {
		builtin compadd -O offered \"\$@\"
		print -rl -- \$offered >>$folder/offered
	}
	builtin compadd \"\$@\"
}
offer()
{
	zle list-choices 2>/dev/null
	zle kill-whole-line
	: >$folder/ended
}
zle -N offer
bindkey '^T' offer
: >$folder/ready"
until [[ -e $folder/ready ]]; do
	sleep 0.05
done
while IFS= read -r line; do
	rm -f $folder/ended
	: >$folder/offered
	zpty -w -n shell "$line"$'\x14'
	until [[ -e $folder/ended ]]; do
		sleep 0.05
	done
	print -r -- "$line: ${(j: :)${(f)"$(grep . $folder/offered | sort -u)"}}"
done
zpty -d shell
