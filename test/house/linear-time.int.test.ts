import { describe, expect, it } from 'vitest';
import { fenceData } from '../../prompts/load.ts';
import { tokenize } from '../../src/log/fingerprint/normalize.ts';
import { findBelow } from '../../src/log/mask/assigned.ts';
import { createKnownFinder, createPseudonyms } from '../../src/log/mask/known.ts';
import { findShapes } from '../../src/log/mask/shapes.ts';
import { findKeyBlock, findWrapped } from '../../src/log/mask/tokens.ts';
import { listRepositoryPaths } from '../../src/log/paths.ts';
import { extractJsonObjectsIn } from '../../src/models/chat/json-in-text.ts';
import { readCallsInText } from '../../src/models/chat/text-calls.ts';
import { readRefusal } from '../../src/models/refusal.ts';
import {
  clip,
  disarmRunnerCommands,
  fence,
  toCodeSpan,
  toHtml,
  toInline,
  toProse,
  toVisibleLine,
  toVisibleLines,
} from '../../src/notifications/visible-text.ts';
import { cleanText, listInformativeLines } from '../../src/tools/findings.ts';
import { testFilePaths } from '../../src/tools/repository.ts';

/** Everything outside the log reader that runs patterns over text of others. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  cleanText,
  informativeLines: listInformativeLines,
  repositoryPathCandidates: listRepositoryPaths,
  testFilePaths: (text) => testFilePaths({ file: null, suite: text, name: text }),
  tokenize,
  visibleLine: toVisibleLine,
  visibleLines: toVisibleLines,
  clip: (text) => clip(text, 300),
  disarmRunnerCommands,
  prose: toProse,
  inline: toInline,
  html: toHtml,
  codeSpan: toCodeSpan,
  fence: (text) => fence([text]),
  fenceData: (text) => fenceData('log', text),
  jsonObjectsIn: extractJsonObjectsIn,
  callsInText: (text) => readCallsInText(text, []),
  findShapes: (text) => findShapes(text, -1),
  findKeyBlock: (text) => {
    const lines = `-----BEGIN PRIVATE KEY-----\n${text}`.split('\n');
    return findKeyBlock(lines[0] ?? '', (after) => lines[after] ?? null);
  },
  findBelow: (text) => [findBelow(text, text), findBelow('<token>', text), findBelow(text, 'a')],
  findWrapped: (text) => [findWrapped(text, text), findWrapped('', text), findWrapped(text, '')],
  findKnown: (text) => createKnownFinder([text.slice(0, 400).replaceAll('\n', '')])?.(text),
  pseudonyms: (text) => createPseudonyms({ emails: true, hosts: true }).hide(text),
  readRefusal: (text) => readRefusal(500, new Headers(), text),
};

const SIZE = 150_000;
/** A pattern that is quadratic in one of these takes ten seconds and more; a linear one some milliseconds, even on a busy machine. */
const LIMIT_MS = 2_000;

const repeated = (text: string, end = '') => text.repeat(Math.ceil(SIZE / text.length)) + end;
const TEXTS = [
  ...[
    ' ',
    ' \t',
    '\r',
    '\n ',
    '\u001b[',
    '\u001b]8;;',
    '\u001b[1;',
    '`',
    '`a',
    '_',
    '[',
    '(',
    '{',
    '{"',
    '@',
    ' > ',
  ].map((part) => repeated(part, 'x')),
  ...['a', 'A', 'aA', '1', 'a.', 'a/', ':a', 'see ', 'exit code ', 'npm error '].map((part) =>
    repeated(part, '!'),
  ),
  // Bait for the patterns of masking.
  ...[
    'eyJ-',
    'eyJa.',
    'ghp_',
    'sk-',
    'glpat-a.',
    'token=',
    'token',
    'key=',
    'password: "',
    'secret_',
    'aB3/',
    'token=/aB3',
  ].map((part) => repeated(part, '!')),
  ...[
    '://',
    '://a:',
    'http://a@',
    'cookie: ',
    'cookie: a=',
    'authorization: basic ',
    'bearer ',
    'auth":"',
  ].map((part) => repeated(part, '!')),
  ...[
    'curl -u ',
    'curl ',
    'mysql ',
    'docker login ',
    'docker login -p',
    'net use \\\\',
    'machine a ',
    ' -creds ',
    'hf_',
    'SG.',
  ].map((part) => repeated(part, '!')),
  ...[
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN ',
    '\\n',
    'MII\n',
    '2026-01-05T10:00:00Z ',
    'a@',
    'a@a.',
    '10.',
    '10.0.0.1',
    'a.local',
    'fd00:',
  ].map((part) => repeated(part, '!')),
  ...['LS0tLS1CRUdJTi', '=', 'jdbc:oracle:thin:a/', 'aA1', '"', '\\"', '&quot;'].map((part) =>
    repeated(part, '!'),
  ),
];

describe.each(Object.entries(READERS))('the time that %s takes', (_name, read) => {
  it('stays within the limit for each hostile text', () => {
    const slow = TEXTS.flatMap((text) => {
      const startedAt = performance.now();
      read(text);
      const milliseconds = Math.round(performance.now() - startedAt);
      return milliseconds > LIMIT_MS ? [[text.slice(0, 12), milliseconds]] : [];
    });
    expect(slow).toEqual([]);
  });
});
