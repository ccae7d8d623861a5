import { z } from 'zod';
import {
  type Answer,
  type Claim,
  type Classification,
  Grade,
  type Quote,
  type Suspect,
} from '../../domain/analysis.ts';
import {
  CATEGORIES,
  Category,
  CategoryProbabilities,
  getKindRow,
  KINDS,
  Kind,
} from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import { type Evidence, holdsQuote, type ToolCall } from '../../domain/evidence.ts';
import { ALL_RULES } from '../../judge/rules/all.ts';
import { estimateTransient } from '../../judge/transient.ts';
import { cutAtWord, parseJson } from '../../lib/text.ts';
import { cleanLine, stripEscapes } from '../../log/lines/clean.ts';
import { shortenTitle } from '../../log/title.ts';
import type { Assessment, Insight, Plan } from '../../ports/analyst.ts';
import type { ToolDescription } from '../../ports/toolbox.ts';
import { keepFoundedAdvice } from './check-advice.ts';
import { showFacts } from './show-facts.ts';

/** The maximum confidence of a verdict that abstains. The prompt states the same limit. */
const ABSTAINED_MOST = 0.49;
const MAX_TEXT = 4_000;
const MAX_CLAIMS = 12;
const MAX_SUSPECTS = 8;
const MAX_HYPOTHESES = 6;
const MAX_GAPS = 8;
/** The confidence from which only gaps that block the answer justify another round. */
const SURE_ENOUGH = 0.85;

/**
 * Returns a classification with consistent numbers: the confidence never exceeds the probability of its
 * category.
 */
export function readClassification(reply: ClassifyReply): Classification {
  const raw = CATEGORIES.map((category) => [category, clamp(reply.probabilities[category])] as const);
  const sum = raw.reduce((total, [, value]) => total + value, 0);
  const share = (value: number) => (sum === 0 ? 1 / CATEGORIES.length : value / sum);
  const probabilities = CategoryProbabilities.parse(
    Object.fromEntries(raw.map(([category, value]) => [category, share(value)])),
  );
  const stated = Math.min(clamp(reply.confidence), probabilities[reply.category]);
  return {
    category: reply.category,
    kind: toPossibleKind(reply.category, reply.kind),
    confidence: reply.abstained ? Math.min(stated, ABSTAINED_MOST) : stated,
    probabilities,
    abstained: reply.abstained,
    because: shorten(reply.because, 500),
  };
}

/** Returns the kind, or `unknown` if it contradicts the category. */
function toPossibleKind(category: Category, kind: Kind): Kind {
  return isPossibleKind(category, kind) ? kind : 'unknown';
}

/**
 * Tells whether failures of the category can be of the kind: it usually belongs to the category, or some rule
 * finds both together.
 */
function isPossibleKind(category: Category, kind: Kind): boolean {
  return (
    getKindRow(kind).category === category ||
    ALL_RULES.some((rule) => rule.category === category && rule.kind === kind)
  );
}

/**
 * Creates a check that sends the first reply back whose kind contradicts its category. It throws
 * `invalid-input` once; if the next reply contradicts itself too, its kind becomes `unknown`.
 */
export function createKindCheck() {
  let isSentBack = false;
  return (stated: { readonly category: Category; readonly kind: Kind } | null): void => {
    if (stated === null || stated.kind === 'unknown' || isSentBack) return;
    const { category, kind } = stated;
    if (isPossibleKind(category, kind)) return;
    isSentBack = true;
    const kinds = KINDS.filter((other) => isPossibleKind(category, other));
    throw new TriageError(
      'invalid-input',
      `the kind ${kind} contradicts the category ${category}: give another category, or one of the kinds ` +
        `${[...kinds, 'unknown'].join(', ')}`,
    );
  };
}

function isSame(
  left: Pick<Classification, 'category' | 'kind'>,
  right: Pick<Classification, 'category' | 'kind'>,
): boolean {
  return left.category === right.category && left.kind === right.kind;
}

