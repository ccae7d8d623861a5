import { setImmediate as nextTurn } from 'node:timers/promises';
import { TriageError } from '../../domain/errors.ts';
import type { FailureRow } from '../../domain/failure.ts';
import { createId } from '../../domain/ids.ts';
import { MAX_RULES, type Rule, type RuleInput } from '../../domain/library.ts';
import { toStorable } from '../../lib/text.ts';
import type { Clock } from '../../lib/time.ts';
import { areKnownLines } from '../../log/green/green-diff.ts';
import type { Masker } from '../../log/mask/mask.ts';
import { buildRuleText, compileRulePattern, type RulePattern } from '../../log/rule-pattern.ts';
import type { Database, Sql } from '../../ports/database.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { PassingBuildStore } from '../../stores/passing-builds.ts';
import type { ShownStores } from '../../stores/stores.ts';
import { createTitleFrom } from './learn.ts';

export interface RuleDeps {
  readonly database: Database;
  readonly stores: Pick<ShownStores, 'rules' | 'passingBuilds' | 'failures'>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The maximum number of failures that a dry run reads and shows. */
const MAX_TRIED = 200;

/**
 * Checks and stores a rule, as the next version of `replaces` if that is given. Throws `invalid-input` with
 * the reason why the rule is refused, `not-found`, and `conflict` if the maximum number of rules is reached.
 */
export async function createRule(
  deps: RuleDeps,
  input: RuleInput,
  author: string,
  replaces?: string,
): Promise<Rule> {
  const checked = await checkRule(deps.stores, input);
  if ('refused' in checked) throw new TriageError('invalid-input', checked.refused);
  const masked = await maskInput(input, deps.masker);
  const { rules } = deps.stores;
  const now = deps.clock.now();
  const rule = await deps.database.transaction(async (sql) => {
    const old = replaces === undefined ? null : await getReplaced(deps, replaces, author, sql);
    if ((await rules.countActive(sql)) >= MAX_RULES) throw createTooManyError();
    const made: Rule = {
      ...masked,
      id: old?.id ?? createId('rul', now),
      version: (old?.version ?? 0) + 1,
      title: createTitleFrom(masked.rootCause),
      author,
      createdAt: new Date(now).toISOString(),
      timesUsed: 0,
      lastUsedAt: null,
      withdrawn: null,
    };
    await rules.add(made, sql);
    return made;
  });
  deps.logger.info({ ruleId: rule.id, version: rule.version, author }, 'rule stored');
  return rule;
}

async function getReplaced({ stores }: RuleDeps, id: string, by: string, sql: Sql): Promise<Rule> {
  const old = await stores.rules.find(id, sql);
  if (old === null) throw createUnknownRuleError(id);
  await stores.rules.withdraw(id, by, `Replaced by version ${old.version + 1}.`, sql);
  return old;
}

/** Withdraws a rule, so that it is no longer used. A repeated call changes nothing. Throws `not-found`. */
export async function withdrawRule(
  deps: RuleDeps,
  { id, by, reason }: { readonly id: string; readonly by: string; readonly reason: string },
): Promise<Rule> {
  const known = await deps.stores.rules.find(id);
  if (known === null) throw createUnknownRuleError(id);
  const maskedReason = (await deps.masker.mask(toStorable(reason))).text;
  const withdrawn = await deps.stores.rules.withdraw(id, by, maskedReason);
  if (withdrawn !== null) deps.logger.info({ ruleId: id, version: withdrawn.version, by }, 'rule withdrawn');
  return withdrawn ?? (await deps.stores.rules.find(id)) ?? known;
}

/** Restores a rule that the same person withdrew. Throws `not-found`, and `conflict` for another person. */
export async function restoreRule(
  deps: Pick<RuleDeps, 'stores' | 'logger'>,
  { id, by }: { readonly id: string; readonly by: string },
): Promise<Rule> {
  const known = await deps.stores.rules.find(id);
  if (known === null) throw createUnknownRuleError(id);
  if (known.withdrawn !== null && known.withdrawn.by !== by)
    throw new TriageError(
      'conflict',
      `${known.withdrawn.by} withdrew this rule, and only they can undo that.`,
    );
  const restored = await deps.stores.rules.restore(id, by);
  if (restored !== null) deps.logger.info({ ruleId: id, by }, 'withdrawal of a rule undone');
  return restored ?? known;
}

/** The result of trying a rule without storing it. */
export interface RuleTrial {
  /** The reason for which the rule would be refused; null if it would be accepted. */
  readonly refused: string | null;
  /** The line of the sample that it matches. */
  readonly line: string | null;
  /** The stored failures that it matches, newest first, with their current categories. */
  readonly matches: readonly FailureRow[];
  /** The number of failures on which it was tried. */
  readonly tried: number;
}

/**
 * Tries a rule on the newest stored failures that the caller may see, and on everything that is checked
 * before storing.
 */
export async function tryRule({ stores }: Pick<RuleDeps, 'stores'>, input: RuleInput): Promise<RuleTrial> {
  const checked = await checkRule(stores, input);
  if ('refused' in checked) return { refused: checked.refused, line: null, matches: [], tried: 0 };
  const where = input.repository === null ? {} : { repository: input.repository };
  const rows = await stores.failures.search(where, { limit: MAX_TRIED, offset: 0 });
  const matches = rows.filter(({ failure }) => checked.pattern.matchedLine(buildRuleText(failure)) !== null);
  return { refused: null, line: checked.line, matches, tried: rows.length };
}

async function maskInput(input: RuleInput, masker: Pick<Masker, 'mask'>): Promise<RuleInput> {
  const mask = async (text: string) => (await masker.mask(toStorable(text))).text;
  const pattern = await mask(input.pattern);
  if (pattern !== input.pattern)
    throw new TriageError(
      'invalid-input',
      'The pattern contains what looks like a secret; match the words around it.',
    );
  const { sample, rootCause, fixRecommendation } = input;
  return {
    ...input,
    sample: await mask(sample),
    rootCause: await mask(rootCause),
    fixRecommendation: await mask(fixRecommendation),
  };
}

function createUnknownRuleError(id: string): TriageError {
  return new TriageError('not-found', `There is no rule ${id}.`);
}

function createTooManyError(): TriageError {
  return new TriageError(
    'conflict',
    `The limit of ${MAX_RULES} active rules is reached. Withdraw one that is no longer used.`,
  );
}

interface CheckRuleDeps {
  readonly passingBuilds: Pick<PassingBuildStore, 'newest'>;
}

/** A rule that passed all checks, or a sentence that says why it is refused. */
type CheckedRule = { readonly pattern: RulePattern; readonly line: string } | { readonly refused: string };

/** The maximum number of logs of passed builds that a rule is tried on, newest first. */
const GREEN_LOGS = 24;
/** The maximum number of characters of templates that are tried before other work gets a turn. */
const PIECE = 64_000;

/**
 * Checks a rule on its own sample, on generic lines, and on logs of passed builds. Refuses it if it does not
 * match the sample, or if it matches any of the others.
 */
async function checkRule(
  deps: CheckRuleDeps,
  { pattern, sample, repository }: Pick<RuleInput, 'pattern' | 'sample' | 'repository'>,
): Promise<CheckedRule> {
  const compiled = compileRulePattern(pattern);
  if ('refused' in compiled) return compiled;
  const line = compiled.matchedLine(sample);
  if (line === null) return { refused: 'The pattern does not match its own sample.' };
  // A failure's message and excerpt have several lines, so a pattern that requires a line end matches none of
  // these lines alone.
  const generic = GENERIC_LINES.find(
    (line) => compiled.matchedLine(line) !== null || compiled.matchedLine(`${line}\n${line}\n`) !== null,
  );
  if (generic !== undefined) {
    const what = generic === '' ? 'an empty line' : `"${generic}"`;
    return { refused: `The pattern is too general: it matches ${what}, which builds print for any cause.` };
  }
  const green = await findStandsInGreen(deps, compiled, line, repository);
  return green === null ? { pattern: compiled, line } : { refused: green };
}

async function findStandsInGreen(
  deps: CheckRuleDeps,
  pattern: RulePattern,
  line: string,
  repository: string | null,
): Promise<string | null> {
  for (const { build, templates } of await deps.passingBuilds.newest(repository, GREEN_LOGS)) {
    await nextTurn();
    if (areKnownLines([line.trim()], [templates]))
      return `Green build ${build.number} also contains the matched sample line: "${line.trim()}".`;
    for (const piece of listPieces(templates.lines)) {
      const text = pattern.matchedLine(piece);
      if (text !== null) return `The pattern matches a line of green build ${build.number}: "${text}".`;
      await nextTurn();
    }
  }
  return null;
}

function* listPieces(lines: readonly string[]): Generator<string> {
  let piece = '';
  for (const line of lines) {
    if (piece.length + line.length > PIECE) {
      yield piece;
      piece = '';
    }
    piece += `${line}\n`;
  }
  if (piece !== '') yield piece;
}

/** Lines that builds print for any cause. A rule that matches one of them says nothing about the cause. */
export const GENERIC_LINES: readonly string[] = [
  '',
  'error',
  'Error:',
  'ERROR:',
  'FAILED',
  'failed',
  'FAIL',
  'FAILURE',
  'fatal:',
  'exit code 1',
  'exit status 1',
  'exited with code 1',
  'Process completed with exit code 1.',
  '##[error]Process completed with exit code 1.',
  'Error: Process completed with exit code 2.',
  'The process exited with code 137.',
  'ERROR: script returned exit code 1',
  'Command failed with exit code 1',
  'ERROR: Job failed: exit code 1',
  'BUILD FAILED',
  'BUILD FAILURE',
  'Build failed',
  'FAILURE: Build failed with an exception.',
  '[INFO] BUILD FAILURE',
  '[ERROR] Failed to execute goal',
  'Finished: FAILURE',
  'Build step failed',
  'make: *** [Makefile:1: all] Error 1',
  'make[1]: *** [all] Error 2',
  'npm ERR! code ELIFECYCLE',
  'npm ERR! errno 1',
  'npm error Lifecycle script `test` failed with error:',
  'ELIFECYCLE Command failed with exit code 1.',
  'error Command failed with exit code 1.',
  '1 test failed',
  'Tests failed',
  'There were test failures.',
  'Tests: 1 failed, 41 passed, 42 total',
  '=== 1 failed, 41 passed in 3.21s ===',
  'FAILED (failures=1)',
  'Some tests failed',
  'Traceback (most recent call last):',
  'AssertionError',
  'Exception in thread "main" java.lang.RuntimeException',
  'panic: runtime error',
  'Segmentation fault (core dumped)',
  'Killed',
  'Terminated',
  'The operation was canceled.',
  'Error: The operation was canceled.',
  'timeout',
  'warning:',
];
