import { describe, expect, it } from 'vitest';
import {
  buildCodeQualityReport,
  buildCtrfReport,
  buildSarifLog,
  type ExportInput,
} from '../../../src/service/answers/export.ts';
import { listSchemaErrors } from '../../support/published-schemas.ts';
import {
  createRecalledAnalysis,
  createUnsureAnalysis,
  sampleAnalysis,
  sampleAnswers,
  sampleBuild,
  sampleFailure,
} from '../../support/sample-analysis.ts';

const HOSTILE = 'see [here](javascript:alert(1)) {0} \ud800 <script> \u202e ```';

function readExported(change: Partial<ExportInput> = {}): ExportInput {
  return {
    build: sampleBuild(),
    answers: sampleAnswers([sampleAnalysis()]),
    failures: [sampleFailure()],
    publicUrl: 'https://fl.example/',
    ...change,
  };
}

/** Answers of every form, and one in which every text is hostile. */
function readEverything(): ExportInput {
  const { answer } = sampleAnalysis();
  const suspect = {
    path: '../../etc/passwd',
    line: 1,
    commit: null,
    author: null,
    score: 0.5,
    reason: HOSTILE,
  };
  const suspects = [
    suspect,
    { ...suspect, path: `a b/${HOSTILE}.ts`, line: null },
    { ...suspect, path: 'C:\\x.ts' },
  ];
  const claims = [
    { text: HOSTILE, evidence: [], quotes: [{ source: `${HOSTILE}/log`, line: 3, text: HOSTILE }] },
  ];
  const failures = [
    sampleFailure(),
    sampleFailure({ id: 'fal_2', test: null, message: '', excerpt: null, frames: [] }),
  ];
  const hostile = { ...answer, title: HOSTILE, rootCause: HOSTILE, fixRecommendation: '', claims, suspects };
  return readExported({
    build: sampleBuild({
      url: 'not a url',
      commit: null,
      branch: null,
      startedAt: null,
      number: 'seven',
      repository: HOSTILE,
    }),
    answers: sampleAnswers(
      [
        sampleAnalysis(),
        createUnsureAnalysis(),
        createRecalledAnalysis(),
        sampleAnalysis({ id: HOSTILE, failureIds: ['fal_2'], answer: hostile }),
      ],
      failures,
    ),
    failures,
    publicUrl: null,
  });
}

describe.each([
  ['SARIF', 'sarif-2.1.0', buildSarifLog],
  ['CTRF', 'ctrf', buildCtrfReport],
] as const)('the %s export', (_name, schema, write) => {
  it.each([
    ['an answered build', readExported()],
    ['every form and hostile text', readEverything()],
    ['a build of which nothing is known', readExported({ answers: [], failures: [] })],
  ])('of %s is valid by the published schema', (_case, given) => {
    expect(listSchemaErrors(schema, write(given))).toEqual([]);
  });
});

it('the published schemas themselves refuse invalid documents', () => {
  expect(listSchemaErrors('sarif-2.1.0', { version: '2.1.0' })).not.toEqual([]);
  expect(listSchemaErrors('ctrf', { reportFormat: 'CTRF' })).not.toEqual([]);
  expect(listSchemaErrors('cloudevents', { id: '' })).not.toEqual([]);
});