/**
 * Reads a plan. Another round follows only for a gap that an offered tool could close, and only if the gap
 * blocks the answer or the cause is uncertain. "stop" means that the available sources do not contain the
 * cause, so it also ends the search.
 */
export function readPlan(
  reply: ReasonReply,
  insight: Insight & { offered?: readonly ToolDescription[] },
  retrieval: number,
): Plan {
  const offered = new Set(insight.offered?.map(({ name }) => name));
  const gaps = reply.gaps.slice(0, MAX_GAPS).map(({ missing, tool, blocks }) => ({
    missing: shorten(missing, 300),
    tool: tool !== null && offered.has(tool) ? tool : null,
    blocks,
  }));
  const confidence = clamp(reply.confidence);
  const isUnsure = confidence < SURE_ENOUGH;
  const calls = reply.next === 'look' ? reply.calls?.map(readCall) : [];
  const isWorthwhile =
    gaps.length === 0 ? isUnsure : gaps.some(({ blocks, tool }) => (blocks || isUnsure) && tool !== null);
  const revised =
    reply.revised === null
      ? null
      : { ...reply.revised, kind: toPossibleKind(reply.revised.category, reply.revised.kind) };
  return {
    thought: shorten(reply.thought, 1_000),
    confidence,
    enough: insight.evidence.length > 0 && (calls?.length === 0 || !isWorthwhile),
    retrieval,
    gaps,
    ...(calls === undefined ? {} : { calls }),
    ...(revised === null || isSame(revised, insight.classification) ? {} : { revised }),
  };
}

/**
 * Reads a call whose arguments are a JSON object in a string. Throws `invalid-input` if the string is not
 * one.
 */
function readCall({ tool, args, why }: { tool: string; args: string; why: string }): ToolCall {
  const given = z.record(z.string(), z.unknown()).safeParse(parseJson(args.trim() === '' ? '{}' : args));
  if (!given.success)
    throw new TriageError('invalid-input', `the arguments of ${tool} are not a JSON object in a string`);
  const stated = Object.entries(given.data).filter(([, value]) => value !== null);
  return { tool, args: Object.fromEntries(stated), why };
}

/**
 * Returns an answer that refers only to known items. Unknown evidence ids, files, commits and authors are
 * removed.
 */
export function readAnswer(reply: AnswerReply, insight: Insight): Answer {
  const ids = new Set(insight.evidence.map((item) => item.id));
  const claims = reply.claims.slice(0, MAX_CLAIMS).map((claim): Claim => {
    const quotes = claim.quotes.map((quote) =>
      getLiteralQuote({ ...quote, line: toLineNumber(quote.line) ?? 1 }, insight.evidence),
    );
    const cited = [...new Set(claim.evidence)].filter((id) => ids.has(id));
    return { text: shorten(claim.text, 600), evidence: withQuoted(cited, quotes, insight.evidence), quotes };
  });
  return {
    title: shortenTitle(withoutAddresses(reply.title)) || 'The model gave no title',
    rootCause: withoutForeignAddresses(cutAtWord(reply.rootCause, MAX_TEXT), insight),
    fixRecommendation:
      keepFoundedAdvice(
        withoutForeignAddresses(cutAtWord(reply.fixRecommendation, MAX_TEXT), insight),
        joinSeen(insight),
      ) || NO_ADVICE,
    // The model is not asked for this estimate, because only the rules' estimate was measured.
    transient: estimateTransient(insight.subject, insight.evidence),
    confidence: clamp(reply.confidence),
    claims,
    suspects: listKnownSuspects(reply.suspects, insight),
    hypotheses: reply.hypotheses.slice(0, MAX_HYPOTHESES).map((hypothesis) => ({
      ...hypothesis,
      text: withoutAddresses(hypothesis.text),
      settledBy: withoutAddresses(hypothesis.settledBy),
    })),
  };
}

