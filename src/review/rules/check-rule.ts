import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RuleInput } from '../../domain/library.ts';
import { standsIn } from '../../log/green/stands-in.ts';
import { compileRulePattern, type RulePattern } from '../../log/rules/rule-pattern.ts';
import type { GreenStore } from '../../ports/stores.ts';
import { GENERIC_LINES } from './generic-lines.ts';

export interface CheckRuleDeps {
  readonly greens: Pick<GreenStore, 'newest'>;
}

/** A rule that may be taken, or a sentence that says why not. */
export type CheckedRule = { readonly pattern: RulePattern; readonly line: string } | { readonly refused: string };

/** Logs of green builds that a rule is tried on: the newest. */
const GREEN_LOGS = 24;
/** Characters of templates that are tried between two turns. */
const PIECE = 64_000;

/**
 * Tries a rule on its own sample, on lines that builds of every cause end with, and on what green builds say. It is refused where it
 * misses the first, or matches any of the others.
 */
export async function checkRule(
  deps: CheckRuleDeps,
  { pattern, sample, repository }: Pick<RuleInput, 'pattern' | 'sample' | 'repository'>,
): Promise<CheckedRule> {
  const compiled = compileRulePattern(pattern);
  if ('refused' in compiled) return compiled;
  const line = compiled.matchedLine(sample);
  if (line === null) return { refused: 'The pattern does not match its own sample.' };
  // A failure's message and excerpt are several lines: what asks for a line end matches none of these alone.
  const generic = GENERIC_LINES.find((one) => compiled.matchedLine(one) !== null || compiled.matchedLine(`${one}\n${one}\n`) !== null);
  if (generic !== undefined) {
    const what = generic === '' ? 'an empty line' : `"${generic}"`;
    return { refused: `The pattern is too general: it matches ${what}, which builds print for any cause.` };
  }
  const green = await standsInGreen(deps, compiled, line, repository);
  return green === null ? { pattern: compiled, line } : { refused: green };
}

async function standsInGreen(deps: CheckRuleDeps, pattern: RulePattern, line: string, repository: string | null): Promise<string | null> {
  for (const { build, templates } of await deps.greens.newest(repository, GREEN_LOGS)) {
    await nextTurn();
    if (standsIn([line.trim()], [templates])) return `Green build ${build.number} also contains the matched sample line: "${line.trim()}".`;
    for (const piece of pieces(templates.lines)) {
      const said = pattern.matchedLine(piece);
      if (said !== null) return `The pattern matches a line of green build ${build.number}: "${said}".`;
      await nextTurn();
    }
  }
  return null;
}

function* pieces(lines: readonly string[]): Generator<string> {
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
