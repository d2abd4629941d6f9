// SPDX-License-Identifier: GPL-2.0-only
// Run a program made for WASI (preview 1) on files in memory.  It can reach nothing
// else: no network, no other file, no clock but the time.

import { isFolder, namesOf, Written } from "./files.mjs";

const OK = 0, BADF = 8, EXIST = 20, INVAL = 28, ISDIR = 31, NOENT = 44, NOTDIR = 54,
	NOTEMPTY = 55, PERM = 63, SPIPE = 70;
const TERMINAL = 2, FOLDER = 3, FILE = 4;	// types of files
const CREATE = 1, NEED_FOLDER = 2, EXCLUSIVE = 4, TRUNCATE = 8;	// flags of path_open
const APPEND = 1;
const SUBSCRIPTION = 48, EVENT = 32;	// bytes of one, for poll_oneoff
const ROOT = 3;		// the descriptor of the root
const RANDOM_MAX = 65536;	// bytes that crypto gives at a time

/** The program has ended by itself. */
class Exit extends Error {
	constructor(code)
	{
		super(`exit ${code}`);
		this.code = code;
	}
}

/** Standard output and error: what is written goes to a function. */
class Stream {
	constructor(take)
	{
		this.take = take;
	}
}

class Program {
	constructor(args, root, out, error)
	{
		this.args = args.map((a) => new TextEncoder().encode(`${a}\0`));
		this.root = root;
		this.memory = null;
		this.inodes = new WeakMap();
		this.inode = 1n;
		this.open = [{ node: new Stream(() => {}) }, { node: new Stream(out) }, { node: new Stream(error) }, { node: root }];
	}

	// ---- memory of the program --------------------------------------------------------

	get view()
	{
		return new DataView(this.memory.buffer);
	}

	bytes(at, len)
	{
		return new Uint8Array(this.memory.buffer, at >>> 0, len >>> 0);
	}

	/** Return the pieces of an array of iovec. */
	pieces(at, nr)
	{
		const view = this.view, all = [];
		for (let i = 0; i < nr; i++)
			all.push(this.bytes(view.getUint32(at + i * 8, true), view.getUint32(at + i * 8 + 4, true)));
		return all;
	}

	put32(at, value)
	{
		this.view.setUint32(at >>> 0, value, true);
		return OK;
	}

	put64(at, value)
	{
		this.view.setBigUint64(at >>> 0, BigInt(value), true);
		return OK;
	}

	// ---- files ------------------------------------------------------------------------------

	/** Find a path.  Return { folder, name, node, error }; node is undefined if absent. */
	find(fd, at, len)
	{
		const start = this.open[fd]?.node;
		const path = new TextDecoder().decode(this.bytes(at, len));
		if (!isFolder(start))
			return { error: start ? NOTDIR : BADF };
		const names = namesOf(path), name = names.pop();
		if (name === undefined)
			return { node: path.startsWith("/") ? this.root : start };
		let folder = start;
		for (const n of names) {
			folder = folder.get(n);
			if (!isFolder(folder))
				return { error: folder ? NOTDIR : NOENT };
		}
		return { folder, name, node: folder.get(name) };
	}

	inodeOf(node)
	{
		if (!this.inodes.has(node))
			this.inodes.set(node, this.inode++);
		return this.inodes.get(node);
	}

	typeOf(node)
	{
		return isFolder(node) ? FOLDER : node instanceof Stream ? TERMINAL : FILE;
	}

	putStat(node, to)
	{
		this.bytes(to, 64).fill(0);
		this.put64(to + 8, this.inodeOf(node));
		this.view.setUint8(to + 16, this.typeOf(node));
		this.put64(to + 24, 1);
		this.put64(to + 32, node.size ?? 0);
		return OK;
	}

	transfer(fd, iovs, nr, offset, done, act)
	{
		const f = this.open[fd];
		if (!f)
			return BADF;
		if (isFolder(f.node))
			return ISDIR;
		let at = offset === undefined ? f.at ?? 0 : Number(offset), sum = 0;
		if (offset === undefined && f.append && act === "write")
			at = f.node.size;
		for (const piece of this.pieces(iovs, nr)) {
			const n = this[act](f.node, at, piece);
			if (n < 0)
				return -n;
			at += n;
			sum += n;
			if (n < piece.length)
				break;
		}
		if (offset === undefined)
			f.at = at;
		return this.put32(done, sum);
	}

