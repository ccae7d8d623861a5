import { z } from 'zod';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { createMasker, type Masker } from '../../log/mask/mask.ts';
import type { ChatModel } from '../../ports/chat-model.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { isJudgeable, type JudgePrompt, Opinion, shownToJudge } from './opinion.ts';

export interface JudgeOptions {
  readonly chatModel: ChatModel;
  readonly prompt: JudgePrompt;
  /** How often each case is put to the judge; several times show how far it agrees with itself. 1 where it is left out. */
  readonly repeats?: number;
  /** Questions at once. */
  readonly concurrency?: number;
  /** Of one question with its retries, in milliseconds. */
  readonly timeoutMs?: number;
  /** No further question is put once so much is spent, in US dollars. */
  readonly maxCostUsd?: number;
  /** Hides secrets in what is shown to the judge. */
  readonly masker?: Masker;
  readonly onJudged?: (done: JudgedCase) => void;
}

/** What was said of one case, a line a repeat; a question that failed is "not judged" with its reason, and never stops the rest. */
export interface JudgedCase {
  readonly one: ReplayedCase;
  readonly opinions: readonly (Opinion | { readonly notJudged: string })[];
}

/** What a model said of the explanations. It is apart from every deterministic figure, and no gate may rest on it. */
export interface JudgeReport {
  readonly model: string;
  readonly promptHash: string;
  /** In the order of the cases. */
  readonly cases: readonly JudgedCase[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  /** False where no price is known for the model: the dollars are then too few. */
  readonly costKnown: boolean;
}

interface Bill {
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  costKnown: boolean;
}

const CONCURRENCY = 4;
const TIMEOUT_MS = 60_000;
const Usage = z.object({ inputTokens: z.number(), outputTokens: z.number(), costUsd: z.number() });

/** Asks a model whether each explanation means what its label says, for the cases that have a label in words and an answer. Throws only where `signal` ends it. */
export async function judgeCases(cases: readonly ReplayedCase[], options: JudgeOptions, signal: AbortSignal): Promise<JudgeReport> {
  const asked = cases.filter(isJudgeable);
  const judged: JudgedCase[] = [];
  const bill: Bill = { inputTokens: 0, outputTokens: 0, costUsd: 0, costKnown: true };
  const queue = asked.entries();
  const worker = async () => {
    for (const [at, one] of queue) {
      judged[at] = { one, opinions: await opinionsOf(one, options, bill, signal) };
      options.onJudged?.(judged[at]);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, options.concurrency ?? CONCURRENCY) }, worker));
  return { model: options.chatModel.name, promptHash: options.prompt.hash, cases: judged, ...bill };
}

async function opinionsOf(one: ReplayedCase, options: JudgeOptions, bill: Bill, signal: AbortSignal): Promise<JudgedCase['opinions']> {
  const shown = await shownToJudge(one, options.masker ?? createMasker());
  const opinions: JudgedCase['opinions'][number][] = [];
  for (let repeat = 0; repeat < (options.repeats ?? 1); repeat++) {
    signal.throwIfAborted();
    if (bill.costUsd >= (options.maxCostUsd ?? Number.POSITIVE_INFINITY)) opinions.push({ notJudged: 'the cost limit is reached' });
    else opinions.push(await askOnce(shown, options, bill, signal));
  }
  return opinions;
}

async function askOnce(
  shown: { readonly label: string; readonly answer: string },
  { chatModel, prompt, timeoutMs }: JudgeOptions,
  bill: Bill,
  signal: AbortSignal,
): Promise<Opinion | { readonly notJudged: string }> {
  const { $schema: _version, ...schema } = z.toJSONSchema(Opinion, { io: 'input' });
  const request = { ...prompt.render(shown), name: 'replay-judge', schema, parse: (reply: unknown) => Opinion.parse(reply) };
  try {
    const reply = await chatModel.ask(request, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs ?? TIMEOUT_MS)]));
    addTo(bill, reply);
    bill.costKnown &&= reply.costKnown !== false;
    return reply.value;
  } catch (error) {
    signal.throwIfAborted();
    const usage = error instanceof TriageError ? Usage.safeParse(error.details.usage) : null;
    if (usage?.success === true) addTo(bill, usage.data);
    return { notJudged: messageOf(error) };
  }
}

function addTo(bill: Bill, { inputTokens, outputTokens, costUsd }: z.infer<typeof Usage>): void {
  bill.inputTokens += inputTokens;
  bill.outputTokens += outputTokens;
  bill.costUsd += costUsd;
}
