// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the script of a shell as ktape completion does.  The build runs this program when it
 * cross-compiles, because the machine that builds cannot run the new ktape.  It has the tables
 * of the commands without their functions (KT_TABLES_ONLY, tool/shared/opt.h).
 *
 * Exit status: 0, 1 if the script cannot be written, 2 if there is no such shell.
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
