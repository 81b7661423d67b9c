import { Buffer } from "node:buffer";

const lineFeed = 0x0a;

/**
 * Cuts a stream of bytes into lines of UTF-8. A chunk may end anywhere, also
 * within a character: only whole lines are made text, so none is torn. A long
 * line costs its size once, however many chunks it comes in.
 */
export class LineReader {
  #begun: Buffer[] = []; // the parts of a line that has no end yet

  /** Takes a chunk and returns the lines that it completes, without blank ones. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      this.#begun.push(chunk.subarray(start, end));
      const line = Buffer.concat(this.#begun).toString("utf8");
      this.#begun = [];
      if (line.trim() !== "") {
        lines.push(line);
      }
      start = end + 1;
    }
    if (start < chunk.length) {
      this.#begun.push(chunk.subarray(start));
    }
    return lines;
  }
}
