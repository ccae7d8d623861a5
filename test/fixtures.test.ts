import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTerminalApp, type TerminalApp } from '../src/app/terminal-app.ts';
import { createEmbeddedPreset } from '../src/config/load.ts';
import { parseConfig } from '../src/config/schema.ts';
import type { Analysis } from '../src/domain/analysis.ts';
import type { SourceText } from '../src/domain/build.ts';
import { Category } from '../src/domain/category.ts';
import type { Reading } from '../src/domain/reading.ts';
import { decodeSource } from '../src/log/decode/decode.ts';
import { silentLogger } from '../src/ports/telemetry.ts';
import { sampleBuild } from './support/sample-analysis.ts';

const HOME = resolve(import.meta.dirname, '..');
const FOLDER = join(HOME, 'test/fixtures/failures');
/** What must hold of all captured failures together. */
const ENOUGH = 0.9;

const NEUTRAL =
  /^\/(?:home\/(?:runner|jenkins)|usr|opt|bin|lib|lib64|etc|var|proc|dev|sys|rustc|tmp\/(?:jenkins\d+|step-\d+)\.sh)\b/;

const Truth = z.object({
  category: Category,
  alsoOk: z.array(Category),
  failingTests: z.array(
    z.object({ name: z.string(), suite: z.string().nullish(), file: z.string().nullish() }),
  ),
  mustCite: z.array(z.tuple([z.int().min(1), z.int().min(1)])),
});

interface Answered {
  readonly slug: string;
  readonly truth: z.infer<typeof Truth>;
  readonly log: string;
  readonly reading: Reading;
  readonly analyses: readonly Analysis[];
}

const slugs = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);
const answered: Answered[] = [];

describe('the failures captured from our own projects', () => {
  beforeAll(async () => {
    const config = parseConfig(createEmbeddedPreset(join(HOME, '.faultline'), join(HOME, 'knowledge')));
    const app = await createTerminalApp(config, silentLogger);
    for (const slug of slugs) answered.push(await answer(app, slug));
  }, 60_000);

  it('are at least twenty-five, with every category', () => {
    expect(slugs.length).toBeGreaterThanOrEqual(25);
    expect(new Set(answered.map(({ truth }) => truth.category)).size).toBe(5);
  });

  it('get the right category', () => {
    const misses = answered.filter(({ truth, analyses }) => {
      const said = analyses[0]?.category;
      return said === undefined || ![truth.category, ...truth.alsoOk].includes(said);
    });
    const lines = misses.map(
      ({ slug, truth, analyses }) => `${slug}: is ${truth.category}, said ${analyses[0]?.category}`,
    );
    if (lines.length > 0)
      console.info(`wrong category (${lines.length} of ${slugs.length}):\n${lines.join('\n')}`);
    expect(1 - misses.length / slugs.length).toBeGreaterThanOrEqual(ENOUGH);
  });

  it('are quoted literally, with the right line number', () => {
    const wrong = answered.flatMap(({ slug, log, analyses }) => {
      const lines = log.split('\n');
      const quotes = analyses.flatMap(({ answer: { claims } }) => claims.flatMap((claim) => claim.quotes));
      return quotes
        .filter(({ source, line, text }) => source === 'log.txt' && lines[line - 1]?.includes(text) !== true)
        .map(({ line, text }) => `${slug}:${line} ${text}`);
    });
    expect(wrong).toEqual([]);
  });

  it('each have at least one quotation', () => {
    const silent = answered.filter(
      ({ analyses }) =>
        !analyses.some(({ answer: { claims } }) => claims.some(({ quotes }) => quotes.length > 0)),
    );
    if (silent.length > 0) console.info(`no quotation: ${silent.map(({ slug }) => slug).join(', ')}`);
    expect(1 - silent.length / slugs.length).toBeGreaterThanOrEqual(ENOUGH);
  });

  it('keep the lines that a person would show', () => {
    const wanted = answered.flatMap(({ slug, truth, reading }) =>
      truth.mustCite.flatMap(([start, end]) =>
        Array.from({ length: end - start + 1 }, (_, index) => ({
          slug,
          line: start + index,
          kept: isKept(reading, start + index),
        })),
      ),
    );
    const lost = wanted.filter(({ kept }) => !kept);
    if (lost.length > 0)
      console.info(`lost lines: ${lost.map(({ slug, line }) => `${slug}:${line}`).join(', ')}`);
    expect(1 - lost.length / wanted.length).toBeGreaterThanOrEqual(ENOUGH);
  });

  it('name the tests that failed, and no others', () => {
    const tests = answered.map(({ slug, truth, reading }) => {
      const found = reading.failingTests.map(({ name, suite }) => `${suite ?? ''} ${name}`);
      const missing = truth.failingTests.filter(({ name }) => !found.some((one) => one.includes(name)));
      const strange = found.filter((one) => !truth.failingTests.some(({ name }) => one.includes(name)));
      return {
        slug,
        missing: missing.map(({ name }) => `${slug}: ${name}`),
        strange: strange.map((name) => `${slug}: ${name}`),
      };
    });
    const wanted = answered.reduce((total, { truth }) => total + truth.failingTests.length, 0);
    const missing = tests.flatMap((one) => one.missing);
    if (missing.length > 0)
      console.info(`tests not found (${missing.length} of ${wanted}):\n${missing.join('\n')}`);
    expect(1 - missing.length / wanted).toBeGreaterThanOrEqual(ENOUGH);
    expect(tests.flatMap((one) => one.strange)).toEqual([]);
  });
});

describe('the files of captured failures', () => {
  it('contain no path of the machine that captured them', () => {
    const told = slugs.flatMap((slug) =>
      readdirSync(join(FOLDER, slug)).flatMap((file) =>
        listStrangePaths(readFileSync(join(FOLDER, slug, file), 'utf8'), `${slug}/${file}`),
      ),
    );
    expect(told).toEqual([]);
  });
});

/** Absolute paths that are neither a CI runner's home nor where systems keep their programs. */
function listStrangePaths(text: string, file: string): string[] {
  const paths = text.matchAll(/(?<=^|[\s'"`(=[])\/[\w.-]+\/[\w.-]+/gm);
  return [...new Set(Array.from(paths, ([path]) => path))]
    .filter((path) => !NEUTRAL.test(path))
    .map((path) => `${file} ${path}`);
}

async function answer(app: TerminalApp, slug: string): Promise<Answered> {
  const sources = [createSource(slug, 'log.txt', 'log')];
  if (existsSync(join(FOLDER, slug, 'report.xml'))) sources.push(createSource(slug, 'report.xml', 'report'));
  const truth = Truth.parse(JSON.parse(readFileSync(join(FOLDER, slug, 'truth.json'), 'utf8')));
  const { reading, analyses } = await app.triage(
    sampleBuild({ id: slug }),
    sources,
    new AbortController().signal,
  );
  return { slug, truth, log: sources[0]?.text ?? '', reading, analyses };
}

function createSource(slug: string, name: string, kind: SourceText['kind']): SourceText {
  return decodeSource(name, readFileSync(join(FOLDER, slug, name)), kind, { maxBytes: 64 * 1024 * 1024 });
}

function isKept({ excerpts }: Reading, line: number): boolean {
  return excerpts.some(
    ({ source, lineStart, lineEnd }) => source === 'log.txt' && lineStart <= line && line <= lineEnd,
  );
}
