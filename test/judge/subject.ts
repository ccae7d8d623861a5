import type { Classification } from '../../src/domain/analysis.ts';
import type { SourceText } from '../../src/domain/build.ts';
import type { Evidence } from '../../src/domain/evidence.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import { composeAnswer } from '../../src/judge/answer.ts';
import { classifyByRules } from '../../src/judge/classify.ts';
import { listFailures } from '../../src/log/fingerprint/failures.ts';
import { readSources } from '../../src/log/read-sources.ts';
import type { Insight } from '../../src/ports/analyst.ts';

/** The subject a triage makes of one log (and a report), read by the real reader. */
export function createSubject(
  log: string,
  options: { report?: string; branch?: string } = {},
): TriageSubject {
  const sources: SourceText[] = [{ name: 'log.txt', kind: 'log', text: log, notes: [] }];
  if (options.report !== undefined)
    sources.push({ name: 'report.xml', kind: 'report', text: options.report, notes: [] });
  const reading = readSources(sources, { budgetTokens: 2000 });
  const {
    excerpts,
    failingTests,
    diagnostics,
    exceptions,
    messages,
    exits,
    failedSections,
    toolchains,
    notes,
    tokens,
    environment,
  } = reading;
  return {
    triageId: 'tri_1',
    build: buildOn(options.branch ?? null),
    failures: listFailures(reading).map((failure, index) => ({
      id: `fal_${index}`,
      buildId: 'bld_1',
      ...failure,
    })),
    fingerprint: reading.fingerprint,
    generic: reading.generic,
    excerpts,
    failingTests,
    diagnostics,
    exceptions,
    messages,
    ...(environment === undefined ? {} : { environment }),
    exits,
    failedSections,
    toolchains,
    notes,
    sources: reading.sources,
    tokens,
  };
}

/** The excerpts as the graph numbers them. */
export function logEvidence(subject: TriageSubject): Evidence[] {
  return subject.excerpts.map(({ reason, text, source, lineStart, lineEnd }, index) => ({
    id: `E${index + 1}`,
    tool: 'log',
    title: reason,
    text,
    source,
    lineStart,
    lineEnd,
  }));
}

export function classify(log: string, options: { report?: string; branch?: string } = {}): Classification {
  return classifyByRules(createSubject(log, options)).classification;
}

export function createInsight(log: string, more: Partial<Insight> = {}): Insight {
  const subject = more.subject ?? createSubject(log);
  return {
    subject,
    classification: classifyByRules(subject).classification,
    evidence: logEvidence(subject),
    outcomes: [],
    round: 1,
    gaps: [],
    ...more,
  };
}

function buildOn(branch: string | null): TriageSubject['build'] {
  return {
    id: 'bld_1',
    provider: 'upload',
    repository: 'orchard/scales',
    pipeline: 'ci',
    number: '7',
    attempt: 1,
    externalId: null,
    job: null,
    branch,
    commit: null,
    author: null,
    pullRequest: null,
    url: null,
    status: 'failed',
    startedAt: null,
    finishedAt: null,
    receivedAt: '2026-01-01T00:00:00.000Z',
  };
}

/** Answers a failed step of GitHub Actions that ran a command and printed some lines. */
export function answerOn(command: string, ...output: readonly string[]) {
  const lines = [
    `##[group]Run ${command}`,
    command,
    'shell: /usr/bin/bash -e {0}',
    '##[endgroup]',
    ...output,
  ];
  const log = lines.concat('##[error]Process completed with exit code 1.');
  return composeAnswer(createInsight(log.map((line) => `2026-05-04T10:00:00.0000000Z ${line}`).join('\n')));
}
