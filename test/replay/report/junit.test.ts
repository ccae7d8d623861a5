import { describe, expect, it } from 'vitest';
import type { DatasetRow } from '../../../src/replay/cases/case.ts';
import { createCasesSuite, renderJunit } from '../../../src/replay/report.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { toFailedResult } from '../../../src/replay/run/results.ts';

const HOSTILE = '"><script>&\u001b[31m\u0000\ud800 ]]>\n\t';

describe('the report for CI servers', () => {
  it('distinguishes wrong answers from missing ones, and states the right one', () => {
    const suite = createCasesSuite('set', [
      createCase('right', { category: 'CODE_ERROR' }, { category: 'CODE_ERROR' }),
      createCase('also', { category: 'CODE_ERROR', also_ok: ['TEST_FAILURE'] }, { category: 'TEST_FAILURE' }),
      createCase(
        'wrong',
        { category: 'CODE_ERROR', also_ok: ['TEST_FAILURE'] },
        { category: 'INFRA_ERROR', confidence: 0.87 },
      ),
      createCase('failed', { category: 'CODE_ERROR' }, { error: 'the model burst' }),
      createCase('read', { category: 'CODE_ERROR' }, { analyst: null, category: null }),
      createCase('unlabelled', {}, { category: 'INFRA_ERROR' }),
    ]);
    expect(suite.tests.map(({ name, failure, error }) => [name, failure ?? error])).toEqual([
      ['right', undefined],
      ['also', undefined],
      ['wrong', 'said INFRA_ERROR with 87 %, correct is CODE_ERROR or TEST_FAILURE'],
      ['failed', 'the model burst'],
      ['read', undefined],
      ['unlabelled', undefined],
    ]);
    expect(renderJunit([suite])).toContain(
      '<testsuite name="set" tests="6" failures="1" errors="1" skipped="0" time="0.072">',
    );
  });

  it('is valid XML, whatever it contains', () => {
    const xml = renderJunit([
      createCasesSuite(HOSTILE, [createCase(HOSTILE, {}, { error: HOSTILE, category: null })]),
    ]);
    expect(xml).toContain('message="&quot;&gt;&lt;script&gt;&amp;\ufffd[31m\ufffd\ufffd ]]&gt;&#10;&#9;"');
    expect(xml).not.toContain('<script>');
  });
});

function createCase(
  id: string,
  labels: Partial<DatasetRow>,
  said: Partial<ReplayedCase['result']>,
): ReplayedCase {
  const result = { ...toFailedResult(id, '', 12), error: null, analyst: 'rules', ...said };
  return { row: { id, ...labels }, result, analysis: null, quotes: { made: 0, literal: 0 } };
}
