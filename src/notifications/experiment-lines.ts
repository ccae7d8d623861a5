import { shortenCommit } from '../domain/build.ts';
import type { Bisection, Experiment, FixAttempt } from '../domain/experiment.ts';

/**
 * A line for the person who ran the experiment, named with one word. The text is raw: the output that renders
 * it must escape and cut it.
 */
export interface NamedLine {
  readonly name: string;
  readonly text: string;
}

const MAX_NAMES = 10;

/**
 * Lists the names that an experiment reports in addition to its counts: tests on which the failure depends,
 * commits, and changes that were tried.
 */
export function listNamedLines({ polluters, bisection, fixes }: Experiment): NamedLine[] {
  return [
    ...polluters.slice(0, MAX_NAMES).map((text) => ({ name: 'Behind', text })),
    ...(bisection?.candidates ?? [])
      .slice(0, MAX_NAMES)
      .map((candidate) => ({ name: 'Commit', text: describeCommit(candidate) })),
    ...(fixes?.attempts ?? []).flatMap(attemptLines),
  ];
}

/** Describes a commit: "5b1a0c2 turns the sum around, by Bea". */
export function describeCommit({ commit, subject, author }: Bisection['candidates'][number]): string {
  return `${shortenCommit(commit)} ${subject}, by ${author}`;
}

/** Lists a tried change with its source and the tests that it broke. */
export function attemptLines({ source, verdict, refused = '', sentence, broke }: FixAttempt): NamedLine[] {
  if (verdict === 'refused') return [{ name: 'Refused', text: `${source}: ${refused}.` }];
  return [
    { name: 'Tried', text: `${source}: ${sentence}` },
    ...broke.slice(0, MAX_NAMES).map((text) => ({ name: 'Breaks', text })),
  ];
}
