import { describe, expect, it } from 'vitest';
import { formatComparison } from '../../src/cli/ask/comparison-text.ts';
import { toAnswerForm } from '../../src/domain/answer-form.ts';

const TABLE = [
  'They differ in what an error does [E3].',
  'Aspect | onSend | onRequest',
  'errors | stops the reply [E3] | skips the handler [E4]',
  '- payload | may change it | has none',
].join('\n');

describe('an answer by its parts', () => {
  it('holds both sides of a comparison in rows', () => {
    expect(toAnswerForm({ shape: 'comparison', text: TABLE })).toEqual({
      shape: 'comparison',
      summary: ['They differ in what an error does [E3].'],
      sides: ['onSend', 'onRequest'],
      rows: [
        { aspect: 'errors', first: 'stops the reply [E3]', second: 'skips the handler [E4]' },
        { aspect: 'payload', first: 'may change it', second: 'has none' },
      ],
    });
    expect(toAnswerForm({ shape: 'comparison', text: '- One line.' })).toMatchObject({
      sides: null,
      rows: [],
    });
  });

  it('holds the parts of a journey by their headings, and one without headings as its flow', () => {
    const text = 'Story: It runs.\nKey components:\n- a.js:1 runs [E1]\nFlow:\n1. One.\n2. Two.\n\nInsights:';
    expect(toAnswerForm({ shape: 'journey', text })).toEqual({
      shape: 'journey',
      story: ['It runs.'],
      keyComponents: ['a.js:1 runs [E1]'],
      flow: ['One.', 'Two.'],
      insights: [],
    });
    expect(toAnswerForm({ shape: 'journey', text: '1. One.\n2. Two.' })).toMatchObject({
      story: [],
      flow: ['One.', 'Two.'],
    });
  });
});

describe('a comparison on a terminal', () => {
  it('stands side by side, with what a stranger wrote made visible', () => {
    const text = `${TABLE}\nescape | a\u001b[2Jb | c`;
    const lines = formatComparison({ shape: 'comparison', text }, 50).split('\n');
    expect(lines).toContain('onSend                  │ onRequest');
    expect(lines).toContain('stops the reply [E3]    │ skips the handler [E4]');
    expect(lines.every((line) => line.length <= 50)).toBe(true);
    expect(lines.join('')).not.toContain('\u001b');
  });
});
