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

it('a sentence of ours is not quoted as a line of the log', () => {
  const log = 'nothing of interest\n';
  const { title, rootCause } = composeAnswer(insightOf(log, { subject: subjectOf(log) }));
  expect(`${title} ${rootCause}`).not.toContain('No error was found');
});
