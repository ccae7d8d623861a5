import type { Evidence } from '../../domain/evidence.ts';
import type { Inquiry } from '../../ports/analyst.ts';
import { cited, foundBy, lineOf, record, type Said, titleOf, unanswered } from './statements.ts';

const MOST_LINES = 8;
const MOST_COMMITS = 3;

/** How it came to fail: what was before the build, then its log from top to bottom, then what that adds up to. */
export function tellJourney(input: Inquiry): Said[] {
  const { topic, evidence, outcomes } = input;
  const { answer } = topic.analysis;
  const commits = foundBy(evidence, 'read_commit_history').slice(0, MOST_COMMITS).reverse();
  return [
    ...foundBy(evidence, 'count_consecutive_failures').map((item) => cited(item.text, [item.id])),
    ...commits.map((item) => cited(`Just before: ${titleOf(item)}`, [item.id])),
    record(startOf(input)),
    ...inLogOrder(input).map((item) => lineOf(item, input)),
    cited(`Conclusion: ${answer.title}.`, answer.claims[0]?.evidence ?? []),
    ...unanswered(outcomes),
  ];
}

function startOf({ topic: { build } }: Inquiry): string {
  const at = build.startedAt === null ? '' : ` at ${build.startedAt.slice(0, 16).replace('T', ' ')} UTC`;
  const on = build.branch === null ? '' : ` on ${build.branch}`;
  const commit = build.commit === null ? '' : `, commit ${build.commit.slice(0, 10)}`;
  return `Build ${build.number} of ${build.pipeline} ran${at}${on}${commit}.`;
}

/** Evidence that stands in the build's own logs, by log and line; the same line is told once. */
function inLogOrder({ topic, evidence }: Inquiry): Evidence[] {
  const order = new Map(topic.subject.sources.map(({ name }, index) => [name, index]));
  const known = evidence.filter((item) => item.lineStart !== undefined && (order.has(item.source) || item.tool === 'log'));
  const seen = new Set<string>();
  return known
    .filter(({ source, lineStart }) => !seen.has(`${source}:${lineStart}`) && seen.add(`${source}:${lineStart}`) !== undefined)
    .sort((left, right) => (order.get(left.source) ?? 0) - (order.get(right.source) ?? 0) || (left.lineStart ?? 0) - (right.lineStart ?? 0))
    .slice(0, MOST_LINES);
}
