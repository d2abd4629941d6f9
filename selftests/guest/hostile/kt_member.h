/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Act as a member of the group that dev_mode=0640 lets read: become a user without
 * capabilities, and root again.
 */
#ifndef _KT_MEMBER_H
#define _KT_MEMBER_H

#include <grp.h>
#include <unistd.h>

#include "kt_module.h"
#include "kt_session.h"

/* No passwd or group file is needed: the kernel only compares numbers. */
#define KT_GROUP  4242
#define KT_MEMBER 4001

/* Load the module, so that the group reads.  Return: 0 or a negative errno. */
static inline int kt_member_load(const char *parameters)
{
	char all[128];
	int ret;

	snprintf(all, sizeof(all), "dev_mode=0640 %s", parameters);
	ret = kt_insmod_ktape(all);
	if (!ret && chown(KT_DEVICE, 0, KT_GROUP))
		ret = -errno;
	return ret;
}

/*
 * Become user @uid of the group; the saved uid stays 0, for kt_member_end().  Return: 0 or a
 * negative errno.
 */
static inline int kt_member_as(uid_t uid)
{
	gid_t group = KT_GROUP;

	return setgroups(1, &group) || setresgid(uid, uid, 0) ||
			       setresuid(uid, uid, 0) ?
		       -errno :
		       0;
}

/* Become root again.  Return: 0 or a negative errno. */
static inline int kt_member_end(void)
{
	return setresuid(0, 0, 0) || setresgid(0, 0, 0) || setgroups(0, NULL) ?
		       -errno :
		       0;
}

/* Open the device for reading as user @uid.  Return: the descriptor or a negative errno. */
static inline int kt_member_open(uid_t uid)
{
	int fd = kt_member_as(uid), ret;

	if (!fd)
		fd = kt_open(O_RDONLY | O_NONBLOCK);
	ret = kt_member_end();
	return ret ? ret : fd;
}

/*
 * Open a session for reading as a member, through its descriptor @dev.  Return: the descriptor
 * or a negative errno.
 */
static inline int kt_member_attach(int dev, const char *name)
{
	int fd = kt_member_as(KT_MEMBER), ret;

	if (!fd)
		fd = kt_attach(dev, name, 0);
	ret = kt_member_end();
	return ret ? ret : fd;
}

#endif /* _KT_MEMBER_H */
