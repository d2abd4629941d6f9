# SPDX-License-Identifier: GPL-2.0-only
# Print the options of a man page as "--name ARGUMENT", one line per name: those on
# lines of .It Fl.  With -v section=NAME only those of that section.
#
#	.It Fl f , Fl -from Ar format Ns Op : Ns Ar key Ns = Ns Ar value , Ns ...
#
# gives "-f FORMAT[:KEY=VALUE,...]" and the same for --from.

# add TEXT to the argument of the names that wait for one
function add(text) {
	argument = argument text
}

function finish(   i) {
	if (nr == 0)
		return
	if (bracket)
		add("]")
	for (i = 1; i <= nr; i++)
		print name[i] (argument == "" ? "" : " " toupper(argument))
	nr = 0
	argument = ""
	bracket = 0
}

BEGIN { inside = section == "" }
section != "" && /^\.S[sh] / { inside = $2 == section }
!inside || !/^\.It Fl / { next }
{
	names = 1
	for (i = 2; i <= NF; i++) {
		if ($i == "Fl" && argument != "" && i == NF)
			add("-")		# "file | -"
		else if ($i == "Fl") {
			if (argument != "")
				finish()
			names = 1
		} else if ($i == "Ar" || $i == "Cm")
			names = 0
		else if ($i == "Op") {
			bracket = 1
			add("[")
		} else if ($i == "Ns")
			names = 0
		else if ($i == "," && $(i + 1) != "Ns" && !names)
			finish()
		else if ($i == "," && names)
			continue
		else if (names)
			name[++nr] = "-" $i
		else
			add($i)
	}
	finish()
}
