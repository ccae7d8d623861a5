import { expect, it } from 'vitest';
import { composeAnswer } from '../../src/judge/answer.ts';
import { insightOf, subjectOf } from './subject.ts';

const LOG = 'TypeError: x is not a function\n    at run (src/a.js:3:1)\n';

it('a failed part of a log without steps is called no step', () => {
  const subject = subjectOf(LOG);
  const unnamed = { source: 'build.txt', name: 'log', exitCode: 1, failed: true, lineStart: 1, lineEnd: 2 };
  const answer = composeAnswer(insightOf(LOG, { subject: { ...subject, failedSections: [unnamed] } }));
  expect(answer.rootCause).not.toContain('in the step');
});

it('a failure without a cause has the last lines of its failing step, never a sentence of ours as a line', () => {
  const log = 'Working on the first part\n\nWorking on the second part\n----\n';
  const { title, rootCause, fixRecommendation } = composeAnswer(insightOf(log, { subject: subjectOf(log) }));
  expect(title).toBe('No cause found');
  expect(rootCause).toContain(
    'The last lines are “Working on the first part” and “Working on the second part”.',
  );
  expect(`${title} ${rootCause} ${fixRecommendation}`).not.toContain('No error was found');
});

it('a command whose failure the runner tolerates is no cause', () => {
  const lines = [
    '##[group]Run ./press',
    './press',
    '##[endgroup]',
    "Error: no apples in the basket 'north'",
    '##[error]Process completed with exit code 3.',
    "fatal: No url found for submodule path 'cellar' in .gitmodules",
    "##[warning]The process '/usr/bin/git' failed with exit code 128",
  ];
  const log = lines.map((line) => `2026-05-04T10:00:00.0000000Z ${line}`).join('\n');
  const { title, rootCause } = composeAnswer(insightOf(log));
  expect(`${title} ${rootCause}`).toContain("no apples in the basket 'north'");
  expect(`${title} ${rootCause}`).not.toContain('submodule');
});
