import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMasker } from '../../../src/log/mask/mask.ts';
import {
  computeShare,
  countMasks,
  measureGeneratedRecall,
  measureRealisticRecall,
} from '../../support/masking-gates.ts';
import { DECLARED_SECRETS, HARMLESS, SPREAD_SECRETS } from './declared.ts';

/** The bars of masking. What it reaches is in docs/explanation/masking.md; `scripts/bench masking` prints it. */
const masker = createMasker();
const FIXTURES = join(import.meta.dirname, '../../fixtures');

describe('masking', () => {
  it('masks 97 in 100 of the secrets that gitleaks generates', async () => {
    const recalls = await measureGeneratedRecall(masker);
    expect(recalls.reduce((sum, { lines }) => sum + lines, 0)).toBeGreaterThan(6_000);
    expect(computeShare(recalls).lines).toBeGreaterThanOrEqual(0.97);
  });

  it('masks every line of 99 in 100 kinds of secrets as logs show them', async () => {
    const recalls = await measureRealisticRecall(masker);
    expect(recalls.length).toBeGreaterThan(97);
    expect(recalls.filter(({ missed }) => missed.length > 0)).toEqual([]);
  });
});

describe('a declared secret', () => {
  it.each(DECLARED_SECRETS)('is masked where it is declared: $kind', async ({ text, secret }) => {
    expect((await masker.mask(`before\n${text}\nafter`)).text).not.toContain(secret);
  });

  it.each(SPREAD_SECRETS)(
    'is masked in the other texts of the build: $declares',
    async ({ declares, value }) => {
      const [, report, log] = await masker.maskAll([
        declares,
        `<failure message="login with ${value} failed"/>`,
        `ci (${value}) refused`,
      ]);
      expect([report?.text, log?.text]).toEqual([
        '<failure message="login with *** failed"/>',
        'ci (***) refused',
      ]);
    },
  );

  it.each([
    'a&lt;b&gt;&amp;&quot;c&quot;&#39;d',
    'a&lt;b>&amp;"c"\'d',
    'a&lt;b&gt;&amp;&#34;c&#34;&#39;d',
    "a&lt;b&gt;&amp;&quot;c&quot;'d",
  ])('is masked in a report in any notation: %s', async (written) => {
    const report = `<testsuite><testcase name="a"><failure>${written}.</failure></testcase></testsuite>`;
    const [, masked] = await masker.maskAll(['::add-mask::a<b>&"c"\'d', report]);
    expect(masked?.text).toBe(report.replace(written, '***'));
  });

  it('is masked only there if its value is a common word', async () => {
    const rest = 'true main release 3.14.2 unhunter2d 8080 not set';
    const declared = ['true', 'main', 'release', '3.14.2', 'hunter2', '8080', 'not set'].map(
      (value) => `::add-mask::${value}`,
    );
    expect((await masker.maskAll([declared.join('\n'), rest]))[1]?.text).toBe(rest);
  });

  it.each(HARMLESS)('is not assumed in %j', async (text) => {
    expect(await masker.mask(text)).toEqual({ text, count: 0 });
  });
});

describe('masking does not change', () => {
  it('captured logs, except for the two credentials in them', async () => {
    const logs = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('log.txt'),
    );
    const { lines } = await countMasks(
      masker,
      logs.map((name) => readFileSync(join(FIXTURES, name), 'utf8')),
    );
    expect(logs.length).toBeGreaterThan(200);
    expect(lines.map((line) => /\w+:\/\/\w+:\*{3}@[\w.]+/.exec(line)?.[0] ?? line)).toEqual([
      'postgres://ci:***@localhost',
      'https://reader:***@feeds.example.test',
    ]);
  });

  it.each([
    'Resolved Mono.Cecil, Version=0.11.5.0, Culture=neutral, PublicKeyToken=50cebf1cceb9d05e with Mono.Cecil.dll',
    'features=["Win32_Security_Credentials", "Win32_Security_Cryptography_Catalog"]',
    'token = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
    '<token>\n  expected\n</token>',
    'Sourcegraph checked out 6d2fabeb6add229bc199faba28fd3efb57df0bd3',
  ])('%j', async (text) => {
    expect(await masker.mask(text)).toEqual({ text, count: 0 });
  });
});
