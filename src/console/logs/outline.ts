import type { ArchivedSource, BuildArchive } from '../../ports/build-archive.ts';

/** A step of a log, as its CI marks it. */
export interface OutlineStep {
  readonly name: string;
  /** The line of its mark, 1-based. */
  readonly line: number;
  /** The time until the next step or the end of the log; null if the log has no times there. */
  readonly milliseconds: number | null;
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
  const begun: { readonly name: string; readonly line: number; readonly at: number | null }[] = [];
  let lastAt: number | null = null;
  for await (const piece of archive.pieces(buildId, name)) {
    let number = piece.lineStart;
    for (const text of splitLines(piece.bytes)) {
      const row = Math.floor((number - 1) / perRow);
      widths[row] = Math.max(widths[row] ?? 0, text.length);
      const at = readTime(text);
      lastAt = at ?? lastAt;
      const step = begun.length < MAX_STEPS ? findStep(text) : null;
      if (step !== null) begun.push({ name: step, line: number, at });
      number += 1;
    }
  }
  const steps = begun.map(({ name, line, at }, index) => {
    const end = index + 1 < begun.length ? (begun[index + 1]?.at ?? null) : lastAt;
    return { name, line, milliseconds: at === null || end === null ? null : Math.max(0, end - at) };
  });
  return { steps, widths };
}

/** The time with its zone at the beginning of a line, and the one in a mark of GitLab. */
const STAMP = /^(?:\xef\xbb\xbf)?\[?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d:?\d\d)?/;
const SECTION_TIME = /section_(?:start|end):(\d{9,11}):/;

/** Reads the time of a line, in milliseconds since 1970. Returns null if it has none. */
function readTime(text: string): number | null {
  const [, day, clock, zone = 'Z'] = STAMP.exec(text) ?? [];
  if (day !== undefined) return toFinite(Date.parse(`${day}T${clock}${zone}`));
  const seconds = text.includes('section_') ? SECTION_TIME.exec(text)?.[1] : undefined;
  return seconds === undefined ? null : Number(seconds) * 1000;
}

function toFinite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
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
