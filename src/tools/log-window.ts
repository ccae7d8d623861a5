import { TriageError } from '../domain/errors.ts';
import type { Finding } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import type { ArchivedSource, BuildArchive } from '../ports/build-archive.ts';
import { cleanText, MAX_FINDINGS, MAX_TEXT } from './bounds.ts';

/** Consecutive lines of a log; `lineStart` is 1-based. */
export interface LogLines {
  readonly lineStart: number;
  readonly lines: readonly string[];
}

/** The archived text that a question is about: the named one, else the log in which the build failed. Null where nothing is archived. */
export async function chooseSource(archive: BuildArchive, subject: TriageSubject, named?: string): Promise<ArchivedSource | null> {
  const sources = await archive.list(subject.build.id);
  if (named !== undefined) {
    const found = sources.find((source) => source.name === named);
    if (found !== undefined) return found;
    const names = sources.map((source) => source.name).slice(0, 20);
    throw new TriageError(
      'invalid-input',
      `source: there is no log named ${named.slice(0, 200)}; available: ${names.join(', ') || 'none'}`,
    );
  }
  const likely = [subject.failedSections[0], subject.exits[0], subject.excerpts[0]].flatMap((place) => place?.source ?? []);
  const logs = sources.filter((source) => source.kind === 'log');
  const biggest = [...logs].sort((left, right) => right.lines - left.lines)[0];
  return likely.flatMap((name) => sources.find((source) => source.name === name) ?? [])[0] ?? biggest ?? sources[0] ?? null;
}

/** Lines `from`..`to` as one finding, no longer than a finding may be: what does not fit is dropped far from `focus`. */
export function windowAround(source: string, title: string, window: LogLines, focus: number): Finding | null {
  const lines = window.lines.map(cleanText);
  const last = lines.length - 1;
  if (last < 0) return null;
  let low = Math.min(Math.max(focus - window.lineStart, 0), last);
  let high = low;
  let size = lines[low]?.length ?? 0;
  for (let grew = true; grew; ) {
    grew = false;
    for (const next of [low - 1, high + 1]) {
      const line = lines[next];
      if (line === undefined || size + line.length + 1 > MAX_TEXT) continue;
      size += line.length + 1;
      low = Math.min(low, next);
      high = Math.max(high, next);
      grew = true;
    }
  }
  return findingOf(source, title, window.lineStart + low, lines.slice(low, high + 1));
}

/** All the lines, in as many findings as they need, up to the most that an answer may hold. */
export function windowPieces(source: string, title: string, window: LogLines): Finding[] {
  const findings: Finding[] = [];
  let piece: string[] = [];
  let pieceStart = window.lineStart;
  let size = 0;
  for (const [index, raw] of window.lines.entries()) {
    const line = cleanText(raw);
    if (piece.length > 0 && size + line.length + 1 > MAX_TEXT) {
      findings.push(findingOf(source, title, pieceStart, piece));
      piece = [];
      size = 0;
      pieceStart = window.lineStart + index;
    }
    piece.push(line);
    size += line.length + 1;
  }
  if (piece.length > 0) findings.push(findingOf(source, title, pieceStart, piece));
  return findings.slice(0, MAX_FINDINGS);
}

function findingOf(source: string, title: string, lineStart: number, lines: readonly string[]): Finding {
  const lineEnd = lineStart + lines.length - 1;
  return { title: `${title}, lines ${lineStart}–${lineEnd}`, text: lines.join('\n'), source, lineStart, lineEnd };
}
