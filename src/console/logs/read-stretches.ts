import type { BuildArchive } from '../../ports/build-archive.ts';
import { type ShownLine, showLines } from './render-line.ts';
import type { Stretch } from './window.ts';

/** A stretch of a view with the lines that it shows; none for a gap. */
export interface ReadStretch extends Stretch {
  readonly lines: readonly ShownLine[];
}

/** Lines of one question; the archive gives no more. */
const AT_ONCE = 2_000;
/** Stretches this close are read by one question: their chunks are the same, or neighbours. */
const NEAR = 500;

/** Reads the lines of a view. Null where the text is gone. */
export async function readStretches(
  archive: Pick<BuildArchive, 'lines'>,
  of: { readonly buildId: string; readonly name: string },
  stretches: readonly Stretch[],
): Promise<ReadStretch[] | null> {
  const questions = questionsFor(stretches);
  const answers = await Promise.all(questions.map(({ from, to }) => archive.lines(of.buildId, of.name, from, to)));
  if (answers.some((answer) => answer === null)) return null;
  const windows = answers.flatMap((answer) => answer ?? []);
  return stretches.map((stretch) => {
    if (stretch.kind === 'gap') return { ...stretch, lines: [] };
    const lines = windows.flatMap(({ lineStart, lines }) =>
      lines.slice(Math.max(0, stretch.from - lineStart), Math.max(0, stretch.to - lineStart + 1)),
    );
    return { ...stretch, lines: showLines(lines, stretch.from) };
  });
}

/** Ranges that hold all lines that are shown, each small enough for one answer, none overlapping another. */
function questionsFor(stretches: readonly Stretch[]): { from: number; to: number }[] {
  const questions: { from: number; to: number }[] = [];
  for (const { kind, from, to } of stretches) {
    if (kind === 'gap') continue;
    const last = questions.at(-1);
    if (last !== undefined && from - last.to <= NEAR && to - last.from < AT_ONCE) {
      last.to = to;
      continue;
    }
    for (let start = from; start <= to; start += AT_ONCE) questions.push({ from: start, to: Math.min(to, start + AT_ONCE - 1) });
  }
  return questions;
}
