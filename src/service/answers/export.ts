import { type Analysis, getShownCategory } from '../../domain/analysis.ts';
import { type Build, isCodeHost } from '../../domain/build.ts';
import type { Failure } from '../../domain/failure.ts';
import { RELEASE } from '../../domain/trust.ts';
import { answerView, collectMoreFacts, listProofLines } from '../../notifications/answer-view.ts';
import { type ArrangedAnswer, nameTests } from '../../notifications/build-answers.ts';
import { createNoticeLinks } from '../../notifications/notice-words.ts';
import { clip } from '../../notifications/visible-text.ts';

/** The input of an export: one build, its answers, and its failures. */
export interface ExportInput {
  readonly build: Build;
  /** The answers in the order in which to fix them. */
  readonly answers: readonly ArrangedAnswer[];
  readonly failures: readonly Failure[];
  /** The public URL of Faultline; null if there are no links. */
  readonly publicUrl: string | null;
}

/** The maximum number of tests in a report; `extra.leftOut` counts the rest. */
const MAX_TESTS = 5_000;
/** The maximum length of a text, in characters. */
const MAX_TEXT = 4_000;

/**
 * Builds a report of the failed tests in the Common Test Report Format 1.0.0: one failed test per failure,
 * with the cause in `ai` and its category in `extra`. Passed tests are not included, and the summary counts
 * only what is in the report. The size is bounded; the texts are already masked.
 */
export function buildCtrfReport({ build, answers, failures, publicUrl }: ExportInput) {
  const listed = failures.slice(0, MAX_TESTS);
  const byFailure = new Map(
    answers.flatMap((answer) => answer.sample.map(({ id }) => [id, answer] as const)),
  );
  const stop = toMilliseconds(build.finishedAt ?? build.receivedAt);
  return {
    reportFormat: 'CTRF',
    specVersion: '1.0.0',
    runId: build.id,
    timestamp: build.receivedAt,
    generatedBy: 'faultline',
    results: {
      tool: { name: 'faultline' },
      summary: {
        tests: listed.length,
        passed: 0,
        failed: listed.length,
        skipped: 0,
        pending: 0,
        other: 0,
        start: build.startedAt === null ? stop : toMilliseconds(build.startedAt),
        stop,
      },
      tests: listed.map((failure) => toCtrfTest(failure, byFailure.get(failure.id), publicUrl)),
      environment: describeEnvironment(build),
      extra: { failedTestsOnly: true, leftOut: failures.length - listed.length },
    },
  };
}

function toCtrfTest(
  { test, message, excerpt, frames }: Failure,
  answer: ArrangedAnswer | undefined,
  publicUrl: string | null,
) {
  const place = test?.file ? { file: test.file, line: test.line } : frames.find(({ own }) => own);
  return {
    name: getText(test?.name ?? message, 500) || 'failed step',
    status: 'failed',
    // CTRF requires a duration in milliseconds, which a failure does not have.
    duration: 0,
    ...(test?.suite ? { suite: [getText(test.suite, 500)] } : {}),
    message: getText(message),
    ...(excerpt === null ? {} : { trace: getText(excerpt.text) }),
    ...(place === undefined ? {} : { filePath: getText(place.file, 1_000) }),
    ...(place?.line ? { line: place.line } : {}),
    ...(answer === undefined ? { extra: {} } : buildExplanation(answer, publicUrl)),
  };
}

function buildExplanation(answer: ArrangedAnswer, publicUrl: string | null) {
  const { analysis } = answer;
  return {
    ai: getText(formatMessage(answer)),
    extra: {
      analysisId: analysis.id,
      ...buildProperties(analysis),
      ...(publicUrl === null ? {} : { url: createNoticeLinks(publicUrl).analysis(analysis.id) }),
    },
  };
}

function describeEnvironment(build: Build): Readonly<Record<string, string | number>> {
  const { pipeline, number, url, repository, commit, branch } = build;
  return {
    buildId: build.id,
    buildName: pipeline,
    repositoryName: repository,
    ...(/^\d{1,9}$/.test(number) ? { buildNumber: Number(number) } : {}),
    ...(url === null ? {} : { buildUrl: url }),
    ...(commit === null ? {} : { commit }),
    ...(branch === null ? {} : { branchName: branch }),
  };
}

function getText(value: string, limit = MAX_TEXT): string {
  return clip(value, limit).toWellFormed();
}

function toMilliseconds(time: string): number {
  return Math.trunc(Date.parse(time));
}

