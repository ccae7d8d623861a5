import { describe, expect, it } from 'vitest';
import { composeAnswer } from '../../../src/judge/answer.ts';
import { classify, createInsight } from '../subject.ts';

/** Printed by Node 18.20.8 and Python 3.11.7. */
const NODE_LOG = `$ node rank.mjs
file:///work/rank.mjs:2
console.log(scores.toReversed());
                   ^

TypeError: scores.toReversed is not a function
    at file:///work/rank.mjs:2:20
    at ModuleJob.run (node:internal/modules/esm/module_job:195:25)
    at async ModuleLoader.import (node:internal/modules/esm/loader:337:24)
    at async loadESM (node:internal/process/esm_loader:34:7)
    at async handleMainPromise (node:internal/modules/run_main:106:12)

Node.js v18.20.8
Error: Process completed with exit code 1.
`;
const PYTHON_LOG = `$ python3 p.py
Traceback (most recent call last):
  File "/work/p.py", line 1, in <module>
    from typing import override
ImportError: cannot import name 'override' from 'typing' (/root/.pyenv/versions/3.11.7/lib/python3.11/typing.py)
Error: Process completed with exit code 1.
`;

describe('a runtime that is too old', () => {
  it.each([
    [
      NODE_LOG,
      '`toReversed` was added in Node 20, but the job runs Node 18.20.8.',
      'Upgrade Node in the job from 18.20.8 to 20 or newer, which has `toReversed`.',
    ],
    [
      PYTHON_LOG,
      '`typing.override` was added in Python 3.12, but the job runs Python 3.11.',
      'Upgrade Python in the job from 3.11 to 3.12 or newer, which has `typing.override`.',
    ],
  ])('is named with both versions and their lines', (log, cause, fix) => {
    expect(classify(log)).toMatchObject({ category: 'CONFIG_ERROR', kind: 'environment' });
    const answer = composeAnswer(createInsight(log));
    expect(answer.rootCause).toContain(cause);
    expect(answer.fixRecommendation).toBe(fix);
    const version = /(?:Node|Python) (?<version>[\d.]+)\.$/.exec(cause)?.groups?.version ?? '';
    expect(answer.claims[0]?.quotes.some(({ text }) => text.includes(version))).toBe(true);
  });

  it('is not claimed if the log does not show the version', () => {
    const log = NODE_LOG.replace('Node.js v18.20.8\n', '');
    expect(composeAnswer(createInsight(log)).rootCause).not.toContain('was added in');
  });
});
