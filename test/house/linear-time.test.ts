import { describe, expect, it } from 'vitest';
import { fenceData } from '../../prompts/fence.ts';
import { jsonObjectsIn } from '../../src/adapters/chat-model/json-in-text.ts';
import { readRefusal } from '../../src/adapters/chat-model/model-errors.ts';
import { tokenize } from '../../src/adapters/embedder/tokens.ts';
import { codeSpan, fence, html, inline, prose } from '../../src/publish/markdown-text.ts';
import { clip, disarmRunnerCommands, visibleLine, visibleLines } from '../../src/publish/visible-text.ts';
import { cleanText } from '../../src/tools/bounds.ts';
import { tellingLines } from '../../src/tools/failure-text.ts';
import { repositoryPathCandidates } from '../../src/tools/repository-path.ts';
import { testFilePaths } from '../../src/tools/test-file.ts';

/** Everything outside the log reader that runs patterns over text of others. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  cleanText,
  tellingLines,
  repositoryPathCandidates,
  testFilePaths: (text) => testFilePaths({ file: null, suite: text, name: text }),
  tokenize,
  visibleLine,
  visibleLines,
  clip: (text) => clip(text, 300),
  disarmRunnerCommands,
  prose,
  inline,
  html,
  codeSpan,
  fence: (text) => fence([text]),
  fenceData: (text) => fenceData('log', text),
  jsonObjectsIn,
  readRefusal: (text) => readRefusal(500, new Headers(), text),
};

const SIZE = 150_000;
/** A pattern that is quadratic in one of these takes ten seconds and more; a linear one some milliseconds, even on a busy machine. */
const LIMIT_MS = 2_000;

const repeated = (text: string, end = '') => text.repeat(Math.ceil(SIZE / text.length)) + end;
const TEXTS = [
  ...[' ', ' \t', '\r', '\n ', '\u001b[', '\u001b]8;;', '\u001b[1;', '`', '`a', '_', '[', '(', '{', '{"', '@', ' > '].map((part) =>
    repeated(part, 'x'),
  ),
  ...['a', 'A', 'aA', '1', 'a.', 'a/', ':a', 'see ', 'exit code ', 'npm error '].map((part) => repeated(part, '!')),
];

describe.each(Object.entries(READERS))('%s', (_name, read) => {
  it('takes no text long', () => {
    const slow = TEXTS.flatMap((text) => {
      const startedAt = performance.now();
      read(text);
      const milliseconds = Math.round(performance.now() - startedAt);
      return milliseconds > LIMIT_MS ? [[text.slice(0, 12), milliseconds]] : [];
    });
    expect(slow).toEqual([]);
  });
});
