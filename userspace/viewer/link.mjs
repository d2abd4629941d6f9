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
		parts.push(["range", `${Math.round(timeline.range.from)},${Math.round(timeline.range.to)}`]);
	parts.push(...timeline.tracks.parts());
	for (const [name, text] of [["find", timeline.filter], ["filter", list.text]]) {
		if (text)
			parts.push([name, encodeURIComponent(text)]);
	}
	return `#${parts.map(([name, text]) => `${name}=${text}`).join("&")}`;
}

/** Return the index of a span or event that an address has, -1 if there is none below @n. */
export function indexOf(text, n)
{
	return /^\d+$/.test(text ?? "") && Number(text) < n ? Number(text) : -1;
}

/** Return the interval that an address has, in whole ns and limited to the trace, or null. */
export function intervalOf(text, { first, last })
{
	const m = /^(-?\d+),(-?\d+)$/.exec(text ?? ""), room = Math.round((last - first) * 0.05) + 1;
	const [from, to] = (m ?? []).slice(1).map((t) => Math.min(Math.max(Number(t), first - room), last + room));
	return to > from ? { from, to } : null;
}

/** Show what an address says.  Parts that it does not have are as at first. */
export function takeLink(page, hash)
{
	const link = new URLSearchParams(hash.slice(1)), { model, timeline } = page;
	const visible = intervalOf(link.get("t"), model), range = intervalOf(link.get("range"), model);
	const span = indexOf(link.get("span"), model.spans.n), event = indexOf(link.get("event"), model.events.n);
	timeline.tracks.take((name) => link.get(name));
	field("search").value = link.get("find") ?? "";
	timeline.setFilter(field("search").value);
	if ((link.get("filter") ?? "") !== page.list.text) {
		field("filter").value = link.get("filter") ?? "";
		page.list.setFilter(field("filter").value);
	}
	timeline.range = range;
	if (visible)
		page.view.set(visible.from, visible.to);
	if (span >= 0) {
		const place = model.placeOf(span);
		if (place)
			timeline.reveal(place.track);
		page.selectSpan(span);
	} else if (event >= 0) {
		page.selectEvent(event, false);
	}
	if (range)
		page.choose({ range });
}
