import { z } from 'zod';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { mapInParallel } from '../lib/collections.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { ChatModel } from '../ports/chat-model.ts';
import { type Figure, type FigureSection, listIds, shareFigure } from './figures/figure.ts';
import { countPossiblePairs } from './figures/groups.ts';
import type { ReplayedCase } from './run/replay.ts';

export interface JudgeOptions {
  readonly chatModel: ChatModel;
  readonly prompt: JudgePrompt;
  /** The number of times that each case is judged. Repeats show how consistent the judge is. */
  readonly repeats: number;
  readonly concurrency: number;
  /** The time limit of one question with its retries, in milliseconds. */
  readonly timeoutMs: number;
  /** The cost in US dollars at which no further questions are asked. */
  readonly maxCostUsd?: number;
  readonly masker: Masker;
}

/**
 * The opinions on one case, one for each repeat. A failed question is "not judged" with its reason, and does
 * not affect the others.
 */
interface JudgedCase {
  readonly one: ReplayedCase;
  readonly opinions: readonly (Opinion | { readonly notJudged: string })[];
}

/**
 * The usage and its cost. `costKnown` is false if no price is known for the model, so that the cost is too
 * low.
 */
interface Bill extends z.infer<typeof Usage> {
  costKnown: boolean;
}

const Usage = z.object({ inputTokens: z.number(), outputTokens: z.number(), costUsd: z.number() });

/**
 * Asks a model whether each explanation means the same as its label, for the cases with a label in words and
 * an answer, in their order. Its opinions are separate from all deterministic figures, and no gate may use
 * them. Throws only if `signal` aborts.
 */
export async function judgeCases(cases: readonly ReplayedCase[], options: JudgeOptions, signal: AbortSignal) {
  const bill: Bill = { inputTokens: 0, outputTokens: 0, costUsd: 0, costKnown: true };
  const judge = async (replayedCase: ReplayedCase): Promise<JudgedCase> => ({
    one: replayedCase,
    opinions: await askOpinions(replayedCase, options, bill, signal),
  });
  const judged = await mapInParallel(cases.filter(isJudgeable), options.concurrency, judge);
  return { model: options.chatModel.name, promptHash: options.prompt.hash, cases: judged, ...bill };
}

async function askOpinions(
  replayedCase: ReplayedCase,
  options: JudgeOptions,
  bill: Bill,
  signal: AbortSignal,
): Promise<JudgedCase['opinions']> {
  const answer = await prepareForJudge(replayedCase, options.masker);
  const opinions: JudgedCase['opinions'][number][] = [];
  for (let repeat = 0; repeat < options.repeats; repeat++) {
    signal.throwIfAborted();
    if (bill.costUsd >= (options.maxCostUsd ?? Number.POSITIVE_INFINITY))
      opinions.push({ notJudged: 'the cost limit is reached' });
    else opinions.push(await askOnce(answer, options, bill, signal));
  }
  return opinions;
}