	read(node, at, to)
	{
		return node instanceof Stream ? 0 : node.read(at, to);
	}

	write(node, at, from)
	{
		if (node instanceof Stream)
			node.take(from.slice());
		else if (node.write)
			node.write(at, from);
		else
			return -PERM;
		return from.length;
	}

	/** Open what was found.  Return the number of an error, or put the descriptor. */
	openFound(found, how, flags, to)
	{
		let { node } = found;
		if (node && how & EXCLUSIVE)
			return EXIST;
		if (!node && !(how & CREATE))
			return NOENT;
		if (node && how & NEED_FOLDER && !isFolder(node))
			return NOTDIR;
		if (!node) {
			node = new Written();
			found.folder.set(found.name, node);
		} else if (how & TRUNCATE) {
			if (!node.resize)
				return isFolder(node) ? ISDIR : PERM;
			node.resize(0);
		}
		let fd = this.open.findIndex((f, i) => i > ROOT && !f);
		fd = fd < 0 ? this.open.length : fd;
		this.open[fd] = { node, at: 0, append: flags & APPEND };
		return this.put32(to, fd);
	}

	putEntries(folder, to, len, cookie, used)
	{
		const names = [...folder.keys()].sort().slice(Number(cookie));
		let at = 0;
		for (const [i, name] of names.entries()) {
			const text = new TextEncoder().encode(name), entry = new Uint8Array(24 + text.length);
			const view = new DataView(entry.buffer), node = folder.get(name);
			view.setBigUint64(0, cookie + BigInt(i) + 1n, true);
			view.setBigUint64(8, this.inodeOf(node), true);
			view.setUint32(16, text.length, true);
			view.setUint8(20, this.typeOf(node));
			entry.set(text, 24);
			const n = Math.min(entry.length, len - at);
			this.bytes(to + at, n).set(entry.subarray(0, n));
			at += n;
			if (at === len)
				break;
		}
		return this.put32(used, at);
	}

	seek(fd, offset, whence, to)
	{
		const f = this.open[fd];
		if (!f)
			return BADF;
		if (f.node instanceof Stream || isFolder(f.node))
			return SPIPE;
		const at = [0, f.at, f.node.size][whence] + Number(offset);
		if (!(at >= 0))
			return INVAL;
		f.at = at;
		return this.put64(to, at);
	}

	/** Answer a poll at once: files in memory are always ready, and so is every clock. */
	poll(subscriptions, to, nr, done)
	{
		for (let i = 0; i < nr; i++) {
			const from = subscriptions + i * SUBSCRIPTION, event = to + i * EVENT;
			this.bytes(event, EVENT).fill(0);
			this.put64(event, this.view.getBigUint64(from, true));
			this.view.setUint8(event + 10, this.view.getUint8(from + 8));
		}
		return this.put32(done, nr);
	}

	remove(found, folder)
	{
		if (found.error || !found.node || !found.folder)
			return found.error ?? NOENT;
		if (isFolder(found.node) !== folder)
			return folder ? NOTDIR : ISDIR;
		if (folder && found.node.size)
			return NOTEMPTY;
		found.folder.delete(found.name);
		return OK;
	}

	putRights(fd, to)
	{
		const f = this.open[fd];
		if (!f)
			return BADF;
		this.bytes(to, 24).fill(0);
		this.view.setUint8(to, this.typeOf(f.node));
		/* A terminal is what cannot seek (1 << 2) or tell (1 << 5). */
		const rights = f.node instanceof Stream ? 0x4an : 0xffffffffn;
		this.put64(to + 8, rights);
		return this.put64(to + 16, rights);
	}

