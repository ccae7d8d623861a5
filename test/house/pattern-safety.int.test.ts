import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fastify from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answerUnrouted } from '../../src/api/refusal.ts';
import { createUrlSchema } from '../../src/config/variable.ts';
import { decodeSource } from '../../src/log/decode/decode.ts';
import { createAlphabet } from '../support/patterns/alphabet.ts';
import { createAutomaton, UnprovenError } from '../support/patterns/automaton.ts';
import { countSteps } from '../support/patterns/count-steps.ts';
import type { Pattern } from '../support/patterns/find-patterns.ts';
import { findPatterns, findPatternsIn } from '../support/patterns/find-patterns.ts';
import type { Verdict } from '../support/patterns/live-paths.ts';
import { findLiveWays } from '../support/patterns/live-paths.ts';

/**
 * No shipped pattern may backtrack catastrophically, whatever a log says. Every RegExp of the source is turned into the automaton of all ways an
 * engine can take, from every start of the text, and the ways that can be open at once are bounded: each character costs at most that many steps,
 * times the pattern's own size.
 *
 * - No pattern may be exponential.
 * - A pattern that meets text of any length (whole lines, in masking above all) may have 1,000 ways, however long the text: its time is linear.
 * - A pattern that meets text cut to n characters may have 4,000,000 / n ways: 2,000 on a line as rules see it, so that a whole line of bait costs
 *   at most four million steps, which is some milliseconds. That is why every repeat in a reader of lines has a bound.
 *
 * The bound is on all ways a text can be read, failing or not, so a pattern may be refused that is quick in truth: write it so that two repeats
 * beside each other share no character, or give them smaller bounds.
 */
const ANY_LENGTH = 1_000_000;
const WAYS_AT_ANY_LENGTH = 1_000;
const STEPS = 4_000_000;

/** Where text is cut before a pattern meets it; the first that fits counts. */
const CUT: readonly { readonly in: string; readonly to: number; readonly by: string }[] = [
  { in: 'src/log/extract/', to: 2_000, by: 'MAX_LINE of src/log/lines/lines.ts' },
  { in: 'src/tools/code/', to: 500, by: 'MAX_LINE of src/tools/code/definitions.ts' },
  { in: 'src/tools/find-uses.ts', to: 500, by: 'MAX_LINE' },
  { in: 'src/judge/', to: 2_000, by: 'MAX_TEXT of facts.ts, and lines' },
  { in: 'src/log/fingerprint/normalize.ts', to: 1_000, by: 'normalizeMessage and normalizeIdentity' },
  { in: 'src/domain/test-setup.ts', to: 120, by: 'MAX_TEXT' },
  { in: 'src/experiments/caches.ts', to: 500, by: 'MAX_LINE' },
  { in: 'src/log/reduce/tokens.ts', to: 2_000, by: 'PIECE' },
];

/** Patterns over text of our own. They still may not be exponential. */
const OWN_TEXT = ['src/api/api-description.ts'];
/** Calls of functions that put a pattern together. */
const CALLS: Readonly<Record<string, () => unknown>> = {
  'src/api/refusal.ts': () => {
    const app = fastify();
    answerUnrouted(app, { unknown: null });
    app.get('/api/builds/:id/*', async () => 'found');
  },
  'src/config/variable.ts': () => createUrlSchema(['https', 'redis+tls']),
  'src/log/decode/decode.ts': () =>
    decodeSource('build.log', Buffer.from('∩╗┐read in a code page'), 'log', { maxBytes: 1_000 }),
};
/** Joins patterns of rules, each proven by itself: alternatives add up. */
const JOINED = ['src/judge/rule.ts'];

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['src', 'graphs', 'prompts', 'action/src'];