/** Returns an assessment that refers only to existing evidence and claims. */
export function readAssessment(
  reply: VerifyReply,
  insight: Insight & { answer: Answer; offered?: readonly ToolDescription[] },
): Assessment {
  const ids = new Set(insight.evidence.map((item) => item.id));
  const offered = new Set(insight.offered?.map(({ name }) => name));
  const gaps = reply.gaps.slice(0, MAX_GAPS).map(({ missing, tool }) => ({
    missing: shorten(missing, 300),
    isClosable: tool !== null && offered.has(tool),
  }));
  const grades = reply.grades
    .filter(({ evidence }) => ids.has(evidence))
    .map(({ evidence, grade }) => [evidence, grade] as const);
  return {
    grades: Object.fromEntries(grades),
    unsupportedClaims: insight.answer.claims
      .filter((_claim, index) => reply.unsupportedClaims.includes(`C${index + 1}`))
      .map(({ text }) => text),
    gaps: gaps.map(({ missing }) => missing),
    closable: gaps.filter(({ isClosable }) => isClosable).map(({ missing }) => missing),
    confidence: clamp(reply.confidence),
    against: [...new Set(reply.against)].filter((id) => ids.has(id)),
  };
}

/**
 * Adds to the cited evidence an item for each quotation that no cited item contains. The same line may occur
 * in several pieces of evidence.
 */
function withQuoted(
  cited: readonly string[],
  quotes: readonly Quote[],
  evidence: readonly Evidence[],
): string[] {
  const holders = quotes.flatMap((quote) => {
    const holding = evidence.filter((item) => holdsQuote(item, quote)).map(({ id }) => id);
    return holding.some((id) => cited.includes(id)) ? [] : holding.slice(0, 1);
  });
  return [...new Set([...cited, ...holders])];
}

/** The advice if no part of the model's advice is supported by the evidence. */
const NO_ADVICE = 'No fix found: what the model advised rests neither on the log nor on the code.';

/** Joins all texts that the model was shown. */
function joinSeen({ subject, evidence }: Insight): string {
  return [
    showFacts(subject),
    ...[...subject.exceptions, ...subject.failures].flatMap((thrown) =>
      thrown.frames.map((frame) => frame.file),
    ),
    ...evidence.flatMap(({ title, text, source }) => [title, text, source]),
  ].join('\n');
}

function listKnownSuspects(suspects: AnswerReply['suspects'], insight: Insight): Suspect[] {
  const seen = joinSeen(insight);
  const known = (value: string | null) =>
    value !== null && value !== '' && seen.includes(value) ? value : null;
  return suspects.slice(0, MAX_SUSPECTS).flatMap((suspect) => {
    if (known(suspect.path) === null) return [];
    const { path, reason } = suspect;
    return [
      {
        path,
        line: toLineNumber(suspect.line),
        commit: known(suspect.commit),
        author: known(suspect.author),
        score: clamp(suspect.score),
        reason: shorten(reason, 400),
      },
    ];
  });
}

/** Returns a 1-based line number, or null. */
function toLineNumber(value: number | null): number | null {
  if (value === null || !Number.isFinite(value)) return null;
  const line = Math.round(value);
  return line >= 1 && line <= Number.MAX_SAFE_INTEGER ? line : null;
}

function shorten(text: string, limit: number): string {
  return cutAtWord(withoutAddresses(text.replace(/\s+/g, ' ').trim()), limit);
}

/**
 * The replies that a model is asked for, with one schema per judgment. Every field is required and no value
 * is bounded, as OpenAI's strict schemas require. Numbers are limited and ids checked afterwards. Reasons
 * come before verdicts, so that the model reasons before it decides.
 */
