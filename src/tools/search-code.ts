import { z } from 'zod';
import type { FindingFrom } from '../domain/finding-data.ts';
import type { CodeHost, CodeLine, FileHits } from '../ports/code-host.ts';
import { checkPattern, createPathTest } from './globs.ts';
import { type BuiltCode, defineCodeTool, findBuiltCode } from './repository.ts';
import type { Tool } from './tool.ts';

type FileFinding = FindingFrom<'search_code'>;

/** The number of matching lines that are requested before those outside the category's scope are removed. */
const LOOKED_AT = 2_000;
/** The maximum number of files that a search for words returns. */
const MAX_FILES = 50;
/** The number of these files whose best lines are shown. */
const SHOWN_FILES = 4;
/** The maximum number of words whose lines are fetched. Each needs one more request to the host. */
const SHOWN_WORDS = 4;
const LINES_A_FILE = 8;

const ONE_LINE = /^[^\n\r\0]*$/;
const TOO_SHORT = 'at least 2 characters, or everything matches';
const Word = z.string().trim().min(2, TOO_SHORT).max(100).regex(ONE_LINE, 'one line');

const Parameters = z
  .strictObject({
    text: z
      .string()
      .min(2, TOO_SHORT)
      .max(200)
      .regex(ONE_LINE, 'one line')
      .optional()
      .describe('Literal text, case matters: brings its lines'),
    words: z
      .array(Word)
      .min(1)
      .max(16)
      .optional()
      .describe('Keywords in any case: brings the files that hold most of them, with how often'),
    pattern: z.boolean().default(false).describe('The text is a regular expression in RE2 syntax'),
    files: z
      .array(z.string().trim().min(1).max(200).regex(ONE_LINE, 'one line'))
      .max(10)
      .optional()
      .describe('Only in files that match one of these globs: "*.ts", "src/**/*.{c,h}"'),
    limit: z.int().min(1).max(10).default(10).describe('Most lines for text'),
  })
  .refine(({ text, words }) => text !== undefined || words !== undefined, {
    error: 'text or words must be given',
  });

/** Creates the tool that searches the repository for a text or words. */
export function searchCode(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'search_code',
    question:
      'Where does this literal text stand in the repository, or which files hold most of these ' +
      'keywords, in the commit that was built?',
    serves: { CODE_ERROR: 5, CONFIG_ERROR: null, DEPENDENCY_ERROR: null },
    investigator: 'code',
    asks: 'code host',
    precedence: 8,
    costClass: 'high',
    usualLatencyMs: 1000,
    parameters: Parameters,
    keptBy: 'arguments',
    argumentsFrom: ({ symbol }) => (symbol ? { text: symbol.slice(0, 200) } : null),
    async run({ text, words, pattern, files = [], limit }, context) {
      const code = await findBuiltCode(codeHost, context);
      const isWanted = createPathTest(files);
      if (text === undefined) return findFilesWith(code, words ?? [], isWanted);
      if (pattern) checkPattern(text);
      return readLinesWith(code, { text, isPattern: pattern, limit, isWanted });
    },
  });
}

type PathTest = (path: string) => boolean;
interface LineQuery {
  readonly text: string;
  readonly isPattern: boolean;
  readonly limit: number;
  readonly isWanted: PathTest;
}

async function readLinesWith(
  { host, at, signal, titled }: BuiltCode,
  { text, isPattern, limit, isWanted }: LineQuery,
): Promise<FileFinding[]> {
  const query = { ...at, text, limit: LOOKED_AT };
  const hits = await host.search(isPattern ? { ...query, isPattern } : query, signal);
  const wanted = hits.filter(({ path }) => isWanted(path));
  return wanted.slice(0, limit).map((hit) => ({
    title: titled(`${hit.path}:${hit.line}`),
    text: hit.text,
    source: hit.path,
    lineStart: hit.line,
    lineEnd: hit.line,
    data: { path: hit.path, line: hit.line, commit: at.ref },
  }));
}

/** Finds the best files by distinct words and occurrences, then the best lines of the first few. */
async function findFilesWith(
  code: BuiltCode,
  words: readonly string[],
  isWanted: PathTest,
): Promise<FileFinding[]> {
  const { host, at, signal } = code;
  const found = await host.searchFiles({ ...at, words, limit: MAX_FILES * 2 }, signal);
  const files = found.filter(({ path }) => isWanted(path)).slice(0, MAX_FILES);
  if (files.length === 0) return [];
  const longest = [...words].sort((left, right) => right.length - left.length).slice(0, SHOWN_WORDS);
  const lines = await Promise.all(
    longest.map((text) => host.search({ ...at, text, limit: LOOKED_AT }, signal)),
  );
  const excerpts = files
    .slice(0, SHOWN_FILES)
    .flatMap((file) => listBestLines(file, lines.flat(), words, code));
  return [toListFinding(files, words, code), ...excerpts];
}

function toListFinding(
  files: readonly FileHits[],
  words: readonly string[],
  { titled }: BuiltCode,
): FileFinding {
  return {
    title: titled(`${files.length} ${files.length === 1 ? 'file holds' : 'files hold'} ${words.join(', ')}`),
    text: files
      .map((file) => `${file.path}: ${file.occurrences} times, ${file.words} of ${words.length} words`)
      .join('\n'),
    source: 'repository',
    data: {
      words: [...words],
      files: files.map(({ path, occurrences, words: foundWords }) => ({
        path,
        occurrences,
        words: foundWords,
      })),
    },
  };
}

/**
 * Returns the lines of a file that contain the most distinct words. They are shown with their numbers,
 * because they may be far apart.
 */
function listBestLines(
  file: FileHits,
  hits: readonly CodeLine[],
  words: readonly string[],
  { at, titled }: BuiltCode,
): FileFinding[] {
  const findWords = ({ text }: CodeLine) =>
    words.filter((word) => text.toLowerCase().includes(word.toLowerCase())).length;
  const hitsByLine = new Map(hits.filter(({ path }) => path === file.path).map((hit) => [hit.line, hit]));
  const best = [...hitsByLine.values()]
    .sort((left, right) => findWords(right) - findWords(left) || left.line - right.line)
    .slice(0, LINES_A_FILE);
  const [top] = best;
  if (top === undefined) return [];
  const inOrder = best.sort((left, right) => left.line - right.line);
  return [
    {
      title: titled(`${file.path}: lines ${inOrder.map(({ line }) => line).join(', ')}`),
      text: inOrder.map(({ line, text }) => `${line}: ${text}`).join('\n'),
      source: file.path,
      data: {
        path: file.path,
        line: top.line,
        lines: inOrder.map(({ line }) => line),
        occurrences: file.occurrences,
        commit: at.ref,
      },
    },
  ];
}
