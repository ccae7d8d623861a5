import { type Grade, isNotDevelopersFault, type ModelUsage } from '../../domain/analysis.ts';
import { TriageError } from '../../domain/errors.ts';
import type { ToolCall } from '../../domain/evidence.ts';
import { CircuitOpenError, createBreaker, getRetryAfter } from '../../lib/resilience.ts';
import type {
  Analyst,
  Assessment,
  Converse,
  Insight,
  Judgment,
  PlaceTopic,
  TextPiece,
} from '../../ports/analyst.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { addUsage, readUsage } from './ask-model.ts';

export interface FallbackOptions {
  /**
   * The analyst that plans and chooses tools in the first round. The primary if absent. In that round, an
   * analyst knows no more than `classify` did, and the first questions depend on the category. The fallback
   * can therefore choose them without the cost of a model.
   */
  readonly firstRound?: 'primary' | 'fallback';
}

/**
 * Combines the primary analyst with a fallback that takes over each judgment that fails. The note of the
 * judgment reports the takeover in one sentence. An error is thrown only if the run itself ends. If the
 * server rejects the key, the quota is used up, or the primary fails twice in a row, the primary is paused.
 *
 * The fallback is also consulted when the primary succeeds. Evidence for "not your fault" gets the lower of
 * the two relevance grades, and tools that always run are called in the first round even if the primary omits
 * them.
 */
export function withFallback(
  primary: Analyst,
  fallback: Analyst,
  logger: Logger,
  options: FallbackOptions = {},
): Analyst {
  const judge = createFallbackJudge(primary, fallback, logger);
  const isFirst = ({ round, gaps, outcomes }: Insight) =>
    options.firstRound === 'fallback' && round === 1 && gaps.length === 0 && outcomes.length === 0;

  return {
    name: primary.name,
    classify: (input, signal) => judge('classify', signal, (analyst) => analyst.classify(input, signal)),
    plan: async (input, signal) =>
      isFirst(input)
        ? fallback.plan(input, signal)
        : judge('plan', signal, (analyst) => analyst.plan(input, signal)),
    chooseTools: async (input, signal) => {
      if (isFirst(input)) return fallback.chooseTools(input, signal);
      const chosen = await judge('chooseTools', signal, (analyst) => analyst.chooseTools(input, signal));
      const due = input.offered.filter(
        (tool) =>
          tool.always && !wasAsked(tool.name, [...chosen.value, ...input.outcomes.map(({ call }) => call)]),
      );
      if (due.length === 0) return chosen;
      const names = new Set(due.map((tool) => tool.name));
      const other = await fallback.chooseTools(input, signal);
      return { ...chosen, value: [...other.value.filter((call) => names.has(call.tool)), ...chosen.value] };
    },
    correctCall: (input, signal) =>
      judge('correctCall', signal, (analyst) => analyst.correctCall(input, signal)),
    answer: (input, signal) => judge('answer', signal, (analyst) => analyst.answer(input, signal)),
    converse: converseWithFallback(judge),
    verify: async (input, signal) => {
      const first = await judge('verify', signal, (analyst) => analyst.verify(input, signal));
      const isOwn = first.by !== fallback.name;
      if (isOwn && !isNotDevelopersFault(input.classification)) return first;
      const second = await askSecondOpinion(fallback, input, signal, logger);
      if (isOwn) return { ...first, value: chooseMoreDoubtful(first.value, second) };
      // The category may be the primary's, so the confidence is limited to the fallback's own confidence in
      // that category.
      const confidence = Math.min(first.value.confidence, second?.confidence ?? 0);
      return { ...first, value: { ...first.value, confidence } };
    },
  };
}

const DOUBT: Readonly<Record<Grade, number>> = { relevant: 0, ambiguous: 1, irrelevant: 2 };

/**
 * Returns the model's assessment with the lower of the two grades for each item, and with the evidence that
 * either analyst counts against the answer. Without a second assessment, nothing counts as relevant.
 */
function chooseMoreDoubtful(model: Assessment, second: Assessment | null): Assessment {
  const grades = Object.entries(model.grades).map(([id, grade]): [string, Grade] => {
    const other = second === null ? 'ambiguous' : (second.grades[id] ?? grade);
    return [id, DOUBT[other] > DOUBT[grade] ? other : grade];
  });
  return {
    ...model,
    grades: Object.fromEntries(grades),
    against: [...new Set([...model.against, ...(second?.against ?? [])])],
  };
}

/**
 * Returns the fallback's assessment. It is based on the fallback's own probability of the category, not on
 * the confidence of the primary.
 */
async function askSecondOpinion(
  analyst: Analyst,
  input: Parameters<Analyst['verify']>[0],
  signal: AbortSignal,
  logger: Logger,
): Promise<Assessment | null> {
  try {
    const { probabilities } = (await analyst.classify({ subject: input.subject }, signal)).value;
    const { category } = input.classification;
    const classification = { ...input.classification, probabilities, confidence: probabilities[category] };
    return (await analyst.verify({ ...input, classification }, signal)).value;
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn({ error }, 'no second opinion was available');
    return null;
  }
}

