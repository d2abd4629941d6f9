// SPDX-License-Identifier: GPL-2.0-only
// Start the command in a Worker, which keeps the page alive, and end it when asked.

let program = null, source = null;

/** Unpack the program that is in the page. */
async function load()
{
	const packed = Uint8Array.from(atob(document.getElementById("program").textContent.replace(/\s+/g, "")), (c) => c.charCodeAt(0));
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
	program = new Uint8Array(await new Response(stream).arrayBuffer());
	source = URL.createObjectURL(new Blob([document.getElementById("worker").textContent], { type: "text/javascript" }));
}

export class Job {
	/**
	 * @args: arguments of the command; @files: [{ path, blob }]; @told: gets its
	 * messages as they come, @counted its line of progress
	 */
	constructor(args, files, told = () => {}, counted = () => {})
	{
		this.told = told;
		this.counted = counted;
		this.messages = "";
		this.done = this.run(args, files);
	}

	async run(args, files)
	{
		if (!program)
			await load();
		if (this.cancelled)
			return { code: null };
		return new Promise((done) => {
			this.end = (result) => {
				this.worker.terminate();
				done({ messages: this.messages, ...result });
			};
			this.worker = new Worker(source);
			this.worker.onerror = (e) => this.end({ trap: e.message || "the worker did not start" });
			this.worker.onmessage = ({ data }) => data.text === undefined ? this.end(data) : this.take(data.text);
			this.worker.postMessage({ bytes: program, args, files });
		});
	}

	/** Take a piece of what the command writes: progress begins with a return. */
	take(text)
	{
		for (const part of text.split(/(?=\r)|(?<=\n)/)) {
			const progress = /^\rktape: (.* written)/.exec(part);
			if (progress)
				this.counted(progress[1]);
			else if (part.trim() || this.messages)
				this.messages += part.replace("\r", "");
		}
		this.told(this.messages);
	}

	cancel()
	{
		this.cancelled = true;
		this.end?.({ code: null });
	}
}
