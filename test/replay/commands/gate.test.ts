import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runFaultline } from '../../cli/faultline.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-cli-gate-'));
const DATASET = writeFileWith(
  'set.jsonl',
  '{"id":"a","log":"building\\nError: boom\\n","expected_lines":[[2,2]]}\n',
);
const RECALL = 'recall of labelled lines';

describe('replay --gate', () => {
  it('exits with 0 if every bar is met', async () => {
    const ended = await replay({ bars: [{ figure: RECALL, atLeast: 1, noise: 'none' }] });
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(
      /^gate .*bars\.json: passed, 1 of 1 bars held\n +ok +set\.jsonl: recall of labelled lines is 1\.000, n=1; required: at least 1\.$/m,
    );
  });

  it('exits with 12 and a sentence if one is missed, also for CI servers', async () => {
    const junit = join(FOLDER, 'junit.xml');
    const bars = [{ figure: RECALL, atMost: 0.5, why: 'A test wants it.' }];
    const ended = await replay({ bars }, '--junit', junit);
    expect(ended.code).toBe(12);
    expect(ended.stdout).toContain(
      'FAILED  set.jsonl: recall of labelled lines is 1.000, n=1: above its bar of 0.5.\n          Why: A test wants it.',
    );
    expect(readFileSync(junit, 'utf8')).toContain('<testsuite name="gate: set.jsonl" tests="1" failures="1"');
  });

  it('fails for an unknown figure, with a suggestion', async () => {
    const ended = await replay({ bars: [{ figure: 'recall of labeled lines', atLeast: 0.1 }] }, '--json');
    expect(ended.code).toBe(12);
    const last = JSON.parse(ended.stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({
      ok: false,
      schema: 1,
      gate: { ok: false, outcomes: [{ status: 'failed', value: null }] },
    });
    expect(last.gate.outcomes[0].sentence).toContain('did you mean "recall of labelled lines"?');
  });

  it.each([
    ['bars that are none', { bars: [{ figure: RECALL }] }, /bars\.0: set exactly one/],
    [
      'a baseline that is not there',
      { baseline: 'no.jsonl', bars: [{ figure: RECALL, worseBy: 0 }] },
      /no\.jsonl does not exist/,
    ],
  ])('exits with 3 before any replay for %s', async (_name, content, sentence) => {
    const ended = await replay(content);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toMatch(sentence);
  });
});

function replay(content: object, ...more: string[]) {
  const bars = writeFileWith('bars.json', JSON.stringify({ schema: 1, ...content }));
  return runFaultline(['replay', '--dataset', DATASET, '--only', 'read', '--gate', bars, ...more]);
}

function writeFileWith(name: string, text: string): string {
  const path = join(FOLDER, name);
  writeFileSync(path, text);
  return path;
}
