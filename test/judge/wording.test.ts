import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../src/domain/analysis.ts';
import { composeAnswer } from '../../src/judge/answer.ts';
import { createInsight, createSubject } from './subject.ts';

const FOLDER = 'test/fixtures/failures';

function answerTo(slug: string): Answer {
  const report = join(FOLDER, slug, 'report.xml');
  const log = readFileSync(join(FOLDER, slug, 'log.txt'), 'utf8');
  const subject = createSubject(log, existsSync(report) ? { report: readFileSync(report, 'utf8') } : {});
  return composeAnswer(createInsight(log, { subject }));
}

const SLUGS = readdirSync(FOLDER).filter((slug) => existsSync(join(FOLDER, slug, 'log.txt')));

describe('answers to the captured failures', () => {
  test.each(SLUGS)(
    '%s: contain more than the title, one recommendation, and a quotation of the reason',
    (slug) => {
      const { title, rootCause, fixRecommendation, claims } = answerTo(slug);
      expect(rootCause).not.toBe(title);
      expect(rootCause.startsWith(`${title}.`)).toBe(false);
      expect(rootCause.length).toBeLessThan(700);
      expect(`${title} ${rootCause} ${fixRecommendation}`).not.toMatch(
        /ERR0\d\d|\btie-\d|more errors? follows?\b|the named file|\bundefined:/,
      );
      expect(fixRecommendation).toMatch(/^(?:No fix found|[A-Z].{15,400})\.$/);
      const quotes = claims.flatMap((claim) => claim.quotes);
      expect(quotes.length).toBeGreaterThan(0);
      expect(
        quotes.filter(({ text }) =>
          /Process completed with exit code|^Finished: |could not compile/.test(text),
        ),
      ).toEqual([]);
    },
  );

  test.each([
    ['npm-eresolve', /react-dom@17\.0\.2 requires react@17\.0\.2.*react@18\.3\.1/, /Move react-dom/],
    [
      'pip-conflicting-versions',
      /jinja2 3\.1\.4 requires MarkupSafe>=2\.0/,
      /Change the requirement markupsafe==1\.1\.1/,
    ],
    ['profile-none-attribute', /^members\/greeting\.py:3 raises AttributeError/, /members\/greeting\.py:3/],
    ['visitor-counter-race', /\(\*Counter\)\.Enter \(counter\.go:14\)/, /counter\.go:14/],
    ['markupsafe-upgrade', /^jinja2 imports soft_unicode from markupsafe/, /^Upgrade jinja2/],
    ['registry-unauthorized', /PACKAGES_TOKEN is empty/, /^Set a value for PACKAGES_TOKEN/],
    [
      'receipt-snapshot',
      /renders "Rye bread 4,80 EUR" where the stored snapshot has "Rye bread 4\.80"/,
      /update the snapshot/,
    ],
    ['yaml-package-undeclared', /^planner\/rota\.py imports yaml, which is not installed/, /PyYAML/],
    [
      'wrong-working-directory',
      /needs package\.json, but \S*pottery-shop does not contain one/,
      /^Run npm in the folder that contains package\.json/,
    ],
    ['csv-reader-segfault', /`make check` ran .* “ok 1 - prints number and price”/, /debugger/],
  ])('%s: name the object, the place and the reason', (slug, cause, fix) => {
    const answer = answerTo(slug);
    expect(answer.rootCause).toMatch(cause);
    expect(answer.fixRecommendation).toMatch(fix);
  });

  test('name a missing file without a folder as it is, and guess no folder', () => {
    const log = readFileSync(join(FOLDER, 'wrong-working-directory', 'log.txt'), 'utf8').replace(
      /'[^'\n]*package\.json'/g,
      "'package.json'",
    );
    const { fixRecommendation } = composeAnswer(createInsight(log));
    expect(fixRecommendation).toBe(
      'Run npm in the folder that contains package.json (`working-directory` of the step).',
    );
  });

  test.each([
    ['profile-none-attribute', 'members/greeting.py'],
    ['route-planner-borrow', 'src/main.rs'],
    ['visitor-counter-race', 'counter.go'],
    ['loyalty-customer-null', 'test/example/loyalty/DiscountService.java'],
    ['playlist-index-panic', 'src/lib.rs'],
  ])('%s: have the faulty file as first suspect', (slug, path) => {
    expect(answerTo(slug).suspects[0]).toMatchObject({ path });
  });

  test('57: do not call the result for a whole file of tests a test', () => {
    const log = [
      'FAIL test/cart.test.js',
      '  ● Test suite failed to run',
      '',
      "    Cannot find module './prices' from 'test/cart.test.js'",
    ].join('\n');
    const report =
      '<testsuite name="cart"><testcase classname="cart" name="Test suite failed to run" ' +
      'file="test/cart.test.js"><failure message="Cannot find module"/></testcase></testsuite>';
    const told = composeAnswer(createInsight(log, { subject: createSubject(log, { report }) })).claims.map(
      ({ text }) => text,
    );
    expect(told.join('\n')).not.toMatch(/Test (?:Test|Test suite)/i);
    expect(told).toContain('A test file failed before its tests ran.');
  });

  test.each(['payments-api-refused', 'disk-full-maven-repository', 'test-run-killed'])(
    '%s: blame no file of the project',
    (slug) => {
      expect(answerTo(slug).suspects).toEqual([]);
    },
  );
});
