// SPDX-License-Identifier: GPL-2.0-only
/* The program of the page: ktape convert, with the arguments that the page gives. */
#include "tool/opt.h"
#include "tool/tool.h"

int main(int argc, char **argv)
{
	return command_convert.run(argc, argv);
}
