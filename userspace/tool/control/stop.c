// SPDX-License-Identifier: GPL-2.0-only
/* ktape stop, clear and destroy: the commands that act on a session at once. */
#include <errno.h>
#include <string.h>

#include <ktape.h>

#include "tool/control/control.h"
#include "tool/session/session.h"
#include "tool/shared/message.h"

struct control_options {
	const char *device;
};

static const struct kt_option options[] = {
	{ "device", 0, KT_OPT_TEXT, offsetof(struct control_options, device),
	  "PATH", "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

static int run_control(const struct kt_command *command, int argc, char **argv,
		       int (*act)(struct ktape_device *device))
{
	struct control_options o = { .device = NULL };
	struct ktape_device *device;
	int first, ret;

	ret = kt_options(command, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (argc - first > 1)
		return misuse(command, "too many operands: give at most one NAME");
	if (open_named(o.device, first < argc ? argv[first] : NULL, true, &device))
		return EXIT_FAILED;
	ret = act(device);
	ktape_device_close(device);
	if (ret)
		return fail("cannot %s the session: %s", command->name,
			    strerror(-ret));
	return EXIT_OK;
}

static int cmd_stop(int argc, char **argv)
{
	return run_control(&command_stop, argc, argv, ktape_device_stop);
}

static int cmd_clear(int argc, char **argv)
{
	return run_control(&command_clear, argc, argv, ktape_device_clear);
}

static int cmd_destroy(int argc, char **argv)
{
	struct control_options o = { .device = NULL };
	struct ktape_device *device;
	const char *name;
	int first, ret;

	ret = kt_options(&command_destroy, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (argc - first != 1)
		return misuse(&command_destroy,
			      "give exactly one session NAME (ktape status lists them)");
	name = argv[first];
	if (open_device(o.device, true, &device))
		return EXIT_FAILED;
	ret = ktape_device_destroy(device, name);
	ktape_device_close(device);
	if (ret == -ENOENT)
		return fail("there is no session \"%s\" (ktape status lists them)",
			    name);
	if (ret == -EBUSY)
		return fail("session 0 cannot be destroyed: it lasts as long as the module");
	if (ret)
		return fail("session %s: %s", name, strerror(-ret));
	return EXIT_OK;
}

const struct kt_command command_stop = {
	.name = "stop",
	.operands = "[NAME]",
	.help = "stop a session (default: session 0); its records are kept",
	.options = options,
	.run = KT_RUN(cmd_stop),
};

const struct kt_command command_clear = {
	.name = "clear",
	.operands = "[NAME]",
	.help = "delete the records of a session (default: session 0)",
	.options = options,
	.run = KT_RUN(cmd_clear),
};

const struct kt_command command_destroy = {
	.name = "destroy",
	.operands = "NAME",
	.help = "stop a session and free it with its records",
	.options = options,
	.run = KT_RUN(cmd_destroy),
};