async function askOnce(
  answer: { readonly label: string; readonly answer: string },
  { chatModel, prompt, timeoutMs }: JudgeOptions,
  bill: Bill,
  signal: AbortSignal,
): Promise<Opinion | { readonly notJudged: string }> {
  const { $schema: _version, ...schema } = z.toJSONSchema(Opinion, { io: 'input' });
  const request = {
    ...prompt.render(answer),
    name: 'replay-judge',
    schema,
    parse: (reply: unknown) => Opinion.parse(reply),
  };
  try {
    const reply = await chatModel.ask(request, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    addTo(bill, reply);
    bill.costKnown &&= reply.costKnown !== false;
    return reply.value;
  } catch (error) {
    signal.throwIfAborted();
    const usage = error instanceof TriageError ? Usage.safeParse(error.details.usage) : null;
    if (usage?.success === true) addTo(bill, usage.data);
    return { notJudged: getErrorMessage(error) };
  }
}

function addTo(bill: Bill, { inputTokens, outputTokens, costUsd }: z.infer<typeof Usage>): void {
  bill.inputTokens += inputTokens;
  bill.outputTokens += outputTokens;
  bill.costUsd += costUsd;
}

/** The model's opinion on one explanation compared with its label. */
const Opinion = z.object({
  cause: z.enum(['same', 'partly', 'different']),
  /** The agreement of the fix; "unknown" if no fix is labeled. */
  fix: z.enum(['same', 'partly', 'different', 'unknown']),
  /** One sentence. A model wrote it, so it is untrusted. */
  because: z.string().transform((text) => text.slice(0, MAX_BECAUSE)),
});
type Opinion = z.infer<typeof Opinion>;

/** The prompt of the judge, which the caller opens. `hash` identifies its text. */
interface JudgePrompt {
  readonly hash: string;
  /** Renders the prompt. Both values are untrusted and must be fenced. */
  render(values: { readonly label: string; readonly answer: string }): {
    readonly system: string;
    readonly user: string;
  };
}

/** The prompt of the judge, and the maximum number of characters of each variable. */
export const JUDGE = { prompt: 'replay/judge', budget: { label: 4_000, answer: 6_000 } } as const;

const MAX_BECAUSE = 500;

/** Checks whether there is something to compare: a labeled cause or fix in words, and an answer. */
function isJudgeable({ row, result }: ReplayedCase): boolean {
  return (
    [row?.root_cause, row?.fix].some((text) => text != null && text.trim() !== '') && result.action !== null
  );
}

/**
 * Returns the label and the answer for the judge: masked, and cut to the prompt's limits. The judge does not
 * see logs.
 */
async function prepareForJudge(
  { row, result }: ReplayedCase,
  masker: Masker,
): Promise<{ label: string; answer: string }> {
  const label = joinTexts({ 'Root cause': row?.root_cause, Fix: row?.fix });
  const answer = joinTexts({ 'Root cause': result.rootCause, Advice: result.fixRecommendation });
  const [first, second] = await masker.maskAll([label, answer]);
  return {
    label: (first?.text ?? '').slice(0, JUDGE.budget.label),
    answer: (second?.text ?? '').slice(0, JUDGE.budget.answer),
  };
}

function joinTexts(parts: Readonly<Record<string, string | null | undefined>>): string {
  const sections = Object.entries(parts).map(([heading, text]) => [heading, text?.trim() ?? '']);
  return sections.flatMap(([heading, text]) => (text === '' ? [] : `${heading}: ${text}`)).join('\n');
}

interface Heard {
  readonly one: JudgedCase['one'];
  readonly opinions: readonly Opinion[];
}

/**
 * Scores the opinions of the judge in a separate section, in which every figure is marked `judged`. A case
 * counts by its most frequent opinion, or by the worse one of equally frequent opinions.
 */
export function scoreJudge(report: Awaited<ReturnType<typeof judgeCases>>): FigureSection {
  const heard = report.cases.map(
    ({ one, opinions }): Heard => ({ one, opinions: opinions.filter(isOpinion) }),
  );
  const judged = heard.filter(({ opinions }) => opinions.length > 0);
  const mute = heard.filter(({ opinions }) => opinions.length === 0);
  const withFix = judged.filter(({ opinions }) => pickVerdict(opinions, 'fix') !== 'unknown');
  const figures: Figure[] = [
    shareFigure('judge: not judged', mute.length, heard.length, listIds(mute)),
    ...listVerdictShares(judged, 'cause'),
    ...listVerdictShares(withFix, 'fix'),
    ...computeAgreement(judged),
    { name: 'judge: input tokens', value: report.inputTokens, cases: heard.length, unit: 'count' },
    { name: 'judge: output tokens', value: report.outputTokens, cases: heard.length, unit: 'count' },
    ...(report.costKnown
      ? [{ name: 'judge: dollars', value: report.costUsd, cases: heard.length, unit: 'dollars' as const }]
      : []),
  ];
  const title =
    `a language model's opinion (${report.model}, prompt ${report.promptHash}): ` +
    'not measured, never gated';
  return { title, figures: figures.map((figure) => ({ ...figure, judged: true })) };
}

function listVerdictShares(judged: readonly Heard[], part: Part): Figure[] {
  if (judged.length === 0) return [];
  return ['same', 'partly', 'different'].map((verdict) => {
    const agreeing = judged.filter(({ opinions }) => pickVerdict(opinions, part) === verdict);
    return shareFigure(
      `judge: ${part} ${verdict}`,
      agreeing.length,
      judged.length,
      verdict === 'same' ? [] : listIds(agreeing),
    );
  });
}

/**
 * Computes how many of all pairs of opinions on one case agree about the cause. Cases that were judged once
 * have no pair.
 */
function computeAgreement(judged: readonly Heard[]): Figure[] {
  let [agreed, pairs] = [0, 0];
  const torn: Heard[] = [];
  for (const entry of judged) {
    const causes = entry.opinions.map(({ cause }) => cause);
    const mostFrequent = [...Map.groupBy(causes, (cause) => cause).values()].reduce(
      (total, same) => total + countPossiblePairs(same.length),
      0,
    );
    if (mostFrequent < countPossiblePairs(causes.length)) torn.push(entry);
    agreed += mostFrequent;
    pairs += countPossiblePairs(causes.length);
  }
  if (pairs === 0) return [];
  const cases = judged.filter(({ opinions }) => opinions.length > 1).length;
  const against = torn.length === 0 ? {} : { against: listIds(torn) };
  return [{ name: 'judge: agreement with itself on the cause', value: agreed / pairs, cases, ...against }];
}

type Part = 'cause' | 'fix';

/** The opinions, worst first, so that the worst one wins a tie. */
const ORDER = ['different', 'partly', 'same', 'unknown'];

function pickVerdict(opinions: readonly Opinion[], part: Part): string {
  const counts = ORDER.map((verdict) => ({
    verdict,
    count: opinions.filter((opinion) => opinion[part] === verdict).length,
  }));
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).verdict;
}

function isOpinion(opinion: JudgedCase['opinions'][number]): opinion is Opinion {
  return !('notJudged' in opinion);
}
