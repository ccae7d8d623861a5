import { Command, Option } from 'commander';
import type { Category } from '../domain/category.ts';
import type { DecisionInput, DecisionType, ReviewState } from '../domain/review.ts';
import { guarded } from './command-parts.ts';
import { asksService, type ServerOptions, serverOf } from './server-options.ts';

interface DecisionOptions {
  readonly category?: string;
  readonly kind?: string;
  readonly cause?: string;
  readonly fix?: string;
  readonly reason?: string;
}

/** Spelt out, so that help needs no schema. */
const STATES = ['waiting', 'claimed', 'decided'] as const satisfies readonly ReviewState[];
const CATEGORIES = [
  ...(['CODE_ERROR', 'TEST_FAILURE', 'INFRA_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR'] as const),
] as const satisfies readonly Category[];

const DECISION_HELP = {
  accept: 'The answer is right: it enters the library with your name.',
  correct: 'The answer is wrong: say what it is (--category, --cause, --fix).',
  reject: 'The answer is not usable (--reason).',
} as const satisfies Record<DecisionType, string>;

/** `faultline review …`: a client of the service, since an embedded database belongs to the process that serves it. */
export function reviewCommand(): Command {
  const review = new Command('review').description('Work through the review queue of a running service.');
  const command = (name: string, description: string) => asksService(review.command(name).description(description));
  command('list', 'What waits for a person.')
    .addOption(new Option('--state <state>', 'only items of this state').choices(STATES))
    .action(
      guarded(async (options: ServerOptions & { state?: string }) =>
        (await import('./review-command.ts')).listReviews({ ...options, ...(await serverOf(options)) }),
      ),
    );
  command('show', 'One item with its answer.')
    .argument('<id>', 'id of the item, as `faultline review list` prints it')
    .action(
      guarded(async (id: string, options: ServerOptions) => (await import('./review-command.ts')).showReview(id, await serverOf(options))),
    );
  command('answer', 'Answer a question of a running analysis, which then goes on.')
    .argument('<id>', 'id of the question, as `faultline review list` prints it')
    .argument('<text>', 'the answer')
    .action(
      guarded(async (id: string, text: string, options: ServerOptions) =>
        (await import('./review-command.ts')).answerQuestion(id, text, await serverOf(options)),
      ),
    );
  for (const act of ['claim', 'release'] as const) {
    command(act, act === 'claim' ? 'Hold an item for yourself.' : 'Give an item back.')
      .argument('<id>', 'id of the item, as `faultline review list` prints it')
      .action(
        guarded(async (id: string, options: ServerOptions) =>
          (await import('./review-command.ts')).holdReview(id, act, await serverOf(options)),
        ),
      );
  }
  for (const type of ['accept', 'correct', 'reject'] as const) {
    command(type, DECISION_HELP[type])
      .argument('<id>', 'id of the item, as `faultline review list` prints it')
      .addOption(new Option('--category <category>', 'what it is').choices(CATEGORIES))
      .option('--kind <kind>', 'what kind of it, such as assertion, missing_module or out_of_memory')
      .option('--cause <text>', 'the root cause in your words')
      .option('--fix <text>', 'the fix in your words')
      .option('--reason <text>', 'why')
      .action(
        guarded(async (id: string, options: ServerOptions & DecisionOptions) => {
          const { decideReview } = await import('./review-command.ts');
          await decideReview(id, await decisionOf(type, options), await serverOf(options));
        }),
      );
  }
  return review;
}

async function decisionOf(type: DecisionType, options: DecisionOptions): Promise<DecisionInput> {
  const { DecisionInput } = await import('../domain/review.ts');
  const { TriageError } = await import('../domain/errors.ts');
  const fields = {
    type,
    category: options.category,
    kind: options.kind,
    rootCause: options.cause,
    fixRecommendation: options.fix,
    reason: options.reason,
  };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const parsed = DecisionInput.safeParse(given);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  throw new TriageError('invalid-config', `This decision cannot be sent: ${issues}`);
}
