import { Command, Option } from 'commander';
import type { Category } from '../../domain/category.ts';
import type { DecisionInput, DecisionType, RejectReason, ReviewState } from '../../domain/review.ts';
import { addServiceOptions, loadAction, runGuarded, type ServerOptions } from '../command-parts.ts';

interface DecisionOptions {
  readonly category?: string;
  readonly kind?: string;
  readonly cause?: string;
  readonly fix?: string;
  readonly reason?: string;
  readonly reasonCode?: string;
  readonly shownBy?: string;
}

/** The states are repeated here, so that help does not load the schema. */
const STATES = ['waiting', 'claimed', 'decided'] as const satisfies readonly ReviewState[];
const CATEGORIES: readonly Category[] = [
  'CODE_ERROR',
  'TEST_FAILURE',
  'INFRA_ERROR',
  'CONFIG_ERROR',
  'DEPENDENCY_ERROR',
];
const REASONS: readonly RejectReason[] = [
  'evidence_does_not_support',
  'right_category_wrong_cause',
  'not_a_failure',
  'cannot_be_told',
];
const HOLD_HELP = {
  claim: 'Claim an item.',
  release: 'Release an item.',
  skip: 'Skip an item. It stays in the queue and is not offered to you for half an hour.',
} as const;
const KEYS_HELP =
  '\nOn a terminal: a accept, c correct, x reject, s skip, u undo, ? help, q quit. ' +
  'Enter, Space and Backspace never decide.';

const DECISION_HELP = {
  accept: 'Accept the answer. It is added to the library under your name.',
  correct: 'Correct the answer (--category, --cause, --fix).',
  reject: 'Reject the answer (--reason).',
} as const satisfies Record<DecisionType, string>;

/**
 * Creates `faultline review …`, a client of the service, because an embedded database belongs to the process
 * that serves it.
 */
export function createReviewCommand(): Command {
  const review = createQueueCommand();
  const command = (name: string, description: string) =>
    addServiceOptions(review.command(name).description(description));
  command('list', 'List items waiting for review.')
    .option('--all', 'also items that somebody holds or has decided')
    .addOption(
      new Option('--state <state>', 'only items in this state')
        .choices(STATES)
        .default('waiting')
        .conflicts('all'),
    )
    .action(loadAction(async () => (await import('./review-command.ts')).listReviews));
  command('show', 'Show one item with its answer.')
    .argument('<id>', 'item ID, as shown by `faultline review list`')
    .action(loadAction(async () => (await import('./review-command.ts')).showReview));
  command('answer', 'Answer a question from a running analysis, which then continues.')
    .argument('<id>', 'question ID, as shown by `faultline review list`')
    .argument('<text>', 'the answer')
    .action(loadAction(async () => (await import('./review-command.ts')).answerQuestion));
  command('undo', 'Undo a decision. The item returns to the queue, and the library entry is withdrawn.')
    .argument('<id>', 'item ID')
    .action(loadAction(async () => (await import('./review-command.ts')).undoReview));
  for (const act of ['claim', 'release', 'skip'] as const) {
    command(act, HOLD_HELP[act])
      .argument('<id>', 'item ID, as shown by `faultline review list`')
      .action(
        runGuarded(async (id: string, options: ServerOptions) =>
          (await import('./review-command.ts')).holdReview(id, act, options),
        ),
      );
  }
  for (const type of ['accept', 'correct', 'reject'] as const) {
    command(type, DECISION_HELP[type])
      .argument('<id>', 'item ID, as shown by `faultline review list`')
      .addOption(new Option('--category <category>', 'correct category').choices(CATEGORIES))
      .option('--kind <kind>', 'kind of failure, such as assertion, missing_module or out_of_memory')
      .option('--cause <text>', 'root cause in your own words')
      .option('--fix <text>', 'fix in your own words')
      .option('--reason <text>', 'why')
      .addOption(new Option('--reason-code <code>', 'reason for a rejection, as a code').choices(REASONS))
      .option('--shown-by <evidence>', 'evidence for the corrected cause: E1,E3 or none')
      .action(
        runGuarded(async (id: string, options: ServerOptions & DecisionOptions) =>
          (await import('./review-command.ts')).decideReview(id, await readDecision(type, options), options),
        ),
      );
  }
  return review;
}

/** Creates the command that works through the queue, item by item. */
function createQueueCommand(): Command {
  return (
    addServiceOptions(new Command('review'))
      // Options after a subcommand belong to that subcommand.
      .enablePositionalOptions()
      .description(
        'Work through the review queue of a running service. On a terminal, without a command, item ' +
          'by item with single keys.',
      )
      .argument('[id]', 'start with this item or analysis ID')
      .addHelpText('after', KEYS_HELP)
      .action(
        runGuarded(async (id: string | undefined, options: ServerOptions, command: Command) => {
          // An argument that is not an id is an unknown command.
          if (id !== undefined && !/^(?:rev|ana)_/.test(id))
            command.error(`error: unknown command '${id}'`, { code: 'commander.unknownCommand' });
          await (await import('./review-command.ts')).workThroughQueue(id, options);
        }),
      )
  );
}

async function readDecision(type: DecisionType, options: DecisionOptions): Promise<DecisionInput> {
  const { DecisionInput } = await import('../../domain/review.ts');
  const { TriageError } = await import('../../domain/errors.ts');
  const fields = {
    type,
    category: options.category,
    kind: options.kind,
    rootCause: options.cause,
    fixRecommendation: options.fix,
    reason: options.reason,
    reasonCode: options.reasonCode,
    shownBy: parseShownBy(options.shownBy),
  };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const parsed = DecisionInput.safeParse(given);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  throw new TriageError('invalid-config', `Invalid decision: ${issues}`);
}

/** Parses "E1,E3" or "none". The service rejects anything else. */
function parseShownBy(text: string | undefined): unknown {
  return text === undefined || text === 'none'
    ? text
    : { evidence: text.split(',').map((id) => id.trim()), lines: [] };
}