export const ClassifyReply = z.object({
  because: z.string(),
  category: Category,
  kind: Kind,
  confidence: z.number(),
  probabilities: z.object({
    CODE_ERROR: z.number(),
    INFRA_ERROR: z.number(),
    CONFIG_ERROR: z.number(),
    DEPENDENCY_ERROR: z.number(),
    TEST_FAILURE: z.number(),
  } satisfies Record<(typeof CATEGORIES)[number], z.ZodNumber>),
  abstained: z.boolean(),
});
export type ClassifyReply = z.infer<typeof ClassifyReply>;

export const ReasonReply = z.object({
  thought: z.string(),
  gaps: z.array(z.object({ missing: z.string(), tool: z.string().nullable(), blocks: z.boolean() })),
  revised: z.object({ category: Category, kind: Kind }).nullable(),
  confidence: z.number(),
  next: z.enum(['look', 'answer', 'stop']),
  /** The questions to ask. If null or absent, a judgment of its own chooses them. */
  calls: z.array(z.object({ tool: z.string(), args: z.string(), why: z.string() })).nullish(),
});
export type ReasonReply = z.infer<typeof ReasonReply>;

export const CorrectReply = z.object({ why: z.string(), args: z.record(z.string(), z.unknown()).nullable() });

export const AnswerReply = z.object({
  title: z.string(),
  rootCause: z.string(),
  fixRecommendation: z.string(),
  claims: z.array(
    z.object({
      text: z.string(),
      evidence: z.array(z.string()),
      quotes: z.array(z.object({ source: z.string(), line: z.number(), text: z.string() })),
    }),
  ),
  suspects: z.array(
    z.object({
      path: z.string(),
      line: z.number().nullable(),
      commit: z.string().nullable(),
      author: z.string().nullable(),
      score: z.number(),
      reason: z.string(),
    }),
  ),
  hypotheses: z.array(z.object({ text: z.string(), category: Category, settledBy: z.string() })),
  confidence: z.number(),
});
export type AnswerReply = z.infer<typeof AnswerReply>;

export const VerifyReply = z.object({
  grades: z.array(z.object({ evidence: z.string(), grade: Grade })),
  unsupportedClaims: z.array(z.string()),
  gaps: z.array(z.object({ missing: z.string(), tool: z.string().nullable() })),
  against: z.array(z.string()),
  confidence: z.number(),
});
export type VerifyReply = z.infer<typeof VerifyReply>;

/** Limits a probability to 0..1. NaN becomes 0. */
function clamp(value: number): number {
  return Number.isNaN(value) ? 0 : Math.min(1, Math.max(0, value));
}

const SHORTEST = 4;

/**
 * Converts a quotation to the text that is stored. Models see log lines without color codes, but a quotation
 * must occur in the stored line, which has them. A correct quotation becomes its longest part without a color
 * code. Any other is unchanged, so that the graph can judge it.
 */
export function getLiteralQuote(quote: Quote, evidence: readonly Evidence[]): Quote {
  for (const item of evidence) {
    if (item.source !== quote.source || item.lineStart === undefined) continue;
    const raw = item.text.split('\n')[quote.line - item.lineStart];
    if (raw === undefined) continue;
    if (raw.includes(quote.text)) return quote;
    if (!cleanLine(stripEscapes(raw)).includes(quote.text)) continue;
    const part = getLongestPart(quote.text, raw);
    if (part.length >= SHORTEST) return { ...quote, text: part };
  }
  return quote;
}

/** Returns the longest part of the quotation that no control sequence interrupts. */
function getLongestPart(quoted: string, raw: string): string {
  const pieces = raw
    .split('\u001b')
    .map((piece, index) => (index === 0 ? piece : stripEscapes(`\u001b${piece}`)));
  const start = pieces.join('').indexOf(quoted);
  if (start < 0) return '';
  let at = 0;
  let longest = '';
  for (const piece of pieces) {
    const part = piece.slice(Math.max(0, start - at), Math.max(0, start + quoted.length - at)).trim();
    if (part.length > longest.length) longest = part;
    at += piece.length;
  }
  return longest;
}

