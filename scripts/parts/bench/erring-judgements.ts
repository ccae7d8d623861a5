import { CATEGORIES, type Category, getKindRow, KINDS } from '../../../src/domain/category.ts';
import type { Judged } from './scripted-judgements.ts';
import type { ScriptedBody } from './scripted-model.ts';

/** The labels of the current failure. */
export interface Truth {
  readonly id: string;
  readonly category: Category;
  /** The numbers of the lines that state why it failed. */
  readonly telling: ReadonlySet<number>;
}

/**
 * Creates a model that errs in `share` of its judgments and is always certain. If it errs, it gives another
 * category, quotes a line that does not state the cause, and verifies its answer as proven. Otherwise it
 * gives the right category, quotes a labeled line, and verifies honestly. `seed` determines which judgments
 * err.
 */
export function createErringJudge(share: number, seed: number, ask: () => Truth) {
  let isAnswerRight = false;
  return (body: ScriptedBody): Judged => {
    const truth = ask();
    const name = body.response_format?.json_schema?.name ?? 'select-tool';
    const isWrong = toFraction(`${seed} ${truth.id} ${name}`) < share;
    const prompt = body.messages.map((message) => message.content ?? '').join('\n');
    if (name === 'classify') return toReply(classify(isWrong ? findOther(truth, seed) : truth.category));
    if (name === 'reason') return toReply(plan(isWrong ? findOther(truth, seed) : null));
    if (name === 'answer') {
      const reply = answer(prompt, truth, isWrong);
      isAnswerRight = reply.isRight;
      return toReply(reply.value);
    }
    if (name === 'verify') return toReply(verify(isWrong || isAnswerRight));
    return { text: '', calls: [] };
  };
}

function toReply(value: unknown): Judged {
  return { text: JSON.stringify(value), calls: [] };
}

/** Returns a number from 0 to 1 that depends only on the text. */
function toFraction(text: string): number {
  let hash = 2_166_136_261;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 2_246_822_507);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

function findOther({ id, category }: Truth, seed: number): Category {
  const others = CATEGORIES.filter((other) => other !== category);
  return others[Math.floor(toFraction(`${seed} ${id} other`) * others.length)] ?? category;
}

function classify(category: Category) {
  const others = Object.fromEntries(CATEGORIES.map((other) => [other, 0.01]));
  return {
    because: 'A line of the log says so.',
    category,
    kind: findKind(category),
    confidence: 0.96,
    probabilities: { ...others, [category]: 0.96 },
    abstained: false,
  };
}

function findKind(category: Category) {
  return KINDS.find((kind) => getKindRow(kind).category === category) ?? 'unknown';
}

function plan(other: Category | null) {
  const revised = other === null ? null : { category: other, kind: findKind(other) };
  return { thought: 'It is known.', gaps: [], revised, confidence: 0.95, next: 'answer', calls: [] };
}

/** Quotes a shown line: a labeled one, or another one if the answer is wrong. */
function answer(prompt: string, { telling }: Truth, isWrong: boolean) {
  const blocks = prompt.matchAll(
    /^(E\d+)\S*(?: lines? [\d-]+)?(?:, E\d+[^:\n]*)?: source (.+?), lines .*\n((?:\d+\| .*\n|…\n| {3}\[.*\n)+)/gm,
  );
  const lines = Array.from(blocks).flatMap(([, id = '', source = '', block = '']) =>
    Array.from(block.matchAll(/^(\d+)\| (.*\S.*)$/gm), ([, line, text]) => ({
      id,
      quote: { source, line: Number(line), text: text ?? '' },
    })),
  );
  const chosen = lines.find(({ quote }) => telling.has(quote.line) !== isWrong) ?? lines[0];
  const quotes = chosen === undefined ? [] : [chosen.quote];
  const text = isWrong ? 'The step fails for want of patience.' : 'The step stopped at the quoted error.';
  const value = {
    title: text,
    rootCause: `${text} (${chosen?.id ?? 'E1'})`,
    fixRecommendation: isWrong ? 'Wait, and run it again.' : 'Mend what the quoted line names.',
    claims: [{ text, evidence: [chosen?.id ?? 'E1'], quotes }],
    suspects: [],
    hypotheses: [],
    confidence: 0.95,
  };
  return { value, isRight: !isWrong && quotes.some(({ line }) => telling.has(line)) };
}

function verify(isAccepted: boolean) {
  const grades = Array.from({ length: 12 }, (_, i) => ({
    evidence: `E${i + 1}`,
    grade: isAccepted ? 'relevant' : 'irrelevant',
  }));
  return { grades, unsupportedClaims: [], gaps: [], against: [], confidence: isAccepted ? 0.97 : 0.3 };
}
