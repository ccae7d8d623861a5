import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { type RunResults, readResults } from './run/results-file.ts';

const Name = z.string().min(1);

/** A bar: a figure with its lowest or highest allowed value, or the allowed decline from a baseline. */
export const Bar = z
  .strictObject({
    /**
     * The data set that the bar applies to, by the name of its file or folder. If absent, it applies to every
     * data set.
     */
    dataset: Name.optional(),
    /** The heading of the figure in the table, if the figure's name is ambiguous. */
    section: Name.optional(),
    figure: Name,
    atLeast: z.number().optional(),
    atMost: z.number().optional(),
    /** The largest allowed decline from the baseline on the same cases, in the figure's own unit. */
    worseBy: z.number().min(0).optional(),
    /**
     * The treatment of chance. With `interval`, a bar is missed only if the whole 95% interval is on the
     * wrong side. With `none`, any value on the wrong side misses it; this is for analysts that always give
     * the same answer.
     */
    noise: z.enum(['interval', 'none']).default('interval'),
    /** The purpose of the bar, which is shown if the bar is missed. */
    why: Name.optional(),
  })
  .refine(
    ({ atLeast, atMost, worseBy }) =>
      [atLeast, atMost, worseBy].filter((limit) => limit !== undefined).length === 1,
    {
      message: 'set exactly one of atLeast, atMost and worseBy',
    },
  );
export type Bar = z.infer<typeof Bar>;

const Bars = z
  .strictObject({
    schema: z.literal(1),
    /** The path of the results that `worseBy` compares with, relative to this file. */
    baseline: Name.optional(),
    bars: z.array(Bar).min(1),
  })
  .refine(
    ({ baseline, bars }) => baseline !== undefined || bars.every(({ worseBy }) => worseBy === undefined),
    {
      message: 'a bar uses worseBy, but no baseline is named',
      path: ['baseline'],
    },
  );
type Bars = z.infer<typeof Bars>;

/** Bars with their loaded baseline. */
export interface Gate {
  readonly path: string;
  readonly bars: readonly Bar[];
  readonly baseline: RunResults | null;
}

/**
 * Reads a file of bars and its baseline. This happens before the replay, so that a mistake in the file does
 * not cost a run.
 */
export async function openGate(path: string): Promise<Gate> {
  const { baseline, bars } = await readBars(path);
  return {
    path,
    bars,
    baseline: baseline === undefined ? null : await readResults(resolve(dirname(path), baseline)),
  };
}

async function readBars(path: string): Promise<Bars> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new TriageError('not-found', `--gate: ${path} cannot be read: ${getErrorMessage(cause)}.`, {
      cause,
    });
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TriageError('invalid-input', `--gate: ${path} is not JSON: ${getErrorMessage(cause)}.`, {
      cause,
    });
  }
  const parsed = Bars.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || '(file)'}: ${issue.message}`,
  );
  throw new TriageError('invalid-input', `--gate: ${path} is not a gate file: ${problems.join('; ')}.`);
}
