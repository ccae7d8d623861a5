import { expect, it } from 'vitest';
import { createTools } from '../../src/tools/all-tools.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { sampleSubject } from '../support/subject.ts';
import { emptySources } from './sources.ts';

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
  const toolbox = createToolbox(createTools({ ...emptySources(), webSearch, mask }), { mask });
  await toolbox.run({ tool: 'search_web', args: { query }, why: '' }, sampleSubject(), 'INFRA_ERROR', new AbortController().signal);
  return queries.join();
}

it('masks what it asks the web, before it is cut to one line of 200 characters', async () => {
  expect(await queryFor('login  failed\nfor hunter2')).toBe('login failed for ***');
  expect(await queryFor(`${'x'.repeat(196)} hunter2`)).toBe(`${'x'.repeat(196)} ***`);
});
