// SPDX-License-Identifier: GPL-2.0-only
// The address of a view: what is visible and selected, how the tracks are arranged, what
// is searched for and listed.

const field = (id) => document.getElementById(id);

/** Return the part of the address behind "#". */
export function linkOf({ view, selected, timeline, list })
{
	const parts = [["t", `${Math.round(view.from)},${Math.round(view.to)}`]];
	if (selected.span >= 0)
		parts.push(["span", selected.span]);
	if (selected.event >= 0)
		parts.push(["event", selected.event]);
	if (timeline.range)
		parts.push(["range", `${timeline.range.from},${timeline.range.to}`]);
	parts.push(...timeline.tracks.parts());
	for (const [name, text] of [["find", timeline.filter], ["filter", list.text]]) {
		if (text)
			parts.push([name, encodeURIComponent(text)]);
	}
	return `#${parts.map(([name, text]) => `${name}=${text}`).join("&")}`;
}

/** Show what an address says.  Parts that it does not have are as at first. */
export function takeLink(page, hash)
{
	const link = new URLSearchParams(hash.slice(1)), { model, timeline } = page;
	const pair = (name) => (link.get(name) ?? "").split(",").map(Number);
	const [from, to] = pair("t"), [a, b] = pair("range");
	const span = Number(link.get("span") ?? -1), event = Number(link.get("event") ?? -1);
	timeline.tracks.take((name) => link.get(name));
	field("search").value = link.get("find") ?? "";
	timeline.setFilter(field("search").value);
	if ((link.get("filter") ?? "") !== page.list.text) {
		field("filter").value = link.get("filter") ?? "";
		page.list.setFilter(field("filter").value);
	}
	timeline.range = b > a ? { from: a, to: b } : null;
	if (to > from)
		page.view.set(from, to);
	if (span >= 0 && span < model.spans.n) {
		const place = model.placeOf(span);
		if (place)
			timeline.reveal(place.track);
		page.selectSpan(span);
	} else if (event >= 0 && event < model.events.n) {
		page.selectEvent(event, false);
	}
	if (b > a)
		page.choose({ range: timeline.range });
}
