import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import type { Failure } from '../../domain/failure.ts';
import { answerView, moreFacts, proofLines } from '../../notifications/answer-view.ts';
import { type ArrangedAnswer, nameTests } from '../../notifications/build-answers.ts';
import { noticeLinks } from '../../notifications/notice-words.ts';
import { clip } from '../../notifications/visible-text.ts';

/** More of one build is left out: `extra.leftOut` says how many. */
const MAX_TESTS = 5_000;
const MAX_TEXT = 4_000;

/**
 * What failed, as a report in the Common Test Report Format 1.0.0: one failed test a failure, with the cause in `ai` and its category in `extra`. Failed tests only: what
 * passed is not in it, and its summary counts what is. Bounded; its texts are masked already.
 */
export function ctrfOf({ build, answers, failures, publicUrl }: Exported) {
  const shown = failures.slice(0, MAX_TESTS);
  const byFailure = new Map(answers.flatMap((answer) => answer.sample.map(({ id }) => [id, answer] as const)));
  const stop = millisecondsOf(build.finishedAt ?? build.receivedAt);
  return {
    reportFormat: 'CTRF',
    specVersion: '1.0.0',
    runId: build.id,
    timestamp: build.receivedAt,
    generatedBy: 'faultline',
    results: {
      tool: { name: 'faultline' },
      summary: {
        ...{ tests: shown.length, passed: 0, failed: shown.length, skipped: 0, pending: 0, other: 0 },
        ...{ start: build.startedAt === null ? stop : millisecondsOf(build.startedAt), stop },
      },
      tests: shown.map((failure) => testOf(failure, byFailure.get(failure.id), publicUrl)),
      environment: environmentOf(build),
      extra: { failedTestsOnly: true, leftOut: failures.length - shown.length },
    },
  };
}

function testOf({ test, message, excerpt, frames }: Failure, answer: ArrangedAnswer | undefined, publicUrl: string | null) {
  const place = test?.file ? { file: test.file, line: test.line } : frames.find(({ own }) => own);
  return {
    name: text(test?.name ?? message, 500) || 'failed step',
    status: 'failed',
    // Milliseconds: a failure does not keep them.
    duration: 0,
    ...(test?.suite ? { suite: [text(test.suite, 500)] } : {}),
    message: text(message),
    ...(excerpt === null ? {} : { trace: text(excerpt.text) }),
    ...(place === undefined ? {} : { filePath: text(place.file, 1_000) }),
    ...(place?.line ? { line: place.line } : {}),
    ...(answer === undefined ? { extra: {} } : explanationOf(answer, publicUrl)),
  };
}

function explanationOf(answer: ArrangedAnswer, publicUrl: string | null) {
  const { analysis } = answer;
  return {
    ai: text(messageOf(answer)),
    extra: {
      ...{ analysisId: analysis.id, ...propertiesOf(analysis) },
      ...(publicUrl === null ? {} : { url: noticeLinks(publicUrl).analysis(analysis.id) }),
    },
  };
}

function environmentOf(build: Build): Readonly<Record<string, string | number>> {
  const { pipeline, number, url, repository, commit, branch } = build;
  return {
    ...{ buildId: build.id, buildName: pipeline, repositoryName: repository },
    ...(/^\d{1,9}$/.test(number) ? { buildNumber: Number(number) } : {}),
    ...(url === null ? {} : { buildUrl: url }),
    ...(commit === null ? {} : { commit }),
    ...(branch === null ? {} : { branchName: branch }),
  };
}

function text(value: string, limit = MAX_TEXT): string {
  return clip(value, limit).toWellFormed();
}

function millisecondsOf(time: string): number {
  return Math.trunc(Date.parse(time));
}

/** What an export is made of: one build, its answers, and what of it failed. */
export interface Exported {
  readonly build: Build;
  /** In the order in which one would mend them. */
  readonly answers: readonly ArrangedAnswer[];
  readonly failures: readonly Failure[];
  /** Where people reach Faultline; null: no links. */
  readonly publicUrl: string | null;
}

/** More of one build is left out: the property `leftOut` says how many. */
const MAX_RESULTS = 1_000;
const MAX_RELATED = 20;
const MAX_NAMED = 50;
/** Versions of the fingerprint's meaning; see SARIF 2.1.0, 3.27.17. */
const FINGERPRINT = 'faultline/v1';
const ROOT = '%SRCROOT%';

/**
 * The answers as a SARIF 2.1.0 log, one result a cause: at the place of the first suspect, else of the failing test, with the lines that
 * prove it beside it. Sure answers are errors, what waits for a person is a warning. Bounded; its texts are masked already.
 */
export function sarifOf({ build, answers, publicUrl }: Exported) {
  const shown = answers.slice(0, MAX_RESULTS);
  const rules = [...new Set(shown.map(({ analysis }) => ruleOf(analysis)))];
  const address = repositoryAddress(build);
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'Faultline',
            semanticVersion: '0.1.0',
            rules: rules.map((id) => ({ id, shortDescription: { text: ruleText(id) } })),
          },
        },
        automationDetails: { id: `faultline/${build.repository}/${build.pipeline}/` },
        ...(address === null ? {} : { versionControlProvenance: [provenanceOf(build, address)] }),
        originalUriBaseIds: { [ROOT]: { description: { text: 'The root of the repository.' } } },
        columnKind: 'utf16CodeUnits',
        results: shown.map((answer) => resultOf(answer, rules.indexOf(ruleOf(answer.analysis)), publicUrl)),
        properties: {
          build: { id: build.id, provider: build.provider, repository: build.repository, pipeline: build.pipeline, number: build.number },
          leftOut: answers.length - shown.length,
        },
      },
    ],
  };
}

