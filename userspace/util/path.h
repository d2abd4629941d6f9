/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folders of paths, and symbolic links.  The caller frees the paths, which are NULL without
 * memory.  kt_path_follow() and kt_path_follow_root() return 0 or a negative errno; with 0 and
 * NULL the path is a link in /proc to an open file: open it as it is.
 */
#ifndef _KT_PATH_H
#define _KT_PATH_H

char *kt_path_folder(const char *path);
int kt_path_follow(const char *path, char **place);
int kt_path_follow_root(const char *path, char **place);

#endif /* _KT_PATH_H */