/** The minimum length of a sentence of a prompt that counts as copied. A shorter one may occur by chance. */
const WHOLE_SENTENCE = 80;
/**
 * The minimum length of a text of an example that counts as copied. A shorter one ("states the version") may
 * be meant.
 */
const EXAMPLE = 30;
const ADDRESS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s<>"'`]{1,2000}/gi;

/**
 * Removes URLs from a model's text, except those that belong to the build: in a diff, URLs whose host occurs
 * in code that was read from the repository; in quotation marks, URLs that a failing test expected or
 * received. A URL in the log alone is removed, because anyone may have printed it there.
 */
function withoutForeignAddresses(text: string, { subject, evidence }: Insight): string {
  const printed = new Set(subject.sources.map(({ name }) => name));
  const code = evidence
    .filter(({ source, lineStart }) => lineStart !== undefined && !printed.has(source))
    .map((item) => item.text)
    .join('\n');
  const values = subject.failingTests
    .map(({ expected, actual }) => `${expected ?? ''}\n${actual ?? ''}`)
    .join('\n');
  return text
    .split(DIFF_BLOCK)
    .map((part, index) =>
      part.replace(ADDRESS, (address, at: number) => {
        const isQuoted = /["'`]/.test(part[at - 1] ?? '');
        const origin = /^[^/]+\/\/[^/]+/.exec(address)?.[0] ?? address;
        const isKnown = index % 2 === 1 ? code.includes(origin) : isQuoted && values.includes(address);
        return isKnown ? address : '[address left out]';
      }),
    )
    .join('');
}

/** A fenced diff. It is a capturing group, so that `split` keeps it. */
const DIFF_BLOCK = /(```diff\n[\s\S]{0,4000}?```)/;

/**
 * Removes all URLs from a model's text. The instructions forbid URLs, so each comes from text that was
 * injected.
 */
export function withoutAddresses(text: string): string {
  return text.replace(ADDRESS, '[address left out]');
}

/**
 * Returns the reply unchanged. Throws `invalid-input` if it contains a whole sentence of our instructions. No
 * honest answer about a build contains one, so the model was probably manipulated, and other parts of the
 * reply may be manipulated too.
 */
export function withoutRecital(reply: unknown, system: string): unknown {
  const instructions = splitSentences(system);
  const recited = listTextsIn(reply).some((text) => {
    const flatText = flatten(text);
    return flatText.length >= WHOLE_SENTENCE && instructions.some((sentence) => flatText.includes(sentence));
  });
  if (recited) throw new TriageError('invalid-input', 'it recites the instructions instead of answering');
  return reply;
}

/**
 * Returns the reply unchanged. Throws `invalid-input` if it repeats a text from the examples in the
 * instructions that does not occur in `page`, the data of this build. Small models sometimes copy the whole
 * example, including its confidence, instead of answering.
 */
export function withoutExamples(reply: unknown, system: string, page: string): unknown {
  const data = flatten(page);
  const examples = new Set(listExamplesIn(system).flatMap(listTextsIn).map(flatten));
  const copied = listTextsIn(reply)
    .map(flatten)
    .find((text) => text.length >= EXAMPLE && examples.has(text) && !data.includes(text));
  if (copied !== undefined)
    throw new TriageError('invalid-input', `"${copied}" is the example's; say what this build shows`);
  return reply;
}

/** Examples are written as JSON, each on its own line. */
function listExamplesIn(system: string): unknown[] {
  return system.split('\n').flatMap((line) => {
    const start = line.indexOf('{"');
    const example = start < 0 ? undefined : parseJson(line.slice(start));
    return example === undefined ? [] : [example];
  });
}

function splitSentences(system: string): string[] {
  const sentences = system.split('\n').flatMap((line) => flatten(line).split('. '));
  return sentences.filter((sentence) => sentence.length >= WHOLE_SENTENCE);
}

function listTextsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(listTextsIn);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTextsIn) : [];
}

function flatten(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
