// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the script of a shell as ktape completion does, on a machine that cannot run
 * the ktape that is being built.  Built with the tables of the commands alone.
 */
#include <stdio.h>

#include "tool/commands.h"
#include "tool/completion/completion.h"
#include "tool/shared/opt.h"

int main(int argc, char **argv)
{
	kt_commands_set(kt_commands);
	if (argc != 2 || !completion_script(argv[1]))
		return 2;
	return fflush(stdout) || ferror(stdout);
}