function wasAsked(tool: string, calls: readonly ToolCall[]): boolean {
  return calls.some((call) => call.tool === tool);
}

/** Returns the fallback's judgment with the reason for the takeover and the cost of the failed attempt. */
function takeOver<Value>(
  judgment: Judgment<Value>,
  note: string,
  lost: ModelUsage | null = null,
): Judgment<Value> {
  return { ...judgment, note, usage: addUsage(judgment.usage, lost) ?? judgment.usage };
}

/** Errors of the model are sentences for people. Messages of other errors are internal and not shown. */
function describeError(error: unknown): string {
  return error instanceof TriageError
    ? error.message.replace(/\s+/g, ' ').slice(0, 300)
    : 'The model could not be used because of a fault in Faultline';
}

type Judge<Party> = <Value>(
  name: string,
  signal: AbortSignal,
  ask: (party: Party) => Promise<Judgment<Value>>,
) => Promise<Judgment<Value>>;

/**
 * Creates a function that asks the primary, or the fallback if the primary fails or is paused. The function
 * throws only if the run ends.
 */
function createFallbackJudge<Party extends { readonly name: string }>(
  primary: Party,
  fallback: Party,
  logger: Logger,
): Judge<Party> {
  const circuit = createBreaker({ opensAt: FAILURES_IN_A_ROW, weigh: weighFailure, restMs: computeRest });
  return async (name, signal, ask) => {
    try {
      // While one question tests whether the model works again, the others do not wait for its answer.
      if (circuit.state() === 'half-open') throw new CircuitOpenError(null);
      return await circuit.run(() => ask(primary));
    } catch (error) {
      if (signal.aborted) throw error;
      // The text is the same each time, so that the analysis shows it once for all its judgments.
      if (error instanceof CircuitOpenError) {
        const reason = describeError(circuit.lastFailure());
        return takeOver(
          await ask(fallback),
          `The model is paused for a while: ${reason}; the ${fallback.name} were used.`,
        );
      }
      logger.warn({ judgement: name, error }, 'the analyst failed and the fallback decided');
      return takeOver(
        await ask(fallback),
        `${describeError(error)}; the ${fallback.name} were used for the step "${name}".`,
        readUsage(error),
      );
    }
  };
}

/**
 * Returns a conversation in which the fallback takes over each judgment that fails. Text that the primary
 * streamed before the failure is withdrawn.
 */
function converseWithFallback<About>(
  judge: Judge<{ readonly name: string; readonly converse: Converse<About> }>,
): Converse<About> {
  return {
    understand: (input, signal) =>
      judge('understand', signal, ({ converse }) => converse.understand(input, signal)),
    chooseTools: (input, signal) =>
      judge('chooseTools', signal, ({ converse }) => converse.chooseTools(input, signal)),
    reply: (input, signal) => {
      let isBegun = false;
      return judge('reply', signal, ({ converse }) => {
        let first = isBegun;
        const onText = (piece: TextPiece) => {
          input.onText(first ? { ...piece, restart: true } : piece);
          first = false;
          isBegun = true;
        };
        return converse.reply({ ...input, onText }, signal);
      });
    },
  };
}

/** Combines two conversations about a place. The fallback takes over each judgment that fails. */
export function withExploreFallback(
  primary: Converse<PlaceTopic>,
  rules: Converse<PlaceTopic>,
  logger: Logger,
): Converse<PlaceTopic> {
  const judge = createFallbackJudge(
    { name: 'llm', converse: primary },
    { name: 'rules', converse: rules },
    logger,
  );
  return converseWithFallback(judge);
}

/** The pause after a refused key or an exhausted quota, in milliseconds. Neither recovers within seconds. */
const REFUSED_REST_MS = 5 * 60_000;
/** The pause after several temporary failures in a row (timeouts, overload), in milliseconds. */
const FAILED_REST_MS = 60_000;
const FAILURES_IN_A_ROW = 2;

/**
 * Returns the weight of a model's failure. A rejected key or an empty quota pauses the model at once. An
 * unusable reply never pauses it.
 */
function weighFailure(error: unknown): number {
  if (!(error instanceof TriageError)) return 0;
  if (isRefused(error)) return Number.POSITIVE_INFINITY;
  return ['timeout', 'upstream-failed', 'rate-limited'].includes(error.code) ? 1 : 0;
}

function computeRest(error: unknown): number {
  return isRefused(error) ? REFUSED_REST_MS : Math.max(FAILED_REST_MS, getRetryAfter(error) ?? 0);
}

function isRefused(error: unknown): boolean {
  return error instanceof TriageError && (error.code === 'upstream-auth' || error.code === 'quota-exhausted');
}
