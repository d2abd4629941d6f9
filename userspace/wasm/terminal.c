// SPDX-License-Identifier: GPL-2.0-only
/* In the place of tool/shared/color.c and tool/shared/pager.c: there is no terminal. */
#include "tool/shared/color.h"
#include "tool/shared/terminal.h"

bool color_choose(const char *when)
{
	(void)when;
	return true;
}

const char *role_begin(enum kt_role role)
{
	(void)role;
	return "";
}

const char *role_end(void)
{
	return "";
}

const char *message_begin(enum kt_role role)
{
	(void)role;
	return "";
}

const char *message_end(void)
{
	return "";
}

bool pager_has_ended(void)
{
	return false;
}
