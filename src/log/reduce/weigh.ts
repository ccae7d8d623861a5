import type { Section } from '../../domain/failure.ts';
import type { Block } from '../extract/extraction.ts';
import type { GreenDiff } from '../green/green-diff.ts';
import { newBlocks, splitBlock } from '../green/green-diff.ts';
import type { LogText } from '../lines/lines.ts';
import { saysNothing } from '../roles.ts';
import type { Structure } from '../sections.ts';

/** Blocks below this weight never get context of their own. */
const WORTH_CONTEXT = 30;
/** How many of the heaviest blocks get context. */
const MAX_CONTEXT = 150;

/**
 * Weighs what the readers proposed by where it stands: in a failed step or outside of it, early or late, once or many times. Adds the
 * lines around the heaviest blocks and the ends of the failed steps as lighter blocks, for what room is left. Beside a green build, new
 * lines gain, known ones lose, and new lines that no reader asked for are added.
 */
export function weighBlocks(log: LogText, proposed: readonly Block[], structure: Structure, green: GreenDiff | null): Block[] {
  const heavy = weighRepeats(log, proposed, structure);
  const ends = endsOf(log, structure);
  if (green === null) return [...heavy, ...contextOf(log, heavy), ...ends];
  return [...besideGreen(log, heavy, structure, green), ...ends];
}

/** The last lines of a log and no others, for measurements. */
export function lastLines(log: LogText): Block[] {
  return [tail(1, log.lineCount, log.lineCount, 60, 'end of the log')];
}

/** Known blocks get no context of their own, and the context of new ones comes after the new lines near them. */
function besideGreen(log: LogText, heavy: readonly Block[], structure: Structure, green: GreenDiff): Block[] {
  const split = heavy.map((block) => splitBlock(block, green));
  const parts = split.flatMap((block) => block.parts);
  const telling = parts.filter(({ weight }) => weight >= WORTH_CONTEXT);
  const context = contextOf(log, parts).map((block, i) => ({ ...block, weight: Math.min(block.weight, i % 2 === 0 ? 38 : 30) }));
  const wide = telling.slice(0, MAX_CONTEXT).map((block) => around(log, block, 12, 3, 26));
  return [...parts, ...split.flatMap(({ rest }) => rest), ...context, ...wide, ...newBlocks(log, green, structure, telling)];
}

function placeWeight(block: Block, structure: Structure, log: LogText): number {
  const late = (4 * block.end) / log.lineCount;
  if (structure.failedSections.length === 0) return late;
  const own = structure.failedSections.find((section) => isInside(block, section));
  if (own !== undefined) return own.consequence === true ? late - 8 : late + 6;
  return structure.afterwards.some(({ start, end }) => block.start >= start && block.start <= end) ? -24 : -16;
}

function isInside(block: Block, section: Section): boolean {
  return block.start >= section.lineStart && block.start <= section.lineEnd;
}

/** Single lines that say the same are shown so often, and then counted. */
const MAX_SHOWN = 4;

/** The same thing said again is worth less each time; of single lines only the first few stay, and the first says how many there are. */
function weighRepeats(log: LogText, proposed: readonly Block[], structure: Structure): Block[] {
  const seen = new Map<string, { times: number; readonly first: number }>();
  const heavy: Block[] = [];
  for (const block of proposed) {
    const key = `${block.reason}\u0001${block.end - block.start}\u0001${log.line(block.start).slice(0, 200).replace(/\d+/g, '0')}`;
    const known = seen.get(key) ?? { times: 0, first: heavy.length };
    seen.set(key, known);
    const weight = block.weight + placeWeight(block, structure, log) - Math.min(known.times++ * 2, 24);
    if (block.loose !== true || known.times <= MAX_SHOWN) heavy.push({ ...block, weight });
  }
  for (const { times, first } of seen.values()) {
    const block = heavy[first];
    if (block?.loose === true && times > MAX_SHOWN) heavy[first] = { ...block, reason: `${block.reason}, ${times} times` };
  }
  return heavy;
}

function contextOf(log: LogText, heavy: readonly Block[]): Block[] {
  const best = heavy
    .filter(({ weight }) => weight >= WORTH_CONTEXT)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_CONTEXT);
  return best.flatMap((block) => [
    around(log, block, 2, 3, block.weight - (block.loose === true ? 14 : 30)),
    around(log, block, 5, 10, block.weight - (block.loose === true ? 30 : 40)),
  ]); // prettier-ignore
}

function around(log: LogText, block: Block, before: number, after: number, weight: number): Block {
  return {
    start: Math.max(1, block.start - before),
    end: Math.min(log.lineCount, block.end + after),
    weight,
    reason: `around: ${block.reason}`,
  };
}

function endsOf(log: LogText, structure: Structure): Block[] {
  const blocks: Block[] = [tail(1, log.lineCount, 30, 14, 'end of the log'), tail(1, log.lineCount, 200, 4, 'end of the log')];
  for (const { lineStart, lineEnd, consequence } of structure.failedSections) {
    if (consequence === true) continue;
    const said = lastSaid(log, lineStart, lineEnd);
    blocks.push(tail(lineStart, said, 5, 54, 'end of the failed step'));
    blocks.push(tail(lineStart, said, 15, 48, 'end of the failed step'));
    blocks.push(tail(lineStart, said, 80, 24, 'end of the failed step'));
    blocks.push(tail(Math.max(lineStart, said), lineEnd, 8, 30, 'end of the failed step'));
    blocks.push({ start: lineStart, end: lineStart, weight: 46, reason: 'start of the failed step' });
  }
  return blocks;
}

/** The last line of a step before what tools say when everything has been said. */
function lastSaid(log: LogText, start: number, end: number): number {
  let line = end;
  while (line > Math.max(start, end - 60) && saysNothing(log.line(line))) line--;
  return line;
}

function tail(start: number, end: number, lines: number, weight: number, reason: string): Block {
  return { start: Math.max(start, end - lines), end, weight, reason, fromEnd: true };
}
