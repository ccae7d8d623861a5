import { describe, expect, it } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import { composeAnswer } from '../../src/judge/answer.ts';
import { createTools } from '../../src/tools/all-tools.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { createInsight } from '../judge/subject.ts';
import { sampleSubject } from '../support/subject.ts';
import { createContext, createEmptySources } from './sources.ts';

async function queryFor(query: string): Promise<string> {
  const queries: string[] = [];
  const webSearch = {
    driver: 'test',
    configured: true,
    search: async (asked: string) => {
      queries.push(asked);
      return [];
    },
  };
  const mask = async (text: string) => text.replaceAll(/hunter\d/g, '***');
  const toolbox = createToolbox(createTools({ ...createEmptySources(), webSearch, mask }), { mask });
  await toolbox.run(
    { tool: 'search_web', args: { query }, why: '' },
    sampleSubject(),
    'INFRA_ERROR',
    new AbortController().signal,
  );
  return queries.join();
}

it('a web query is masked before it is cut to one line of 200 characters', async () => {
  expect(await queryFor('login  failed\nfor hunter2')).toBe('login failed for ***');
  expect(await queryFor(`${'x'.repeat(196)} hunter2`)).toBe(`${'x'.repeat(196)} ***`);
});

describe('a web search that fails', () => {
  const down = {
    driver: 'test',
    configured: true,
    search: async () => {
      throw new TriageError('upstream-failed', 'The engine is down.');
    },
  };
  const askDown = (subject: TriageSubject) => createContext({ webSearch: down }, subject);
  const search = (toolchains: readonly string[]) =>
    askDown(sampleSubject({ toolchains: [...toolchains] }))('CODE_ERROR', 'search_web', { query: 'x y z' });

  it('is reported as failed, and names the documentation of the tools, marked as not read', async () => {
    const outcome = await search(['pytest', 'npm']);

    expect(outcome).toMatchObject({
      status: 'failed',
      summary: 'The engine is down. Named instead, and not read: 2 findings',
    });
    expect(outcome.findings.map(({ url, source }) => [url, source])).toEqual([
      ['https://docs.pytest.org/', 'documentation'],
      ['https://docs.npmjs.com/cli', 'documentation'],
    ]);
    expect(outcome.findings[0]?.title).toBe(
      'Documentation of pytest, named because the web could not be searched',
    );
    expect(outcome.findings[0]?.text).toContain('neither searched nor read');
  });

  it('names nothing for unknown tools', async () => {
    expect(await search(['blorp'])).toMatchObject({
      status: 'failed',
      findings: [],
      summary: 'The engine is down.',
    });
  });

  it('is mentioned in the advice if nothing else is known', async () => {
    const { findings } = await search(['npm']);
    const insight = createInsight('blorp zzqx 17\n##[error]Process completed with exit code 1.\n');
    const evidence = [
      ...insight.evidence,
      ...findings.map((finding) => ({ ...finding, id: 'E9', tool: 'search_web' })),
    ];

    expect(composeAnswer({ ...insight, evidence }).fixRecommendation).toMatch(
      /^No fix found\. The web could not be searched\. Related documentation, which was not read: npm \(https:\/\/docs\.npmjs\.com\/cli\)\.$/,
    );
  });
});
