import type { LogBytes } from '../lines/log-bytes.ts';

/** Offsets kept at most: 4 MB. A log of more lines keeps the start of every second, fourth, … line. */
const MAX_OFFSETS = 1_000_000;
const LINE_FEED = 10;
/** Bytes looked through at once for a line's end. */
const STEP = 1 << 16;

/** A line index as it may be sent to another thread. */
export interface LineIndexState {
  readonly starts: Uint32Array;
  readonly stride: number;
  readonly lines: number;
}

/** Where each line of a log begins, in bounded memory. Lines are 1-based; offsets are bytes. */
export class LineIndex {
  readonly #bytes: LogBytes;
  #starts: Uint32Array;
  #used = 1;
  #stride = 1;
  #lines = 1;
  /** The line found last, and where it starts: the next one asked for is often near. */
  #near = { line: 1, start: 0 };

  constructor(bytes: LogBytes, known?: LineIndexState) {
    this.#bytes = bytes;
    this.#starts = known?.starts ?? new Uint32Array(Math.min(MAX_OFFSETS, Math.max(16, bytes.size >> 5)));
    if (known === undefined) return;
    [this.#used, this.#stride, this.#lines] = [known.starts.length, known.stride, known.lines];
  }

  /** What another index of the same bytes can be made of. */
  state(): LineIndexState {
    return { starts: this.#starts.slice(0, this.#used), stride: this.#stride, lines: this.#lines };
  }

  get lineCount(): number {
    return this.#lines;
  }

  /** Adds the line that begins at `start`; lines come in order. */
  add(start: number): void {
    const index = this.#lines++;
    if (index % this.#stride !== 0) return;
    if (this.#used === MAX_OFFSETS) {
      this.#thin();
      if (index % this.#stride !== 0) return;
    }
    if (this.#used === this.#starts.length) this.#grow();
    this.#starts[this.#used++] = start;
  }

  /** Offset of a line's first byte; `size` behind the last line. */
  startOf(line: number): number {
    if (line > this.#lines) return this.#bytes.size;
    const index = line - 1;
    if (this.#stride === 1) return this.#starts[index] ?? 0;
    const kept = Math.floor(index / this.#stride);
    let from = { line: kept * this.#stride + 1, start: this.#starts[kept] ?? 0 };
    if (this.#near.line > from.line && this.#near.line <= line) from = this.#near;
    let start = from.start;
    for (let at = from.line; at < line; at++) start = this.#lineFeedFrom(start) + 1;
    this.#near = { line, start };
    return start;
  }

  /** Offset of the line feed that ends a line; `size` for the last one. */
  endOf(line: number): number {
    if (line >= this.#lines) return this.#bytes.size;
    return this.#stride === 1 ? (this.#starts[line] ?? 0) - 1 : this.#lineFeedFrom(this.startOf(line));
  }

  /** The line that a byte lies on. */
  lineAt(offset: number): number {
    let low = 0;
    let high = this.#used - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    let line = low * this.#stride + 1;
    if (this.#stride > 1) while (line < this.#lines && this.endOf(line) < offset) line++;
    return line;
  }

  #thin(): void {
    this.#stride *= 2;
    this.#used = Math.ceil(this.#used / 2);
    for (let kept = 0; kept < this.#used; kept++) this.#starts[kept] = this.#starts[kept * 2] ?? 0;
  }

  #grow(): void {
    const larger = new Uint32Array(Math.min(MAX_OFFSETS, this.#starts.length * 2));
    larger.set(this.#starts);
    this.#starts = larger;
  }

  #lineFeedFrom(start: number): number {
    for (let at = start; at < this.#bytes.size; at += STEP) {
      const found = this.#bytes.slice(at, at + STEP).indexOf(LINE_FEED);
      if (found !== -1) return at + found;
    }
    return this.#bytes.size;
  }
}
