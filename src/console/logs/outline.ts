import type { ArchivedSource, BuildArchive } from '../../ports/build-archive.ts';

/** A step of a log, as its CI marks it. */
export interface OutlineStep {
  readonly name: string;
  /** The line of its mark, 1-based. */
  readonly line: number;
}

/** The steps of a log, and the lengths of its lines. */
export interface Outline {
  readonly steps: readonly OutlineStep[];
  /** The length of the longest line in each of at most `ROWS` equal parts, in characters. */
  readonly widths: readonly number[];
}

/** The maximum size of a text whose outline is read, in bytes. */
const MAX_BYTES = 2_000_000;
/** The number of parts of the drawn log, and the maximum number of listed steps. */
const ROWS = 240;
const MAX_STEPS = 60;

/** The marks with which GitHub, Azure, GitLab, Jenkins and Buildkite begin a step. */
const MARKS: readonly RegExp[] = [
  /##\[(?:group|section)\](?:Starting: )?(?<name>.+)/,
  /section_start:\d+:(?<name>[\w.-]+)/,
  /^\[Pipeline\] \{ \((?<name>.+)\)/,
  /^(?:---|\+\+\+|~~~) (?<name>\S.*)/,
];
const MAX_NAME = 80;
const LINE_FEED = 10;

/** Reads the steps of a log and the lengths of its lines. Returns null if the log is too long. */
export async function readOutline(
  archive: Pick<BuildArchive, 'pieces'>,
  buildId: string,
  { name, bytes, lines }: Pick<ArchivedSource, 'name' | 'bytes' | 'lines'>,
): Promise<Outline | null> {
  if (bytes > MAX_BYTES || lines === 0) return null;
  const perRow = Math.max(1, Math.ceil(lines / ROWS));
  const widths = Array.from({ length: Math.ceil(lines / perRow) }, () => 0);
  const steps: OutlineStep[] = [];
  for await (const piece of archive.pieces(buildId, name)) {
    let number = piece.lineStart;
    for (const text of splitLines(piece.bytes)) {
      const row = Math.floor((number - 1) / perRow);
      widths[row] = Math.max(widths[row] ?? 0, text.length);
      const step = steps.length < MAX_STEPS ? findStep(text) : null;
      if (step !== null) steps.push({ name: step, line: number });
      number += 1;
    }
  }
  return { steps, widths };
}

function* splitLines(bytes: Buffer): Generator<string> {
  for (let start = 0; start <= bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, start);
    yield bytes.toString('latin1', start, Math.min(end === -1 ? bytes.length : end, start + 400));
    start = end === -1 ? bytes.length + 1 : end + 1;
  }
}

function findStep(text: string): string | null {
  if (!/[#:[+~-]/.test(text)) return null;
  for (const mark of MARKS) {
    const name = mark.exec(text)?.groups?.name;
    if (name !== undefined) return Buffer.from(name, 'latin1').toString('utf8').trim().slice(0, MAX_NAME);
  }
  return null;
}
