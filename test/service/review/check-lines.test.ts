import { expect, it } from 'vitest';
import type { DecisionInput } from '../../../src/domain/review.ts';
import { checkLines } from '../../../src/service/review/check-decision.ts';

const archived = [
  { name: 'build.log', lines: 40 },
  { name: 'deploy.log', lines: 1 },
];
const shown = (source: string, lineEnd: number): DecisionInput => ({
  type: 'correct',
  shownBy: { evidence: [], lines: [{ source, lineStart: 1, lineEnd }] },
});

it('lines are accepted if the build has them, and all are accepted if its texts are deleted', () => {
  expect(() => checkLines(shown('build.log', 40), archived)).not.toThrow();
  expect(() => checkLines(shown('gone.log', 400), [])).not.toThrow();
  expect(() => checkLines({ type: 'correct', shownBy: 'none' }, archived)).not.toThrow();
});

it.each([
  ['build.log', 41, 'build.log has 40 lines; there is no line 41.'],
  ['deploy.log', 2, 'deploy.log has 1 line; there is no line 2.'],
  ['other.log', 1, 'This build has no log "other.log". Its logs: build.log, deploy.log.'],
])('line %s:%i is refused', (source, lineEnd, message) => {
  expect(() => checkLines(shown(source, lineEnd), archived)).toThrow(message);
});
