// SPDX-License-Identifier: GPL-2.0-only
// Controls for the options of a format, and for those that select a part of the trace,
// made from what the command says of them.

/** Make an element; @more: attributes, then children. */
export function element(name, attributes = {}, ...children)
{
	const e = document.createElement(name);
	for (const [k, v] of Object.entries(attributes)) {
		if (typeof v === "function")
			e.addEventListener(k, v);
		else if (v !== false)
			e.setAttribute(k, v === true ? "" : v);
	}
	e.append(...children);
	return e;
}

function control(id, option)
{
	if (option.value === "FILE")
		return element("input", { type: "file", id });
	if (!option.value.includes("|"))
		return element("input", { type: "text", id, size: 8, placeholder: option.value, autocomplete: "off",
			inputmode: /^(N|HZ|CPU|PID)$/.test(option.value) ? "numeric" : "text" });
	return element("select", { id }, element("option", { value: "" }, "default"),
		...option.value.split("|").map((v) => element("option", { value: v }, v)));
}

/** The options of one format. */
export class Options {
	constructor(box)
	{
		this.box = box;
		this.list = [];
	}

	/** Show controls for @list; @left: keys that have a control elsewhere. */
	show(list, left = [])
	{
		this.list = list.filter((o) => !left.includes(o.key));
		this.box.replaceChildren(...this.list.map((o) => {
			const id = `${this.box.id}-${o.key}`;
			return element("div", { class: "option" }, element("label", { for: id }, o.key), control(id, o),
				element("span", { class: "help" }, o.help));
		}));
		this.box.hidden = !this.list.length;
	}

	/** Return what was set, as [key, value] each. */
	pairs()
	{
		return this.list.map((o) => [o.key, document.getElementById(`${this.box.id}-${o.key}`).value.trim()]).filter(([, v]) => v);
	}

	/** Return { text, files }: "key=value,..." of what was set, and the files it names. */
	read()
	{
		const parts = [], files = [];
		for (const o of this.list) {
			const input = document.getElementById(`${this.box.id}-${o.key}`);
			if (o.value === "FILE" && input.files.length) {
				const path = `option-${o.key}`;
				files.push({ path, blob: input.files[0] });
				parts.push(`${o.key}=/${path}`);
			} else if (o.value !== "FILE" && input.value.trim()) {
				parts.push(`${o.key}=${input.value.trim()}`);
			}
		}
		return { text: parts.join(","), files };
	}
}
