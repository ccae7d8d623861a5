import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { writeTexts } from '../../src/console/answer/texts.ts';
import { describeInWords, NODE_WORDS, TOOL_WORDS } from '../../src/console/run-words.ts';
import { sampleAnalysis } from '../support/sample-analysis.ts';

function listNames(folder: string, pattern: RegExp): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const texts = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name ?? '')))];
}

describe('the steps of a run', () => {
  it('have words for every tool and every node of the graph', () => {
    const tools = listNames('src/tools', /\bname: '([a-z]+_[a-z_]+)'/g);
    expect(tools.length).toBeGreaterThan(20);
    expect(tools.filter((tool) => TOOL_WORDS[tool] === undefined)).toEqual([]);
    const nodes = listNames('graphs/triage/nodes', /\bnode: '([a-z_]+)'/g);
    expect(nodes.length).toBeGreaterThan(8);
    expect(nodes.filter((node) => NODE_WORDS[node] === undefined)).toEqual([]);
  });

  it.each([
    [
      'TEST_FAILURE (97 %) missing_module: rule tie-3-own-module-missing: Cannot find module ./a_b',
      'Test failure (97 %) missing module: Cannot find module ./a_b',
    ],
    [
      'count_consecutive_failures: 1 finding · search_knowledge: nothing found',
      'failures in a row: 1 finding · the knowledge base: nothing found',
    ],
    ['TEST_FAILURE (97 %) assertion: expected 1', 'Test failure (97 %) wrong value: expected 1'],
    [
      '89 %: This looks like assertion around cart.js (expected 1).',
      '89 %: This looks like wrong value around cart.js (expected 1).',
    ],
    ['6 new: E2, E3, E4, E5, E6, E7', '6 new findings'],
    ['97 % → auto_notify', '97 % → published'],
    ['npm cannot install react (enough_information)', 'npm cannot install react (enough was known)'],
  ])('are described in words: %s', (summary, words) => {
    expect(describeInWords(summary)).toBe(words);
  });
});

describe('the lead of an answer', () => {
  const lead = (rootCause: string) => {
    const { answer } = sampleAnalysis();
    return writeTexts({ answer: { ...answer, title: 'It fails', rootCause } }).lead;
  };

  it('does not end with the failed step', () => {
    expect(lead('The disk is full. The step that runs `mvn --batch-mode package` failed.')).toBe(
      'The disk is full.',
    );
    expect(lead('It was stopped. The step “Execute shell” failed with exit code 124. Ben changed it.')).toBe(
      'It was stopped. Ben changed it.',
    );
    expect(lead('It was stopped. The step ended with exit code 124.')).toBe('It was stopped.');
  });

  it('keeps the step if it has no other content', () => {
    expect(lead('The step “Execute shell” failed.')).toBe('The step “Execute shell” failed.');
  });
});
