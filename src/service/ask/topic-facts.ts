import type { Analysis, Suspect } from '../../domain/analysis.ts';
import { shortenCommit } from '../../domain/build.ts';
import type { TopicFact } from '../../domain/conversation.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import type { Whose } from '../../domain/whose.ts';
import { toSentence } from '../../lib/text.ts';
import { type AnswerFact, answerView, formatPlace } from '../../notifications/answer-view.ts';
import { createWhoseLine, formatWhoseSentence } from '../../notifications/whose-line.ts';
import type { Topic } from '../../ports/analyst.ts';

/** Lists the facts of an answer that a conversation may state: those that its page shows. */
export function listTopicFacts(
  analysis: Analysis,
  failingTests: TriageSubject['failingTests'],
  otherCauses: Topic['otherCauses'],
  whose: Whose | null,
): TopicFact[] {
  const view = answerView(analysis);
  const [main, ...rest] = analysis.answer.claims;
  const proof = main?.evidence ?? [];
  const facts = view.facts.flatMap((fact) => toTopicFacts(fact, proof));
  const cause = facts.some(({ name }) => name === 'Cause')
    ? []
    : [toFact('Cause', analysis.answer.rootCause, proof)];
  return [
    ...(whose === null
      ? []
      : [toFact('Whose', `${createWhoseLine(whose).question} ${formatWhoseSentence(whose)}`)]),
    ...cause,
    ...facts,
    ...rest.map(({ text, evidence, quotes }) => ({ name: 'Claim', text, evidence, quotes })),
    toFact('Category', describeCategory(analysis)),
    toFact('Standing', `The analysis is ${view.standing}.`),
    ...failingTests.map((test) => toFact('FailingTest', describeTest(test))),
    toFact(
      'Usage',
      `${view.usage.slice(0, -1).join(' · ')}; answered by ${analysis.model ?? analysis.analyst}.`,
    ),
    ...otherCauses.map(({ title, category, analysisId }) =>
      toFact('Other', `Also in this build: ${title} (${category}, ${analysisId}).`),
    ),
  ];
}

function toFact(name: string, text: string, evidence: readonly string[] = []): TopicFact {
  return { name, text, evidence: [...evidence], quotes: [] };
}

/** Converts a fact as pages show it. Prose has no label; list items do. */
function toTopicFacts(fact: AnswerFact, proof: readonly string[]): TopicFact[] {
  const { name, label, values } = fact;
  if (fact.kind === 'files') return fact.files.map((suspect) => toFact(name, describeSuspect(suspect)));
  if (fact.kind === 'prose') return values.map((value) => toFact(name, value, proof));
  return values.map((value) => toFact(name, toSentence(`${label}: ${value}`)));
}

function describeSuspect(suspect: Suspect): string {
  const who = [suspect.commit && shortenCommit(suspect.commit), suspect.author].filter(
    (part) => part != null,
  );
  const changed = who.length === 0 ? '' : `, last changed in ${who.join(' by ')}`;
  return `Suspect: ${formatPlace(suspect)}${changed} (${suspect.reason}).`;
}

/** Describes the category and how probable the next ones are. */
function describeCategory({ category, kind, classification }: Analysis): string {
  const { probabilities, because, abstained } = classification;
  const toShare = (share: number) => `${Math.round(100 * share)} %`;
  const others = Object.entries(probabilities)
    .filter(([name, share]) => name !== category && share >= 0.05)
    .map(([name, share]) => `${name} ${toShare(share)}`);
  const otherwise = others.length === 0 ? '' : `; otherwise ${others.join(', ')}`;
  const guess = abstained ? ', its best guess' : '';
  return `It is ${category} (${kind})${guess}, ${toShare(probabilities[category])} probable${otherwise}. Decided by: ${because}.`;
}

function describeTest({
  name,
  suite,
  file,
  line,
  expected,
  actual,
}: TriageSubject['failingTests'][number]): string {
  const place = file === null ? '' : ` (${file}${line === null ? '' : `:${line}`})`;
  const values = expected === null || actual === null ? '' : `: expected ${expected}, got ${actual}`;
  return `Failed: ${suite === null ? '' : `${suite} › `}${name}${place}${values}.`;
}
