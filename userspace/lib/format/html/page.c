// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The text of a page around its data, from userspace/viewer.  The Makefile makes viewer_head.inc
 * and viewer_tail.inc, lists of bytes: html_page_head is what stands before the blocks,
 * html_page_tail, with the scripts, what stands after them.
 */
#include "internal.h"

const char html_page_head[] = {
#include "viewer_head.inc"
};
const size_t html_page_head_len = sizeof(html_page_head);

const char html_page_tail[] = {
#include "viewer_tail.inc"
};
const size_t html_page_tail_len = sizeof(html_page_tail);
