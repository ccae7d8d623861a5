import { z } from 'zod';
import type { Turn } from './conversation.ts';

const Lines = z.array(z.string());

/**
 * An answer by its parts, each line as it stands in the text. Parts that the answer does not have are empty.
 */
export const AnswerForm = z.discriminatedUnion('shape', [
  z.object({
    shape: z.literal('journey'),
    story: Lines,
    keyComponents: Lines,
    flow: Lines,
    insights: Lines,
  }),
  z.object({
    shape: z.literal('comparison'),
    /** The lines that are no rows: the difference that matters most, first. */
    summary: Lines,
    /** The names of both sides; null if the answer is no table. */
    sides: z.tuple([z.string(), z.string()]).nullable(),
    rows: z.array(z.object({ aspect: z.string(), first: z.string(), second: z.string() })),
  }),
  z.object({ shape: z.literal('explanation'), text: z.string() }),
]);
export type AnswerForm = z.infer<typeof AnswerForm>;

/** The heading of each part of a journey. */
const PARTS = {
  story: 'Story',
  keyComponents: 'Key components',
  flow: 'Flow',
  insights: 'Insights',
} as const;
const HEADING = /^(Story|Key components|Flow|Insights): ?(.*)$/;
const ROW = /^(?:[-*•] )?([^|]{1,200})\|([^|]{1,2000})\|([^|]{1,2000})\|?$/;

/** Checks whether a line is the heading of a part, which states nothing. */
export function isPartHeading(line: string): boolean {
  return HEADING.exec(line.trim())?.[2] === '';
}

/** Lays an answer out by the parts of its shape. A line before any heading of a journey is its story. */
export function toAnswerForm({ shape, text }: Pick<Turn, 'shape' | 'text'>): AnswerForm {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (shape === 'journey') return toJourney(lines);
  return shape === 'comparison' ? toComparison(lines) : { shape, text };
}

function toJourney(lines: readonly string[]): AnswerForm {
  const parts: Record<keyof typeof PARTS, string[]> = {
    story: [],
    keyComponents: [],
    flow: [],
    insights: [],
  };
  let current: keyof typeof PARTS = lines.every((line) => !HEADING.test(line)) ? 'flow' : 'story';
  for (const line of lines) {
    const [, heading, rest = ''] = HEADING.exec(line) ?? [];
    const named = Object.entries(PARTS).find(([, name]) => name === heading)?.[0];
    if (named !== undefined) current = named as keyof typeof PARTS;
    const content = named === undefined ? line : rest;
    if (content !== '') parts[current].push(content.replace(/^(?:[-*•] |\d{1,3}[.)] )/, ''));
  }
  return { shape: 'journey', ...parts };
}

function toComparison(lines: readonly string[]): AnswerForm {
  const cells = lines.map(
    (line) =>
      ROW.exec(line)
        ?.slice(1)
        .map((cell) => cell.trim()) ?? null,
  );
  const [head, ...rows] = cells.filter((row) => row !== null);
  return {
    shape: 'comparison',
    summary: lines.filter((_, index) => cells[index] === null),
    sides: head === undefined ? null : [head[1] ?? '', head[2] ?? ''],
    rows: rows.map(([aspect = '', first = '', second = '']) => ({ aspect, first, second })),
  };
}
