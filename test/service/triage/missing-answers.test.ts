import { expect, it } from 'vitest';
import type { ToolOutcome } from '../../../src/domain/evidence.ts';
import { listMissingAnswers } from '../../../src/service/triage/investigate.ts';

const outcome = (tool: string, status: ToolOutcome['status'], more: Partial<ToolOutcome> = {}) => ({
  call: { tool, args: {}, why: '' },
  status,
  summary: 'Pinecone did not answer.',
  ...more,
});

it('an answer states in a sentence which sources were unavailable', () => {
  expect(
    listMissingAnswers([
      outcome('search_knowledge', 'failed'),
      outcome('read_blame', 'timed-out'),
      outcome('grep_log', 'ok'),
    ]),
  ).toEqual([
    'Made without search_knowledge, which was unavailable: Pinecone did not answer.',
    'Made without read_blame, which was unavailable: Pinecone did not answer.',
  ]);
});

it('an answer does not mention calls that succeeded later, had an alternative, were refused, or were never configured', () => {
  const outcomes = [
    outcome('search_knowledge', 'failed'),
    outcome('search_knowledge', 'empty'),
    outcome('read_file', 'failed', { answeredBy: 'search_code' }),
    outcome('read_blame', 'unavailable'),
    outcome('search_web', 'refused'),
    outcome('view_log', 'invalid-arguments'),
  ];
  expect(listMissingAnswers(outcomes)).toEqual([]);
});

it('the sentence is short, whatever failed', () => {
  const many = Array.from({ length: 40 }, (_, at) =>
    outcome(`tool_${at}`, 'failed', { summary: 'x\n'.repeat(5_000) }),
  );
  const notes = listMissingAnswers(many);
  expect(notes).toHaveLength(5);
  expect(notes.every((note) => note.length < 260 && !note.includes('\n'))).toBe(true);
});
