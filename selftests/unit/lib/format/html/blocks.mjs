// SPDX-License-Identifier: GPL-2.0-only
// The blocks of a page, as the viewer gets them from the browser.

const tag = /<script type="text\/ktape" data-kind="(\w+)" data-name="(\w*)" data-nr="(\d+)" data-at="(\d+)" data-bytes="(\d+)" data-crc="(\w+)">([^<]*)<\/script>/g;

export function blocksOf(page)
{
	return [...page.matchAll(tag)].map((m) => ({
		kind: m[1], name: m[2], nr: Number(m[3]), at: Number(m[4]), bytes: Number(m[5]),
		crc: parseInt(m[6], 16), text: m[7],
	}));
}
