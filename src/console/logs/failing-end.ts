import { openLog } from '../../log/lines/lines.ts';
import { bytesOfText } from '../../log/lines/log-bytes.ts';
import { buildMatcher, type Matcher } from '../../log/scan/matcher.ts';
import { scanLog } from '../../log/scan/scan-log.ts';
import { readStructure, STRUCTURE_LITERALS } from '../../log/sections.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';

/** Lines looked at on either side: a step ends soon after what it died of, and so much is read in a few milliseconds. */
const LOOKED_AT = 1_000;

let matcher: Matcher | undefined;

/** The last line of the step that failed, by the CI system's own marks near `line`; null where none are there. */
export async function failingEnd(
  archive: Pick<BuildArchive, 'lines'>,
  of: { readonly buildId: string; readonly name: string },
  line: number,
): Promise<number | null> {
  const from = Math.max(1, line - LOOKED_AT + 1);
  const window = await archive.lines(of.buildId, of.name, from, line + LOOKED_AT);
  if (window === null || window.lines.length === 0) return null;
  matcher ??= buildMatcher([STRUCTURE_LITERALS]);
  const bytes = bytesOfText(window.lines.join('\n'));
  const scan = scanLog(bytes, matcher);
  const { failedSections } = readStructure(openLog(of.name, bytes, scan.index, []), scan.hits[0] ?? []);
  const ends = failedSections.filter(({ consequence }) => consequence !== true).map(({ lineEnd }) => from + lineEnd - 1);
  return ends.find((end) => end >= line) ?? ends.at(-1) ?? null;
}
