// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program of the page: ktape convert, with the arguments that the page gives.
 * "options" prints the options of the command, from which the page makes its form.
 */
#include <stdio.h>
#include <string.h>

#include "tool/convert/convert.h"
#include "tool/shared/text.h"

/* Print one line of JSON for each option that takes a value. */
static int put_options(void)
{
	const struct kt_option *o;

	for (o = command_convert.options; o->name; o++) {
		if (!o->arg)
			continue;
		printf("{\"key\":\"%s\",\"value\":", o->name);
		put_json_text(o->arg);
		printf(",\"help\":");
		put_json_text(o->help);
		printf("}\n");
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "options"))
		return put_options();
	return command_convert.run(argc, argv);
}
