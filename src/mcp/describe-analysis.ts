import { type Analysis, isJudged } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { confirmation, formOf, percent, sinceGreen } from '../publish/answer-facts.ts';
import { describeHypothesis, describeSuspect } from '../publish/render-plain.ts';
import { line, UNTRUSTED, untrusted } from './bounded-text.ts';
import { proofRows } from './proof-rows.ts';

const PROSE = 700;
const MAX_SUSPECTS = 4;
const MAX_TESTS = 6;
const MAX_LISTED = 6;

/** "shop/api ci #812 on main at a41f9c2". */
export function describeBuild(build: Pick<Build, 'repository' | 'pipeline' | 'number' | 'branch' | 'commit'>): string {
  const branch = build.branch === null ? '' : ` on ${build.branch}`;
  const commit = build.commit === null ? '' : ` at ${build.commit.slice(0, 7)}`;
  return line(`${build.repository} ${build.pipeline} #${build.number}${branch}${commit}`, 200);
}

/** How sure the answer is, in words that cannot be mistaken for more. */
export function describeStanding(analysis: Analysis): string {
  const known = confirmation(analysis);
  if (known !== null) return `known cause, ${line(known, 150)}`;
  const sure = percent(analysis.verdict.confidence);
  return formOf(analysis) === 'sure' ? `${sure} sure` : `not sure, only ${sure}: needs review`;
}

/** The answer in blocks, the most telling first: what it is, cause, fix, the lines that prove it, suspects, what else it may be. */
export function describeAnalysis(
  analysis: Analysis,
  about: { readonly build?: Build | null; readonly tests?: readonly string[] } = {},
): string[] {
  const { answer, kind } = analysis;
  return [
    isJudged(analysis) ? `${analysis.category} · ${kind} · ${describeStanding(analysis)}` : 'Not analyzed: needs review',
    ...(about.build == null ? [] : [`Build: ${describeBuild(about.build)} (${about.build.id})`]),
    `Title: ${line(answer.title, 200)}`,
    ...(answer.rootCause.trim() === answer.title.trim() ? [] : [`Cause: ${line(answer.rootCause, PROSE)}`]),
    `Fix: ${line(answer.fixRecommendation, PROSE)}`,
    ...proofBlock(analysis),
    ...listOf('Suspects', answer.suspects.map(describeSuspect), MAX_SUSPECTS),
    ...(formOf(analysis) === 'unsure' ? listOf('It may also be', answer.hypotheses.map(describeHypothesis), 3) : []),
    ...(formOf(analysis) === 'unsure' ? listOf('Needs review because', analysis.verdict.reasons, 3) : []),
    ...listOf('Failing tests', about.tests ?? [], MAX_TESTS),
    ...listOf('Notes', analysis.notes, 3),
    ...evidenceIndex(analysis),
  ];
}

function proofBlock(analysis: Analysis): string[] {
  const proof = proofRows(analysis);
  if (proof.length === 0) return [];
  const sources = [...new Set(proof.map(({ source }) => source))];
  const [only] = sources;
  const named = sources.length === 1 ? ` of ${line(only ?? '', 120)}` : '';
  const rows = proof.map(({ source, line: number, text }) => `${sources.length === 1 ? '' : `${source}:`}${number}  ${text}`);
  const since = sinceGreen(analysis);
  return [`Proof: lines${named}${since === null ? '' : `, new ${line(since, 120)}`}. ${UNTRUSTED}\n${untrusted(rows, 320)}`];
}

function evidenceIndex({ evidence: all, verdict }: Analysis): string[] {
  const evidence = all.filter(({ id }) => verdict.grades[id] !== 'irrelevant');
  const items = evidence.slice(0, MAX_LISTED).map(({ id, tool, title }) => `${id} ${tool}: ${line(title, 60)}`);
  const more = evidence.length > MAX_LISTED ? `; … ${evidence.length - MAX_LISTED} more` : '';
  return items.length === 0 ? [] : [`Evidence: ${items.join('; ')}${more}`];
}

function listOf(name: string, items: readonly string[], limit: number): string[] {
  if (items.length === 0) return [];
  const more = items.length > limit ? [`… ${items.length - limit} more`] : [];
  return [`${name}: ${[...items.slice(0, limit).map((item) => line(item, 220)), ...more].join('; ')}`];
}
