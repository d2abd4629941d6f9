// SPDX-License-Identifier: GPL-2.0-only
/* In the place of tool/color.c and tool/pager.c: there is no terminal. */
#include "tool/color.h"

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
