/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders of paths, and symbolic links. */
#ifndef _KT_PATH_H
#define _KT_PATH_H

char *kt_path_folder(const char *path);
int kt_path_follow(const char *path, char **place);
int kt_path_follow_root(const char *path, char **place);

#endif /* _KT_PATH_H */
