import type { TriageSubject } from '../domain/triage.ts';
import { isWithin, type LineRange } from '../log/sections/system.ts';
import type { BuildArchive, NumberedLine } from '../ports/build-archive.ts';

/**
 * Returns the archive as if the lines of the build's other failures were empty. Line numbers stay. Each
 * failure is answered apart, so what a tool shows of a log must be the failure's own or shared by all.
 */
export function withOwnLines(archive: BuildArchive, subject: TriageSubject): BuildArchive {
  if (subject.foreign === undefined || subject.foreign.length === 0) return archive;
  const findForeign = (name: string) => listForeignLines(subject, name);
  const { linesWith } = archive;
  return {
    ...archive,
    read: async (buildId, name) => {
      const text = await archive.read(buildId, name);
      return text === null ? null : replaceForeign(text.split('\n'), 1, findForeign(name)).join('\n');
    },
    lines: async (buildId, name, from, to) => {
      const found = await archive.lines(buildId, name, from, to);
      if (found === null) return null;
      return { ...found, lines: replaceForeign(found.lines, found.lineStart, findForeign(name)) };
    },
    ...(linesWith === undefined
      ? {}
      : {
          linesWith: (buildId, name, literals) =>
            keepOwn(linesWith.call(archive, buildId, name, literals), findForeign(name)),
        }),
  };
}

/** Lists the lines of one log that belong to other failures, in ascending order. */
function listForeignLines({ foreign = [] }: TriageSubject, source: string): LineRange[] {
  return foreign
    .filter((range) => range.source === source)
    .map(({ lineStart, lineEnd }) => ({ start: lineStart, end: lineEnd }));
}

function replaceForeign(lines: readonly string[], first: number, foreign: readonly LineRange[]): string[] {
  return lines.map((line, at) => (isWithin(foreign, first + at) ? '' : line));
}

function* keepOwn(
  batches: Iterable<readonly NumberedLine[]>,
  foreign: readonly LineRange[],
): Generator<readonly NumberedLine[]> {
  for (const batch of batches) yield batch.filter(({ line }) => !isWithin(foreign, line));
}
