#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draw what a terminal shows as SVG: screen.py <TEXT >screen.svg

Lines that begin with "$ " are commands.  The text of the picture in README.md comes
from a guest: the commands in it were run there.
"""
import html
import sys

WIDTH, HEIGHT, MARGIN, BORDER = 7.83, 17, 12, 6    # of a character, and around all
COLOURS = {"command": "#7ee787", "good": "#79c0ff", "head": "#d2a8ff", "": "#c9d1d9"}
HEADS = ("CPU ", "   thread name", "latencies", "  waiting name")
GOOD = ("PROVED", "nothing is wrong")


def kind(line):
    if line.startswith("$ "):
        return "command"
    if line.startswith(GOOD):
        return "good"
    return "head" if line.startswith(HEADS) else ""


def main():
    lines = sys.stdin.read().expandtabs().splitlines()
    width = MARGIN * 2 + WIDTH * max(map(len, lines))
    height = MARGIN * 2 + HEIGHT * len(lines)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
          f'height="{height}" font-size="13" font-family="ui-monospace, '
          'SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace">')
    print(f'<rect width="100%" height="100%" rx="{BORDER}" fill="#0d1117"/>')
    for i, line in enumerate(lines):
        if line:
            print(f'<text x="{MARGIN}" y="{MARGIN + HEIGHT * (i + 0.75):.2f}" '
                  f'textLength="{WIDTH * len(line):.1f}" xml:space="preserve" '
                  f'fill="{COLOURS[kind(line)]}">{html.escape(line)}</text>')
    print("</svg>")


main()
