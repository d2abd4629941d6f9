/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folders of paths, and symbolic links.  The caller frees the paths.
 *
 * kt_path_folder() returns NULL without memory.  The other two follow symbolic links at the end of
 * a path: *@place is what the last one leads to, which need not exist.  kt_path_follow_root(), for
 * a process that writes as root, refuses with -ELOOP a link in a folder that another user may
 * write, because that user could have made it.  Both return 0 or a negative errno, -ENOMEM
 * included; with 0 and NULL the path is a link in /proc to an open file: open it as it is.
 */
#ifndef _KT_PATH_H
#define _KT_PATH_H

char *kt_path_folder(const char *path);
int kt_path_follow(const char *path, char **place);
int kt_path_follow_root(const char *path, char **place);

#endif /* _KT_PATH_H */