describe('a SARIF log', () => {
  const [run] = buildSarifLog(readExported()).runs;
  const [result] = run?.results ?? [];

  it('has a cause at its first suspect, with the supporting lines as related locations', () => {
    const region = { startLine: 41 };
    expect(result?.locations[0]?.physicalLocation).toEqual({
      artifactLocation: { uri: 'src/cart/tax.ts', uriBaseId: '%SRCROOT%' },
      region,
    });
    expect(result?.relatedLocations.map(({ physicalLocation }) => physicalLocation.region)).toEqual([
      { startLine: 288501, snippet: { text: 'expected 10.20, got 10.21' } },
      { startLine: 288502, snippet: { text: '    at sum (src/cart/tax.ts:41)' } },
    ]);
  });

  it('states its tool, its source and where to read more', () => {
    expect(result).toMatchObject({
      ruleId: 'TEST_FAILURE/assertion',
      level: 'error',
      message: {
        text: expect.stringMatching(
          /^The cart total is rounded twice \(Test failure, 91 % sure\)\.\n.*\nFix: Round once/s,
        ),
      },
      partialFingerprints: { 'faultline/v1': 'f00d' },
      hostedViewerUri: 'https://fl.example/analyses/ana_9f2c',
      properties: { confidence: 0.91, tests: ['cart total'] },
    });
    const address = {
      repositoryUri: 'https://ci.example/shop/api',
      revisionId: sampleBuild().commit,
      branch: 'main',
    };
    expect(run?.versionControlProvenance).toEqual([address]);
  });

  it.each([
    ['azure', 'https://dev.azure.com/shop/web/_build/results?buildId=7'],
    ['circleci', 'https://app.circleci.com/pipelines/github/shop/api/7'],
    ['buildkite', 'https://buildkite.com/shop/api/builds/7'],
    ['jenkins', 'https://ci.example/job/shop/7'],
  ] as const)('names no repository if the page of %s is not below one', (provider, url) => {
    const [run] = buildSarifLog(readExported({ build: sampleBuild({ provider, url }) })).runs;
    expect(run?.versionControlProvenance).toBeUndefined();
  });

  it('has only a warning if the answer needs review', () => {
    expect(
      buildSarifLog(readExported({ answers: sampleAnswers([createUnsureAnalysis()]) })).runs[0]?.results[0]
        ?.level,
    ).toBe('warning');
  });

  it('refers to the failing test without a suspect, and to nothing outside the repository', () => {
    const { answer } = sampleAnalysis();
    const unsuspected = sampleAnalysis({ answer: { ...answer, suspects: [] } });
    const [at] =
      buildSarifLog(readExported({ answers: sampleAnswers([unsuspected]) })).runs[0]?.results[0]?.locations ??
      [];
    expect(at?.physicalLocation).toMatchObject({
      artifactLocation: { uri: 'test/cart.test.ts' },
      region: { startLine: 88 },
    });
    const [of] = buildSarifLog(readEverything()).runs[0]?.results.at(-1)?.locations ?? [];
    expect(decodeURIComponent(of?.physicalLocation.artifactLocation.uri ?? '')).toMatch(/^a b\/see /);
  });

  it('lets no outside text become a link or a placeholder', () => {
    const text = buildSarifLog(readEverything()).runs[0]?.results.at(-1)?.message.text ?? '';
    expect(text).toContain('\\[here\\](javascript:alert(1)) {{0}}');
    expect(text.isWellFormed()).toBe(true);
  });
});

describe('a CTRF report', () => {
  it('has one failed test per failure, with the cause that Faultline names', () => {
    const { results } = buildCtrfReport(readExported());
    expect(results.summary).toMatchObject({ tests: 1, failed: 1, passed: 0 });
    expect(results.tests[0]).toMatchObject({
      name: 'cart total',
      suite: ['cart'],
      message: 'expected 10.20, got 10.21',
      filePath: 'test/cart.test.ts',
      line: 88,
      ai: expect.stringContaining('The cart total is rounded twice (Test failure, 91 % sure)'),
      extra: { analysisId: 'ana_9f2c', url: 'https://fl.example/analyses/ana_9f2c' },
    });
    expect(results.environment).toMatchObject({ buildNumber: 812, branchName: 'main' });
    expect(results.extra).toEqual({ failedTestsOnly: true, leftOut: 0 });
  });

  it('is limited in size, and states what it left out', () => {
    const many = Array.from({ length: 5_001 }, (_, index) =>
      sampleFailure({ id: `fal_${index}`, message: 'x'.repeat(10_000) }),
    );
    const { results } = buildCtrfReport(readExported({ failures: many }));
    expect([results.tests.length, results.extra.leftOut]).toEqual([5_000, 1]);
    expect(results.tests[0]?.message.length).toBeLessThan(4_100);
  });
});

describe('the code quality report of GitLab', () => {
  it('has a finding with every required field for each cause with a place', () => {
    expect(buildCodeQualityReport(readExported())).toEqual([
      {
        description: expect.stringContaining(sampleAnalysis().answer.title),
        check_name: expect.stringMatching(/^[A-Z_]+\/\w+$/),
        fingerprint: sampleAnalysis().fingerprint,
        severity: 'major',
        location: { path: expect.stringMatching(/^[^/]/), lines: { begin: expect.any(Number) } },
      },
    ]);
  });

  it('names no path outside of the repository, and marks uncertain answers', () => {
    const report = buildCodeQualityReport(readEverything());

    expect(report.map(({ severity }) => severity)).toContain('minor');
    expect(report.filter(({ location: { path } }) => /^(?:\/|[A-Za-z]:)|\.\./.test(path))).toEqual([]);
    expect(report.every(({ location }) => location.lines.begin >= 1)).toBe(true);
  });

  it('is empty without answers', () => {
    expect(buildCodeQualityReport(readExported({ answers: [], failures: [] }))).toEqual([]);
  });
});