/** The maximum number of results in a log; the property `leftOut` counts the rest. */
const MAX_RESULTS = 1_000;
/** The maximum number of related locations of a result. */
const MAX_RELATED = 20;
/** The maximum number of tests that a result names. */
const MAX_NAMED = 50;
/**
 * The name and version of our fingerprint (SARIF 2.1.0, 3.27.17). Change it when fingerprints are computed
 * differently.
 */
const FINGERPRINT = 'faultline/v1';
const ROOT = '%SRCROOT%';

/**
 * Builds a SARIF 2.1.0 log of the answers, one result per cause: located at the first suspect, otherwise at
 * the failing test, with the proving log lines as related locations. Confident answers are errors; answers
 * that wait for a person are warnings. The size is bounded; the texts are already masked.
 */
export function buildSarifLog({ build, answers, publicUrl }: ExportInput) {
  const listed = answers.slice(0, MAX_RESULTS);
  const rules = [...new Set(listed.map(({ analysis }) => toRuleId(analysis)))];
  const address = findRepositoryAddress(build);
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'Faultline',
            semanticVersion: RELEASE,
            rules: rules.map((id) => ({ id, shortDescription: { text: formatRuleText(id) } })),
          },
        },
        automationDetails: { id: `faultline/${build.repository}/${build.pipeline}/` },
        ...(address === null ? {} : { versionControlProvenance: [describeProvenance(build, address)] }),
        originalUriBaseIds: { [ROOT]: { description: { text: 'The root of the repository.' } } },
        columnKind: 'utf16CodeUnits',
        results: listed.map((answer) =>
          toSarifResult(answer, rules.indexOf(toRuleId(answer.analysis)), publicUrl),
        ),
        properties: {
          build: {
            id: build.id,
            provider: build.provider,
            repository: build.repository,
            pipeline: build.pipeline,
            number: build.number,
          },
          leftOut: answers.length - listed.length,
        },
      },
    ],
  };
}

function toSarifResult(answer: ArrangedAnswer, ruleIndex: number, publicUrl: string | null) {
  const { analysis, sample, explains } = answer;
  const [place, ...others] = listPlaces(analysis, sample);
  const { named: tests } = nameTests(explains, MAX_NAMED);
  return {
    ruleId: toRuleId(analysis),
    ruleIndex,
    level: answerView(analysis).form === 'unsure' ? 'warning' : 'error',
    message: { text: escapeSarifText(clip(formatMessage(answer), MAX_TEXT)) },
    locations: place === undefined ? [] : [place],
    relatedLocations: [...others, ...listEvidence(analysis)]
      .slice(0, MAX_RELATED)
      .map((location, index) => ({ ...location, id: index + 1 })),
    partialFingerprints: { [FINGERPRINT]: analysis.fingerprint },
    ...(publicUrl === null ? {} : { hostedViewerUri: createNoticeLinks(publicUrl).analysis(analysis.id) }),
    properties: {
      analysisId: analysis.id,
      ...buildProperties(analysis),
      title: clip(analysis.answer.title, 500),
      failures: explains.failures,
      tests: tests.map((test) => clip(test, 300)),
      ...(explains.grouped === null ? {} : { grouped: clip(explains.grouped, 500) }),
    },
  };
}

/** One finding of GitLab's code quality report. */
interface CodeQualityFinding {
  readonly description: string;
  readonly check_name: string;
  readonly fingerprint: string;
  readonly severity: 'minor' | 'major';
  readonly location: { readonly path: string; readonly lines: { readonly begin: number } };
}

/**
 * Builds a code quality report as GitLab reads it, one finding per cause: at the first suspect, otherwise at
 * the failing test. A cause without a place in the repository is left out, because the format requires one.
 */
export function buildCodeQualityReport({ answers }: ExportInput): CodeQualityFinding[] {
  return answers.slice(0, MAX_RESULTS).flatMap((answer) => {
    const { analysis, sample } = answer;
    const [place] = listPlaces(analysis, sample);
    if (place === undefined) return [];
    const { artifactLocation, region } = place.physicalLocation;
    return [
      {
        description: getText(formatMessage(answer)),
        check_name: toRuleId(analysis),
        fingerprint: analysis.fingerprint,
        severity: answerView(analysis).form === 'unsure' ? 'minor' : 'major',
        location: {
          path: artifactLocation.uri.split('/').map(decodeURIComponent).join('/'),
          lines: { begin: region.startLine },
        },
      },
    ];
  });
}

