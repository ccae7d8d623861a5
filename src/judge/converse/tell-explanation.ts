import { asSentence } from '../../lib/text.ts';
import type { Inquiry } from '../../ports/analyst.ts';
import { cited, foundBy, isAnswered, lineOf, record, type Said, titleOf, unanswered } from './statements.ts';
import { type Aspect, aspectsOf } from './understand-question.ts';

const MOST = 5;

const TELL: Readonly<Record<Aspect, (input: Inquiry) => Said[]>> = {
  cause: tellCause,
  fix: tellFix,
  suspects: tellSuspects,
  certainty: tellCertainty,
  history: (input) => tellPast(input, 'read_failure_history', 'count_consecutive_failures'),
  similar: (input) => tellPast(input, 'find_similar_failures', 'read_failure_history', 'search_error_library'),
  green: tellGreen,
  lines: tellLines,
  tests: tellTests,
  category: tellCategory,
  cost: tellCost,
  others: tellOthers,
};

/** What the question names, out of the stored analysis and what was looked up; where it names nothing known, what can be told. */
export function tellExplanation(input: Inquiry): Said[] {
  const aspects = aspectsOf(input.question);
  const found = foundBy(input.found, 'grep_log', 'view_log');
  const shown = found.slice(0, MOST).map((item) => lineOf(item, input));
  const wanted = shown.length === 0 ? aspects : aspects.filter((aspect) => aspect !== 'lines');
  const told = wanted.flatMap((aspect) => TELL[aspect](input));
  const all = [...shown, ...told, ...unanswered(input.outcomes)];
  return all.length > 0 ? all : [...tellCause(input), record(LIMITS)];
}

const LIMITS =
  'I can explain the cause, the fix, the evidence, the suspects, how sure the analysis is, earlier and similar failures, what is new since the last green build, and how the failure happened. I cannot answer other questions, because no language model is configured.';

function tellCause({ topic }: Inquiry): Said[] {
  const { answer } = topic.analysis;
  const [main, ...rest] = answer.claims;
  const cause = cited(answer.rootCause, main?.evidence ?? []);
  const claims = rest.map((claim) => cited(claim.text, claim.evidence, claim.quotes));
  const open = answer.hypotheses.map(({ text, settledBy }) =>
    record(`Not ruled out: ${asSentence(text)}${settledBy === '' ? '' : ` To confirm: ${settledBy}`}`),
  );
  return [cause, ...claims.slice(0, MOST), ...open.slice(0, 2)];
}

function tellFix({ topic, evidence }: Inquiry): Said[] {
  const { answer } = topic.analysis;
  const documents = foundBy(evidence, 'search_knowledge').slice(0, 2);
  return [
    cited(answer.fixRecommendation, answer.claims[0]?.evidence ?? []),
    ...documents.map((item) => cited(`The knowledge base has: ${titleOf(item)}`, [item.id])),
  ];
}

function tellSuspects({ topic, evidence }: Inquiry): Said[] {
  const suspects = topic.analysis.answer.suspects.slice(0, MOST).map(({ path, line, commit, author, reason }) => {
    const who = [commit?.slice(0, 10), author].filter((part) => part != null).join(' by ');
    return record(`Suspect: ${path}${line === null ? '' : `:${line}`}${who === '' ? '' : `, last changed in ${who}`} (${reason}).`);
  });
  const commits = foundBy(evidence, 'read_blame', 'read_commit_history').slice(0, 3);
  const all = [...suspects, ...commits.map((item) => cited(titleOf(item), [item.id]))];
  return all.length > 0 ? all : [record('No file or commit is suspected, and the repository offers no clue to one.')];
}

function tellCertainty({ topic }: Inquiry): Said[] {
  const { verdict, classification } = topic.analysis;
  return [
    record(
      `The analysis is ${Math.round(verdict.confidence * 100)} % sure and chose ${verdict.action}: ${verdict.reasons.join('; ') || 'no reason is stored'}.`,
    ),
    ...(classification.abstained ? [record('The category is only its best guess.')] : []),
    ...verdict.gaps.slice(0, 3).map((gap) => record(`Missing: ${gap}`)),
    ...verdict.unsupportedClaims.slice(0, 2).map((claim) => record(`Dropped from the answer: ${claim}`)),
  ];
}

function tellPast({ evidence }: Inquiry, ...tools: readonly string[]): Said[] {
  const past = foundBy(evidence, ...tools).slice(0, MOST);
  const said = past.map((item) => cited(item.tool === 'count_consecutive_failures' ? item.text : `Earlier: ${titleOf(item)}`, [item.id]));
  return said.length > 0 ? said : [record('No similar earlier failure is known.')];
}

function tellGreen(input: Inquiry): Said[] {
  const fresh = foundBy(input.evidence, 'diff_with_green').slice(0, MOST);
  if (fresh.length === 0) return isAnswered(input, 'diff_with_green') ? [] : [record('No green build with a log to compare is known.')];
  return fresh.map((item) => lineOf(item, input));
}

function tellLines(input: Inquiry): Said[] {
  return foundBy(input.evidence, 'log')
    .slice(0, MOST)
    .map((item) => lineOf(item, input));
}

function tellTests({ topic }: Inquiry): Said[] {
  const tests = topic.subject.failingTests.slice(0, MOST);
  if (tests.length === 0) return [record('The logs name no failing test.')];
  return tests.map(({ name, suite, file, line, expected, actual }) => {
    const place = file === null ? '' : ` (${file}${line === null ? '' : `:${line}`})`;
    const values = expected === null || actual === null ? '' : `: expected ${expected}, got ${actual}`;
    return record(`Failed: ${suite === null ? '' : `${suite} › `}${name}${place}${values}.`);
  });
}

function tellCategory({ topic }: Inquiry): Said[] {
  const { category, kind, classification } = topic.analysis;
  const others = Object.entries(classification.probabilities).filter(([name, share]) => name !== category && share >= 0.05);
  const next = others.map(([name, share]) => `${name} ${Math.round(share * 100)} %`).join(', ');
  const share = Math.round(classification.probabilities[category] * 100);
  return [
    record(
      `It is ${category} (${kind}), ${share} % probable${next === '' ? '' : `; otherwise ${next}`}. Decided by: ${classification.because}.`,
    ),
  ];
}

function tellCost({ topic }: Inquiry): Said[] {
  const { usage, milliseconds, model, analyst } = topic.analysis;
  const tokens = usage.inputTokens + usage.outputTokens;
  const spent = tokens === 0 ? 'no tokens' : `${tokens} tokens, $${usage.costUsd.toFixed(4)}`;
  return [
    record(
      `It took ${(milliseconds / 1000).toFixed(1)} s, ${usage.iterations} rounds, ${usage.toolCalls} tool calls and ${spent}; answered by ${model ?? analyst}.`,
    ),
  ];
}

function tellOthers({ topic }: Inquiry): Said[] {
  if (topic.otherCauses.length === 0) return [record('No other cause of this build was analyzed.')];
  return topic.otherCauses.map(({ analysisId, category, title }) => record(`Also in this build: ${title} (${category}, ${analysisId}).`));
}