describe('T40: every shipped pattern', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('has a small bound on its steps for any text', async () => {
    const { patterns, unseen } = findPatterns(ROOT, FOLDERS);
    const files = new Set(unseen.map(({ file }) => file).filter((file) => !JOINED.includes(file)));
    const composed: Pattern[][] = [];
    for (const file of files) composed.push(await listComposedPatterns(file));
    // A file that is imported imports others, whose patterns are known by their own text.
    const known = new Set(patterns.map(createKey));
    const all = patterns.concat(composed.flat().filter((pattern) => !known.has(createKey(pattern))));
    expect(all.length).toBeGreaterThan(2_500);
    expect(
      unseen.filter(
        ({ file }) => !JOINED.includes(file) && !composed.flat().some((pattern) => pattern.file === file),
      ),
    ).toEqual([]);

    const judge = createJudge(all.map(({ source }) => source));
    const refused = all.flatMap((pattern) => {
      const verdict = judge(pattern.source, pattern.flags, limitText(pattern.file), limitWays(pattern.file));
      return verdict === null
        ? []
        : [`${pattern.file}:${pattern.line} /${pattern.source}/${pattern.flags} ${verdict}`];
    });
    expect(refused).toEqual([]);
  });

  it('works in Node 20, on which the Action also runs: no repeated group name, and no inline flags', () => {
    const refused = findPatterns(ROOT, FOLDERS).patterns.filter(({ source }) => {
      const names = [...source.matchAll(/\(\?<(?<name>\w+)>/g)].map(({ groups }) => groups?.name);
      return new Set(names).size < names.length || /\(\?-?[ims]+(?:-[ims]+)?:/.test(source);
    });
    expect(refused.map(({ file, line, source }) => `${file}:${line} /${source}/`)).toEqual([]);
  });
});

describe('an unsafe pattern', () => {
  const refusal = (source: string, longest = ANY_LENGTH, flags = '') =>
    createJudge([source])(source, flags, longest, computeWays(longest));

  it.each([
    '(a+)+$',
    '(.*)*x',
    '(\\w+\\s?)*$',
    '(a|a)*$',
    '^(a|aa)+$',
    '^(?:[-+.][\\w.]+)*$',
    '^(?:a{0,20}){0,20}$',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
  ])('is refused if its steps double with each character of a line: %s', (source) => {
    expect(refusal(source, 2_000)).toMatch(/exponential/);
  });

  it.each([
    '\\s+$',
    'x[^"]*"',
    '^\\s*(.*)$',
    'a.*b.*c',
    '(["\']).*?\\1',
    '.{0,200}x.{0,300}y',
    '(?<!y)x.*z',
    '^x.*y.*$',
  ])('is refused for text of any length if it is not linear: %s', (source) => {
    expect(refusal(source)).toMatch(/ways/);
  });

  it.each(['.{0,200}x.{0,300}y', '^.*-.*-.*$', '^(\\w{1,200})\\s?(\\w{1,200})-?(\\w{1,200})x$'])(
    'is refused for a line if its repetitions multiply: %s',
    (source) => {
      expect(refusal(source, 2_000)).toMatch(/ways/);
    },
  );

  it.each(['(?<=a*)b', '(?<!x.{0,300})b'])('is refused if it cannot be proven safe: %s', (source) => {
    expect(refusal(source)).toMatch(/unproven/);
  });

  it.each([
    '^[^"]*"',
    '\\bfoo\\w*bar',
    '(?<!\\w)\\w*x',
    '\\s+',
    '^(?:\\w+\\s)*$',
    '[a-f]{3}:.{0,300}x',
    '^a(?:,a)*$',
    '(?<!\\d)\\d+(?!\\d)x',
  ])('is distinguished from a safe one: %s', (source) => {
    expect(refusal(source)).toBeNull();
  });

  it('is found wherever it is written', () => {
    const word = '$' + '{word}';
    const text = `const A = /(a+)+$/;\nconst B = new RegExp('(b+)+$', 'i');\nconst f = (word) => RegExp(\`^${word}(?:c+)+$\`);`;
    expect(
      findPatternsIn('a.ts', text).patterns.map(({ line, source, flags }) => [line, source, flags]),
    ).toEqual([
      [1, '(a+)+$', ''],
      [2, '(b+)+$', 'i'],
      [3, '^hole(?:c+)+$', ''],
    ]);
    const named = '$' + '{A}';
    const parts = `const A = '(a+)';\nnew RegExp(String.raw\`${named}\\s\` + '+$');\nnew RegExp(['b+', \`c+\`].join('|'), 'g');`;
    expect(findPatternsIn('a.ts', parts).patterns.map(({ source, flags }) => [source, flags])).toEqual([
      ['(a+)\\s+$', ''],
      ['b+|c+', 'g'],
    ]);
    expect(findPatternsIn('a.ts', "new RegExp(WORDS.join('|'));").unseen).toEqual([
      { file: 'a.ts', line: 1 },
    ]);
  });
});

describe('the bound on the steps of a pattern', () => {
  const LENGTH = 60;
  const texts = ['a', 'b', 'ab', 'aab', 'ac', 'c', 'bc'].flatMap((pump) =>
    ['', 'b', 'ac']
      .map((head) => `${head}${pump.repeat(LENGTH)}`.slice(0, LENGTH - 1))
      .map((text) => `${text}x`),
  );
  const most = (source: string) => Math.max(...texts.map((text) => countSteps(source, text, 200_000)));

  it.each([
    'a+$',
    'a*b',
    '^a+b*a*$',
    'a{0,9}d',
    '^(?:a|b)*c',
    '(?:ab)+d',
    '^a{0,9}(?:b?a{0,9}){0,2}$',
    '[ab]*c[ab]*d',
    'a+?c',
    '(?:a?b?)+c$',
    'c.{0,5}c.{0,7}d',
  ])('is never less than the steps counted on adversarial text: %s', (source) => {
    const { ways } = findLiveWays(createAutomaton(source, '', createAlphabet([source]), 3), LENGTH);
    expect(most(source)).toBeLessThanOrEqual(2 * ways * LENGTH * source.length);
  });

  it.each(['(a+)+$', '^(?:a|aa)+$', '(?:a*b?)*c', '^(?:[ab]|a)*$'])(
    'is infinite if the steps on adversarial text have no limit: %s',
    (source) => {
      expect(most(source)).toBe(200_000);
      expect(findLiveWays(createAutomaton(source, '', createAlphabet([source]), 3), LENGTH).ways).toBe(
        Number.POSITIVE_INFINITY,
      );
    },
  );
});

/** Judges patterns; null for a good one. Repeats are written out further before a pattern is refused for them. */
function createJudge(sources: readonly string[]) {
  const alphabet = createAlphabet(sources);
  const known = new Map<string, Verdict>();
  const judgePattern = (source: string, flags: string, longest: number, unroll: number): Verdict => {
    const key = `${unroll} ${longest} ${flags} ${source}`;
    const verdict = known.get(key) ?? findLiveWays(createAutomaton(source, flags, alphabet, unroll), longest);
    known.set(key, verdict);
    return verdict;
  };
  return (source: string, flags: string, longest: number, allowed: number): string | null => {
    try {
      const first = judgePattern(source, flags, longest, 3);
      if (isWithin(first, allowed)) return null;
      const verdict = judgePattern(source, flags, longest, 12);
      if (isWithin(verdict, allowed)) return null;
      const often = Number.isFinite(verdict.ways)
        ? `reads one text in up to ${verdict.ways} ways`
        : 'is exponential';
      return `${often}: ${verdict.chain.join('  ')}`;
    } catch (error) {
      if (error instanceof UnprovenError) return `is unproven: ${error.message}`;
      throw error;
    }
  };
}

function isWithin({ ways }: Verdict, allowed: number): boolean {
  return Number.isFinite(ways) && ways <= allowed;
}

function limitText(file: string): number {
  return CUT.find((cut) => file.startsWith(cut.in))?.to ?? ANY_LENGTH;
}

function computeWays(longest: number): number {
  return longest >= ANY_LENGTH ? WAYS_AT_ANY_LENGTH : STEPS / longest;
}

function limitWays(file: string): number {
  return OWN_TEXT.includes(file) ? Number.POSITIVE_INFINITY : computeWays(limitText(file));
}

/**
 * Returns the patterns that a module puts together when it is loaded, which it is once more, or called. The
 * stack tells them from those that other tests of this worker still make in the background.
 */
async function listComposedPatterns(file: string): Promise<Pattern[]> {
  const made: Pattern[] = [];
  const Own = RegExp;
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  vi.stubGlobal(
    'RegExp',
    new Proxy(Own, {
      construct(target, args: [string | RegExp, string?]) {
        const pattern = new target(...args);
        if (new Error().stack?.includes(`/${file}`))
          made.push({ file, line: 0, source: pattern.source, flags: pattern.flags });
        return pattern;
      },
    }),
  );
  await import(`${pathToFileURL(join(ROOT, file)).href}?patterns`);
  CALLS[file]?.();
  vi.unstubAllGlobals();
  Error.stackTraceLimit = limit;
  return made;
}

function createKey({ source, flags }: Pattern): string {
  return String(new RegExp(source, flags));
}