function formatMessage({ analysis, explains }: ArrangedAnswer): string {
  const { title, category, standing, facts } = answerView(analysis, undefined, explains);
  const texts = facts.filter(({ kind, reach }) => reach === 'everywhere' && kind !== 'lines');
  const parts = texts.map(
    ({ name, label, values }) => `${name === 'Cause' ? '' : `${label}: `}${values.join('; ')}`,
  );
  return [`${title} (${category}, ${standing}).`, ...parts].join('\n');
}

function buildProperties(analysis: Analysis) {
  const { kind, verdict, recalled } = analysis;
  const { confidence, action } = verdict;
  const confirmedBy = recalled?.confirmedBy ?? null;
  return {
    category: getShownCategory(analysis),
    kind,
    action,
    confidence,
    confirmedBy,
    facts: collectMoreFacts(analysis),
  };
}

/**
 * Lists the suspected files of the repository, most suspected first. If no suspect is a file of the
 * repository, lists the files of the failing tests.
 */
function listPlaces({ answer }: Analysis, failures: readonly Failure[]) {
  const suspects = answer.suspects.flatMap(({ path, line, reason }) => toLocation(path, line, reason));
  if (suspects.length > 0) return suspects;
  return failures.flatMap(({ test }) => (test?.file ? toLocation(test.file, test.line, test.name) : []));
}

function toLocation(path: string, line: number | null, what: string) {
  const uri = convertRepositoryPath(path);
  if (uri === null) return [];
  const region = { startLine: line ?? 1 };
  return [
    {
      physicalLocation: { artifactLocation: { uri, uriBaseId: ROOT }, region },
      message: { text: escapeSarifText(clip(what, 500)) },
    },
  ];
}

/**
 * Lists log lines as locations. A log is not a file of the repository, so its name uses a separate URI
 * scheme.
 */
function listEvidence(analysis: Analysis) {
  return listProofLines(analysis).map(({ source, line, text }) => ({
    physicalLocation: {
      artifactLocation: { uri: `log:${encodeURIComponent(clip(source, 300).toWellFormed())}` },
      region: { startLine: line, snippet: { text: text.toWellFormed() } },
    },
    message: { text: escapeSarifText(`Line ${line} of the log`) },
  }));
}

function describeProvenance({ commit, branch }: Build, repositoryUri: string) {
  return {
    repositoryUri,
    ...(commit === null ? {} : { revisionId: commit }),
    ...(branch === null ? {} : { branch }),
  };
}

function toRuleId({ category, kind }: Analysis): string {
  return `${category}/${kind}`;
}

function formatRuleText(id: string): string {
  const [category = '', kind = ''] = id.split('/');
  return `${category.replaceAll('_', ' ').toLowerCase()}: ${kind.replaceAll('_', ' ')}`;
}

/**
 * Converts a path to a relative URI below the repository's root. Returns null if it lies outside (absolute,
 * with a drive, or upward).
 */
function convertRepositoryPath(path: string): string | null {
  const parts = path.toWellFormed().replaceAll('\\', '/').replace(/^\.\//, '').split('/');
  const [first = ''] = parts;
  if (path === '' || path.length > 1_000 || first === '' || first.includes(':') || parts.includes('..'))
    return null;
  return parts.map(encodeURIComponent).join('/');
}

/**
 * Returns the URL of the repository. If the build's URL does not contain the repository's name, the
 * repository is assumed to be at the root of the host. Returns null for other providers and for builds
 * without a URL.
 */
function findRepositoryAddress({ provider, url, repository }: Build): string | null {
  if (!isCodeHost(provider) || url === null || !/^https?:\/\//.test(url) || !URL.canParse(url)) return null;
  const name = `/${repository.split('/').map(encodeURIComponent).join('/')}`;
  // A server may be at a path of its host.
  const end = url.indexOf(`${name}/`);
  return `${end < 0 ? new URL(url).origin : url.slice(0, end)}${name}`;
}

/**
 * Escapes untrusted text for a message of SARIF 2.1.0: braces would be placeholders and are doubled (3.11.5),
 * brackets would be links and are escaped, as are backslashes (3.11.6). Text that JSON cannot hold (half a
 * surrogate pair) becomes U+FFFD, and empty text becomes `-`.
 */
function escapeSarifText(text: string): string {
  const literal = text.toWellFormed().replace(/[[\]\\]/g, '\\$&');
  const escaped = literal.replaceAll('{', '{{').replaceAll('}', '}}');
  return escaped.trim() === '' ? '-' : escaped;
}
