// SPDX-License-Identifier: GPL-2.0-only
// Files in memory: a folder is a Map of names, a file has read(), write() and size.

const PAGE = 1 << 18;	// bytes of a page of a written file
const WINDOW = 1 << 20;	// bytes of a chosen file that are kept

/** A file that is written, in pages. */
export class Written {
	constructor()
	{
		this.size = 0;
		this.pages = [];
	}

	/** Copy from offset @at into @to.  Return the number of bytes. */
	read(at, to)
	{
		const nr = Math.min(to.length, Math.max(0, this.size - at));
		for (let done = 0; done < nr;) {
			const from = (at + done) % PAGE, page = this.pages[(at + done - from) / PAGE];
			const n = Math.min(nr - done, PAGE - from);
			if (page)
				to.set(page.subarray(from, from + n), done);
			else
				to.fill(0, done, done + n);
			done += n;
		}
		return nr;
	}

	write(at, from)
	{
		for (let done = 0; done < from.length;) {
			const to = (at + done) % PAGE, i = (at + done - to) / PAGE;
			const n = Math.min(from.length - done, PAGE - to);
			this.pages[i] ??= new Uint8Array(PAGE);
			this.pages[i].set(from.subarray(done, done + n), to);
			done += n;
		}
		this.size = Math.max(this.size, at + from.length);
	}

	/** Make the file shorter or longer; bytes behind the end are 0. */
	resize(size)
	{
		if (size < this.size) {
			this.pages.length = Math.ceil(size / PAGE);
			if (size % PAGE)
				this.pages.at(-1)?.fill(0, size % PAGE);
		}
		this.size = size;
	}

	/** Return the content as parts for a Blob. */
	parts()
	{
		const parts = [];
		for (let at = 0; at < this.size; at += PAGE) {
			const page = this.pages[at / PAGE] ?? new Uint8Array(PAGE);
			parts.push(page.subarray(0, Math.min(PAGE, this.size - at)));
		}
		return parts;
	}
}

/** Bytes that are only read. */
export class Given {
	constructor(bytes)
	{
		this.bytes = bytes;
		this.size = bytes.length;
	}

	read(at, to)
	{
		const part = this.bytes.subarray(at, at + to.length);
		to.set(part);
		return part.length;
	}
}

/** A Blob that is only read, a part at a time.  Only workers can do that. */
export class Chosen {
	constructor(blob)
	{
		this.blob = blob;
		this.size = blob.size;
		this.from = 0;
		this.bytes = new Uint8Array(0);
	}

	/** Copy as Written.read() does: fewer bytes than asked for are read at the end only. */
	read(at, to)
	{
		const end = Math.min(at + to.length, this.size);
		if (at < this.from || end > this.from + this.bytes.length) {
			const part = this.blob.slice(at, at + Math.max(WINDOW, to.length));
			this.bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(part));
			this.from = at;
		}
		const part = this.bytes.subarray(at - this.from, at - this.from + to.length);
		to.set(part);
		return part.length;
	}
}

export const isFolder = (node) => node instanceof Map;

/** Split a path into names; ".." never leads out of the root. */
export function namesOf(path)
{
	const names = [];
	for (const name of path.split("/")) {
		if (name === "..")
			names.pop();
		else if (name && name !== ".")
			names.push(name);
	}
	return names;
}

/** Put a file into a tree, with the folders above it. */
export function place(root, path, file)
{
	const names = namesOf(path), last = names.pop();
	let folder = root;
	for (const name of names) {
		if (!isFolder(folder.get(name)))
			folder.set(name, new Map());
		folder = folder.get(name);
	}
	folder.set(last, file);
}

/** Return all files below a folder, as [path, file], by path. */
export function filesBelow(folder, path = "")
{
	const all = [];
	for (const name of [...folder.keys()].sort()) {
		const node = folder.get(name), at = path ? `${path}/${name}` : name;
		if (isFolder(node))
			all.push(...filesBelow(node, at));
		else
			all.push([at, node]);
	}
	return all;
}
