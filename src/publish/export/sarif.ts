import { type Analysis, saidCategory } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import type { Failure } from '../../domain/failure.ts';
import { confirmation, formOf, percent, proofLines } from '../answer-facts.ts';
import { clip } from '../visible-text.ts';
import { repositoryAddress, repositoryPath, type SarifLog, type SarifResult } from './sarif-shape.ts';
import { sarifText } from './sarif-text.ts';

/** What an export is made of: one build, its answers, and what of it failed. */
export interface Exported {
  readonly build: Build;
  readonly analyses: readonly Analysis[];
  readonly failures: readonly Failure[];
  /** Where people reach Faultline; null: no links. */
  readonly publicUrl: string | null;
}

/** More of one build is left out: the property `leftOut` says how many. */
const MAX_RESULTS = 1_000;
const MAX_RELATED = 20;
const MAX_TEXT = 4_000;
/** Versions of the fingerprint's meaning; see SARIF 2.1.0, 3.27.17. */
const FINGERPRINT = 'faultline/v1';
const ROOT = '%SRCROOT%';

/**
 * The answers as a SARIF 2.1.0 log, one result a cause: at the place of the first suspect, else of the failing test, with the lines that
 * prove it beside it. Sure answers are errors, what waits for a person is a warning. Bounded; its texts are masked already.
 */
export function sarifOf({ build, analyses, failures, publicUrl }: Exported): SarifLog {
  const shown = analyses.slice(0, MAX_RESULTS);
  const rules = [...new Set(shown.map(ruleOf))];
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
        results: shown.map((analysis) => resultOf(analysis, failures, rules.indexOf(ruleOf(analysis)), publicUrl)),
        properties: {
          build: { id: build.id, provider: build.provider, repository: build.repository, pipeline: build.pipeline, number: build.number },
          leftOut: analyses.length - shown.length,
        },
      },
    ],
  };
}

function resultOf(analysis: Analysis, failures: readonly Failure[], ruleIndex: number, publicUrl: string | null): SarifResult {
  const { answer, verdict } = analysis;
  const own = failures.filter(({ id }) => analysis.failureIds.includes(id));
  const [place, ...others] = placesOf(analysis, own);
  const tests = own.flatMap(({ test }) => (test === null ? [] : [clip(test.name, 300)]));
  return {
    ruleId: ruleOf(analysis),
    ruleIndex,
    level: formOf(analysis) === 'unsure' ? 'warning' : 'error',
    message: { text: sarifText(clip(messageOf(analysis), MAX_TEXT)) },
    locations: place === undefined ? [] : [place],
    relatedLocations: [...others, ...evidenceOf(analysis)].slice(0, MAX_RELATED).map((location, index) => ({ ...location, id: index + 1 })),
    partialFingerprints: { [FINGERPRINT]: analysis.fingerprint },
    ...(publicUrl === null ? {} : { hostedViewerUri: `${publicUrl.replace(/\/$/, '')}/analyses/${encodeURIComponent(analysis.id)}` }),
    properties: {
      ...{ analysisId: analysis.id, category: saidCategory(analysis), kind: analysis.kind, action: verdict.action },
      confidence: verdict.confidence,
      confirmedBy: analysis.recalled?.confirmedBy ?? null,
      title: clip(answer.title, 500),
      failures: analysis.failureIds.length,
      tests: tests.slice(0, 50),
    },
  };
}

function messageOf(analysis: Analysis): string {
  const { answer, verdict } = analysis;
  const sure = confirmation(analysis) ?? `${percent(verdict.confidence)} sure`;
  const fix = answer.fixRecommendation.trim() === '' ? '' : `\nFix: ${answer.fixRecommendation}`;
  return `${answer.title} (${saidCategory(analysis)}, ${sure}).\n${answer.rootCause}${fix}`;
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

/** Lines of logs. A log is no file of the repository: its name stands below a scheme of its own. */
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
