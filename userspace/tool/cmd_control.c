// SPDX-License-Identifier: GPL-2.0-only
/* ktape start, stop, clear: session 0. */
#include <string.h>

#include "opt.h"
#include "tool.h"

struct control_options {
	const char *device;
};

static const struct kt_option options[] = {
	{ "device", 0, KT_OPT_TEXT, offsetof(struct control_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

static int control(const struct kt_command *command, int argc, char **argv,
		   int (*act)(struct ktape_device *device))
{
	struct control_options o = { .device = NULL };
	struct ktape_device *device;
	int first, ret;

	ret = kt_options(command, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (first != argc)
		return misuse(command, "it takes no operands");
	if (open_device(o.device, true, &device))
		return EXIT_FAILED;
	ret = act(device);
	ktape_device_close(device);
	if (ret)
		return fail("%s: %s", command->name, strerror(-ret));
	return EXIT_OK;
}

static int start(int argc, char **argv)
{
	return control(&command_start, argc, argv, ktape_device_start);
}

static int stop(int argc, char **argv)
{
	return control(&command_stop, argc, argv, ktape_device_stop);
}

static int clear(int argc, char **argv)
{
	return control(&command_clear, argc, argv, ktape_device_clear);
}

const struct kt_command command_start = {
	.name = "start",
	.operands = "",
	.help = "let session 0 record",
	.options = options,
	.run = start,
};

const struct kt_command command_stop = {
	.name = "stop",
	.operands = "",
	.help = "stop session 0; what it recorded stays",
	.options = options,
	.run = stop,
};

const struct kt_command command_clear = {
	.name = "clear",
	.operands = "",
	.help = "forget what session 0 has recorded",
	.options = options,
	.run = clear,
};
