import { expect, test } from 'vitest';
import { type FigureName, readLanguage } from '../../scripts/parts/check/language/read-language.ts';

const PLANTED: Readonly<Record<FigureName, string>> = {
  of: 'export function nameOf(): string {\n  return "";\n}',
  verbs: 'export function jobNames(): string[] {\n  return [];\n}',
  vague: 'export const told = 1;',
  sentences: '/** What the job needs. */\nexport function readJob(): void {}',
  words: '/** Reads whoever is there. */\nexport function readOwner(): void {}',
  spelling: '/** Reads the colour of a label. */\nexport function readColor(): void {}',
  lines: `export const long = '${'x'.repeat(100)}';`,
  spreads: 'export const both = { ...{ a: 1, b: 2 }, c: 3 };',
};

test.each(Object.entries(PLANTED))(
  'a planted violation of "%s" is found, and only that one',
  (name, text) => {
    const { findings } = readLanguage(new Map([['planted.ts', text]]));
    const found = Object.entries(findings).flatMap(([figure, all]) =>
      all.map(({ line }) => `${figure}:${line}`),
    );
    expect(found).toEqual([expect.stringMatching(new RegExp(`^${name}:\\d$`))]);
  },
);

test.each([
  'export const limits = {\n  /** How many jobs. */\n  jobs: 3,\n};',
  'export function readJobs(\n  /** Where to stop. */\n  limit: number,\n): number {\n  return limit;\n}',
])('a comment inside a value or a list of parameters is checked too: %s', (text) => {
  const { findings } = readLanguage(new Map([['planted.ts', text]]));
  expect(findings.sentences.map(({ line }) => line)).toEqual([2]);
});

test('a function that returns a boolean may begin with a verb in the third person, one that returns a list may not', () => {
  const text =
    'function holdsQuote(): boolean {\n  return true;\n}\nfunction lines(): string[] {\n  return [];\n}';
  const { findings } = readLanguage(new Map([['planted.ts', text]]));
  expect(findings.verbs.map(({ text: name }) => name)).toEqual(['lines']);
});

test.each([
  ['a component is named after the part of a page that it returns', 'function causeRow(): Html {}', []],
  ['so is one that may return nothing', 'async function lastBuild(): Promise<Shown> {}', []],
  ['a tag of template literals may be a noun', 'function html(words: TemplateStringsArray): string {}', []],
  ['a function that returns a text is no component', 'function htmlText(): string {}', ['htmlText']],
  ['a function that returns several parts is none either', 'function chips(): Html[] {}', ['chips']],
  ['a promise of a boolean is a question too', 'async function areEqual(): Promise<boolean> {}', []],
])('%s', (_rule, text, names) => {
  const { findings } = readLanguage(new Map([['planted.ts', text]]));
  expect(findings.verbs.map(({ text: name }) => name)).toEqual(names);
});

test('plain code has no findings', () => {
  const text = `
/** Reads the jobs of a build, newest first. */
export function readJobs(): readonly string[] {
  return [];
}

/** The most jobs that one build may have. */
export const MAX_JOBS = 20;
`;
  expect(Object.values(readLanguage(new Map([['plain.ts', text]])).findings).flat()).toEqual([]);
});