	/** The functions that the program imports. */
	imports()
	{
		const on = (fd, act) => this.open[fd] ? act(this.open[fd]) : BADF;
		return {
			args_sizes_get: (nr, size) => this.put32(nr, this.args.length) ||
				this.put32(size, this.args.reduce((n, a) => n + a.length, 0)),
			args_get: (argv, to) => {
				for (const arg of this.args) {
					this.put32(argv, to);
					this.bytes(to, arg.length).set(arg);
					argv += 4;
					to += arg.length;
				}
				return OK;
			},
			clock_time_get: (id, precision, to) => this.put64(to, Math.round((id ? performance.now() : Date.now()) * 1e6)),
			fd_close: (fd) => on(fd, () => {
				this.open[fd] = undefined;
				return OK;
			}),
			fd_datasync: (fd) => on(fd, () => OK),
			fd_fdstat_get: (fd, to) => this.putRights(fd, to),
			fd_fdstat_set_flags: (fd) => on(fd, () => OK),
			fd_filestat_get: (fd, to) => on(fd, (f) => this.putStat(f.node, to)),
			fd_filestat_set_size: (fd, size) => on(fd, (f) => {
				if (!f.node.resize)
					return INVAL;
				f.node.resize(Number(size));
				return OK;
			}),
			fd_pread: (fd, iovs, nr, offset, done) => this.transfer(fd, iovs, nr, offset, done, "read"),
			fd_prestat_get: (fd, to) => fd === ROOT ? this.put32(to, 0) || this.put32(to + 4, 1) : BADF,
			fd_prestat_dir_name: (fd, to) => {
				this.bytes(to, 1)[0] = 0x2f;
				return OK;
			},
			fd_pwrite: (fd, iovs, nr, offset, done) => this.transfer(fd, iovs, nr, offset, done, "write"),
			fd_read: (fd, iovs, nr, done) => this.transfer(fd, iovs, nr, undefined, done, "read"),
			fd_readdir: (fd, to, len, cookie, used) => on(fd, (f) => isFolder(f.node) ?
				this.putEntries(f.node, to, len, cookie, used) : NOTDIR),
			fd_seek: (fd, offset, whence, to) => this.seek(fd, offset, whence, to),
			fd_sync: (fd) => on(fd, () => OK),
			fd_tell: (fd, to) => this.seek(fd, 0n, 1, to),
			fd_write: (fd, iovs, nr, done) => this.transfer(fd, iovs, nr, undefined, done, "write"),
			path_create_directory: (fd, at, len) => {
				const found = this.find(fd, at, len);
				if (found.error || found.node)
					return found.error ?? EXIST;
				found.folder.set(found.name, new Map());
				return OK;
			},
			path_filestat_get: (fd, flags, at, len, to) => {
				const { node, error } = this.find(fd, at, len);
				return node ? this.putStat(node, to) : error ?? NOENT;
			},
			path_open: (fd, links, at, len, how, rights, inherited, flags, to) => {
				const found = this.find(fd, at, len);
				return found.error ?? this.openFound(found, how, flags, to);
			},
			path_remove_directory: (fd, at, len) => this.remove(this.find(fd, at, len), true),
			path_rename: (fd, at, len, to, toAt, toLen) => {
				const from = this.find(fd, at, len), place = this.find(to, toAt, toLen);
				if (from.error || !from.node || !from.folder)
					return from.error ?? NOENT;
				if (place.error || !place.folder || isFolder(place.node))
					return place.error ?? EXIST;
				from.folder.delete(from.name);
				place.folder.set(place.name, from.node);
				return OK;
			},
			path_unlink_file: (fd, at, len) => this.remove(this.find(fd, at, len), false),
			poll_oneoff: (subscriptions, to, nr, done) => this.poll(subscriptions, to, nr, done),
			proc_exit: (code) => {
				throw new Exit(code);
			},
			random_get: (at, len) => {
				for (let done = 0; done < len; done += RANDOM_MAX)
					crypto.getRandomValues(this.bytes(at + done, Math.min(RANDOM_MAX, len - done)));
				return OK;
			},
		};
	}
}

/**
 * Run a program.  @root: Map of its files; @out and @error get what it writes to
 * standard output and standard error.  Return its exit status; a trap is thrown.
 */
export function runProgram(module, args, root, out, error)
{
	const program = new Program(args, root, out, error);
	const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: program.imports() });
	program.memory = instance.exports.memory;
	try {
		instance.exports._start();
	} catch (e) {
		if (e instanceof Exit)
			return e.code;
		throw e;
	}
	return 0;
}
