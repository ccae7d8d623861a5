import type { Evidence } from '../../domain/evidence.ts';
import type { Inquiry } from '../../ports/analyst.ts';
import { cited, foundBy, isAnswered, lineOf, quoted, record, type Said, titleOf, unanswered } from './statements.ts';
import { aspectsOf } from './understand-question.ts';

const MOST = 5;

/** This build against the last green one, and this failure against past ones: what is the same and what is not. */
export function tellComparison(input: Inquiry): Said[] {
  const aspects = aspectsOf(input.question);
  const green = aspects.includes('green');
  const past = aspects.includes('history') || aspects.includes('similar');
  const parts = [...(green || !past ? withGreen(input) : []), ...(past || !green ? withPast(input) : [])];
  return [...parts, ...unanswered(input.outcomes)];
}

function withGreen(input: Inquiry): Said[] {
  const { topic, evidence } = input;
  const since = topic.analysis.green ?? topic.subject.green;
  const fresh = foundBy(evidence, 'diff_with_green').slice(0, MOST);
  const head = since === undefined ? [] : [record(`The analysis compared this build with green build ${since.number}.`)];
  const lines = fresh.map((item) => ({ ...lineOf(item, input) })).map((said) => ({ ...said, text: `New since green: ${said.text}` }));
  const commits = foundBy(evidence, 'changed_since_green', 'read_commit_history').slice(0, MOST);
  return [
    ...foundBy(evidence, 'count_consecutive_failures').map((item) => cited(item.text, [item.id])),
    ...head,
    ...lines,
    ...(fresh.length === 0 && since === undefined && !isAnswered(input, 'diff_with_green')
      ? [record('No green build of this pipeline with a log to compare is known.')]
      : []),
    ...commits.map((item) => cited(`Changed: ${titleOf(item)}`, [item.id])),
  ];
}

function withPast(input: Inquiry): Said[] {
  const past = foundBy(input.evidence, 'read_failure_history', 'find_similar_failures', 'search_error_library').slice(0, MOST);
  if (past.length === 0) return [record('No similar earlier failure is known, so there is nothing to compare.')];
  const now = input.topic.subject.failures[0]?.message.split('\n')[0]?.trim() ?? '';
  return past.map((item) => against(item, now));
}

function against(item: Evidence, now: string): Said {
  const then = item.text.split('\n')[0]?.trim() ?? '';
  if (then === '' || now === '') return cited(`Earlier: ${titleOf(item)}`, [item.id]);
  if (squeeze(then) === squeeze(now)) return cited(`Earlier, with the same message: ${titleOf(item)}`, [item.id]);
  const quote = { source: item.source, line: item.lineStart ?? 1, text: then };
  return cited(`Earlier: ${titleOf(item)}. The log said ${quoted(then)} then and says ${quoted(now)} now`, [item.id], [quote]);
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ');
}
