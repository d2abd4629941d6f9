// SPDX-License-Identifier: GPL-2.0-only
// Can everybody use a page: what screen readers get, and colours as colour-blind eyes see
// them.

/* Roles of what a person uses. */
const CONTROLS = new Set(["button", "checkbox", "combobox", "link", "listbox", "menuitem", "option", "radio", "searchbox", "slider",
	"spinbutton", "switch", "tab", "textbox", "DisclosureTriangle"]);

/* What is left of linear RGB: Machado, Oliveira and Fernandes (2009), severity 1. */
const SIGHT = {
	everybody: [1, 0, 0, 0, 1, 0, 0, 0, 1],
	protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
	deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881],
	tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900],
};

/** Return the controls of a page, and what else can have the focus, that have no name. */
export async function unnamed(tab)
{
	await tab.send("Accessibility.enable");
	const { nodes } = await tab.send("Accessibility.getFullAXTree");
	await tab.send("Accessibility.disable");
	const used = nodes.filter((n) => !n.ignored && (CONTROLS.has(n.role?.value) || n.properties?.some((p) => p.name === "focusable" && p.value.value)) &&
		!["RootWebArea", "generic"].includes(n.role?.value));
	return { nr: used.length, without: used.filter((n) => !n.name?.value?.trim()).map((n) => `${n.role.value} ${n.backendDOMNodeId}`) };
}

/** Return a colour "#rrggbb" as CIE L*a*b*, as eyes see it. */
function lab(colour, sight)
{
	const linear = colour.match(/\w\w/g).map((h) => {
		const c = parseInt(h, 16) / 255;
		return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
	});
	const [r, g, b] = [0, 3, 6].map((at) => Math.min(1, Math.max(0, linear.reduce((sum, c, i) => sum + sight[at + i] * c, 0))));
	const f = (t) => t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
	const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * b,
		(0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883].map(f);
	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/**
 * Return pairs of colours that some eyes cannot tell apart.  @groups: in each, colours of
 * one list must differ from those of the others, by @least in L*a*b*.
 */
export function alike(colours, groups, least)
{
	const found = [];
	for (const [who, sight] of Object.entries(SIGHT)) {
		for (const lists of groups) {
			for (const [i, list] of lists.entries()) {
				for (const [a, b] of list.flatMap((one) => lists.slice(i + 1).flat().map((other) => [one, other]))) {
					const [x, y] = [colours[a], colours[b]].map((c) => lab(c, sight));
					const distance = Math.hypot(...x.map((v, k) => v - y[k]));
					if (distance < least)
						found.push(`${who}: ${a} and ${b}, ${distance.toFixed(1)}`);
				}
			}
		}
	}
	return found;
}