function resultOf(answer: ArrangedAnswer, ruleIndex: number, publicUrl: string | null) {
  const { analysis, sample, explains } = answer;
  const [place, ...others] = placesOf(analysis, sample);
  const { named: tests } = nameTests(explains, MAX_NAMED);
  return {
    ruleId: ruleOf(analysis),
    ruleIndex,
    level: answerView(analysis).form === 'unsure' ? 'warning' : 'error',
    message: { text: sarifText(clip(messageOf(answer), MAX_TEXT)) },
    locations: place === undefined ? [] : [place],
    relatedLocations: [...others, ...evidenceOf(analysis)].slice(0, MAX_RELATED).map((location, index) => ({ ...location, id: index + 1 })),
    partialFingerprints: { [FINGERPRINT]: analysis.fingerprint },
    ...(publicUrl === null ? {} : { hostedViewerUri: noticeLinks(publicUrl).analysis(analysis.id) }),
    properties: {
      ...{ analysisId: analysis.id, ...propertiesOf(analysis) },
      title: clip(analysis.answer.title, 500),
      failures: explains.failures,
      tests: tests.map((test) => clip(test, 300)),
      ...(explains.grouped === null ? {} : { grouped: clip(explains.grouped, 500) }),
    },
  };
}

function messageOf({ analysis, explains }: ArrangedAnswer): string {
  const { title, category, standing, facts } = answerView(analysis, undefined, explains);
  const texts = facts.filter(({ kind, reach }) => reach === 'everywhere' && kind !== 'lines');
  const said = texts.map(({ name, label, values }) => `${name === 'Cause' ? '' : `${label}: `}${values.join('; ')}`);
  return [`${title} (${category}, ${standing}).`, ...said].join('\n');
}

/** The answer in fields, for programs. */
function propertiesOf(analysis: Analysis) {
  const { kind, verdict, recalled } = analysis;
  const { confidence, action } = verdict;
  const confirmedBy = recalled?.confirmedBy ?? null;
  return { category: answerView(analysis).category, kind, action, confidence, confirmedBy, facts: moreFacts(analysis) };
}

/** Files of the repository that the answer suspects, most suspected first; without any, those of the failing tests. */
function placesOf({ answer }: Analysis, failures: readonly Failure[]) {
  const suspects = answer.suspects.flatMap(({ path, line, reason }) => placeOf(path, line, reason));
  if (suspects.length > 0) return suspects;
  return failures.flatMap(({ test }) => (test?.file ? placeOf(test.file, test.line, test.name) : []));
}

function placeOf(path: string, line: number | null, what: string) {
  const uri = repositoryPath(path);
  if (uri === null) return [];
  const region = { startLine: line ?? 1 };
  return [{ physicalLocation: { artifactLocation: { uri, uriBaseId: ROOT }, region }, message: { text: sarifText(clip(what, 500)) } }];
}

/** Lines of logs. A log is no file of the repository: its name is below a scheme of its own. */
function evidenceOf(analysis: Analysis) {
  return proofLines(analysis).map(({ source, line, text }) => ({
    physicalLocation: {
      artifactLocation: { uri: `log:${encodeURIComponent(clip(source, 300).toWellFormed())}` },
      region: { startLine: line, snippet: { text: text.toWellFormed() } },
    },
    message: { text: sarifText(`Line ${line} of the log`) },
  }));
}

function provenanceOf({ commit, branch }: Build, repositoryUri: string) {
  return { repositoryUri, ...(commit === null ? {} : { revisionId: commit }), ...(branch === null ? {} : { branch }) };
}

function ruleOf({ category, kind }: Analysis): string {
  return `${category}/${kind}`;
}

function ruleText(id: string): string {
  const [category = '', kind = ''] = id.split('/');
  return `${category.replaceAll('_', ' ').toLowerCase()}: ${kind.replaceAll('_', ' ')}`;
}

/** A path as a relative URI below the repository's root; null where it does not lie there (absolute, of a drive, or upwards). */
function repositoryPath(path: string): string | null {
  const parts = path.toWellFormed().replaceAll('\\', '/').replace(/^\.\//, '').split('/');
  const [first = ''] = parts;
  if (path === '' || path.length > 1_000 || first === '' || first.includes(':') || parts.includes('..')) return null;
  return parts.map(encodeURIComponent).join('/');
}

/** The repository's own address, where the build's contains it; null elsewhere. */
function repositoryAddress({ provider, url, repository }: Build): string | null {
  // What Jenkins built, or somebody uploaded, has the address of a job.
  if (provider === 'jenkins' || provider === 'upload' || url === null || !/^https?:\/\//.test(url) || !URL.canParse(url)) return null;
  const name = `/${repository.split('/').map(encodeURIComponent).join('/')}`;
  // A server may lie below a path of its host.
  const end = url.indexOf(`${name}/`);
  return `${end < 0 ? new URL(url).origin : url.slice(0, end)}${name}`;
}

/**
 * Foreign text as a message of SARIF 2.1.0: braces would be placeholders and are doubled (3.11.5), brackets would be links and are
 * escaped (3.11.6). What no JSON text may hold (half a surrogate pair) becomes U+FFFD.
 */
function sarifText(text: string): string {
  const literal = text.toWellFormed().replace(/[[\]\\]/g, '\\$&');
  const escaped = literal.replaceAll('{', '{{').replaceAll('}', '}}');
  return escaped.trim() === '' ? '-' : escaped;
}
