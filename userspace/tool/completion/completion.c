// SPDX-License-Identifier: GPL-2.0-only
/* ktape completion: print the script that lets a shell complete command lines. */
#include "tool/completion/completion.h"
#include "tool/shared/message.h"
#include "tool/shared/terminal.h"

struct completion_options {
	const char *list;
	bool after;
};

static const struct kt_option options[] = {
	{ "list", 0, KT_OPT_TEXT, offsetof(struct completion_options, list),
	  "KIND", "for the scripts: print the words of a kind" },
	{ "after", 0, KT_OPT_FLAG, offsetof(struct completion_options, after),
	  NULL, "for the scripts: print what can follow WORD..." },
	{ .name = NULL },
};

static int cmd_completion(int argc, char **argv)
{
	struct completion_options o = { .after = false };
	int first, ret;

	ret = kt_options(&command_completion, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (o.after) {
		completion_after(argc - first, argv + first);
		return finish_stdout();
	}
	if (o.list && first != argc)
		return misuse(&command_completion, "--list takes no operands");
	if (o.list) {
		if (!completion_words(o.list))
			return misuse(&command_completion,
				      "--list: there is no kind \"%s\"", o.list);
		return finish_stdout();
	}
	if (argc - first != 1)
		return misuse(&command_completion,
			      "give one shell: bash, zsh, fish, elvish or powershell");
	if (!completion_script(argv[first]))
		return misuse(&command_completion,
			      "unknown shell \"%s\": give bash, zsh, fish, elvish or powershell",
			      argv[first]);
	return finish_stdout();
}

const struct kt_command command_completion = {
	.name = "completion",
	.operands = "SHELL",
	.help = "print the script with which a shell completes command lines",
	.more = "SHELL is bash, zsh, fish, elvish or powershell.  In bash:\n"
		"  source <(ktape completion bash)\n",
	.options = options,
	.in_order = 1,
	.run = KT_RUN(cmd_completion),
};
