import type { Extractor } from '../extraction.ts';

const FAILED =
  /^(?:ERROR:\s{1,6}|\s{2})?(?<env>[\w.-]{1,60}): (?:commands failed|FAIL(?: \w{1,20} \S{1,10})? \(|InvocationError|could not install deps)|^ERROR: InvocationError for command|^nox > Session .{1,80} failed\.$/;

/** What tox and nox say of an environment that failed. The tests themselves are told by the runner inside it. */
export const tox: Extractor = {
  name: 'tox',
  literals: [': commands failed', 'InvocationError', ': FAIL code', ': FAIL (', 'nox > Session', 'could not install deps'],
  extract: (log, lines, found) => {
    for (const line of lines) {
      if (FAILED.test(log.line(line))) found.blocks.push({ start: line, end: line, weight: 52, reason: 'failing environment' });
    }
  },
};
