import { expect, test } from 'vitest';
import { toSentence } from '../../src/lib/text.ts';

test.each([
  ['`TAX_TABLE` is not set', '`TAX_TABLE` is not set.'],
  ['It is not set. ', 'It is not set.'],
  ['Is it set?', 'Is it set?'],
  ['They said "it is set."', 'They said "it is set."'],
  ['the rest is cut …', 'the rest is cut …'],
  ['', ''],
])('%j gets the end of a sentence', (text, sentence) => {
  expect(toSentence(text)).toBe(sentence);
});
