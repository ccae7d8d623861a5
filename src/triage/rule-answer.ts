import type { Analysis } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { Failure } from '../domain/failure.ts';
import { MAX_RULES, type Rule } from '../domain/library.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { compileRulePattern, ruleText } from '../log/rules/rule-pattern.ts';
import type { RuleStore } from '../ports/library.ts';
import type { Logger } from '../ports/telemetry.ts';
import { knownAnswer } from './recall.ts';

/** A person said it of all failures that look like this one, not of this one: less than what they confirmed. */
const RULED = 0.9;
/** Failures of a group that rules are tried on; they have one cause. */
const MAX_FAILURES = 3;
/** So long the rules may take for one failure, in milliseconds; those that are left over then are not tried. */
const TIME_MS = 250;

/** A rule that applies to a failure, and the line it matches. */
export interface RuleMatch {
  readonly rule: Rule;
  readonly line: string;
}

export interface RuleAnswerDeps {
  readonly stores: { readonly rules: Pick<RuleStore, 'active'> };
  readonly logger: Pick<Logger, 'warn'>;
  /** Time that passes, in milliseconds; the clock of the process where absent. */
  readonly elapsed?: () => number;
}

/**
 * The first active rule that matches one of these failures; null where none does. Those of the repository go before those of all, the
 * newest first. Bounded: at most 500 rules, 8,000 characters of each failure, a quarter of a second in all.
 */
export async function ruleFor(failures: readonly Failure[], repository: string, deps: RuleAnswerDeps): Promise<RuleMatch | null> {
  const rules = await deps.stores.rules.active(repository, MAX_RULES);
  const texts = failures.slice(0, MAX_FAILURES).map(ruleText);
  const { elapsed = () => performance.now() } = deps;
  const startedAt = elapsed();
  for (const [tried, rule] of rules.entries()) {
    if (elapsed() - startedAt > TIME_MS) {
      deps.logger.warn({ repository, tried, rules: rules.length }, 'rules took too long; the rest was not tried on this failure');
      return null;
    }
    const pattern = compileRulePattern(rule.pattern);
    if ('refused' in pattern) continue;
    for (const text of texts) {
      const line = pattern.matchedLine(text);
      if (line !== null) return { rule, line };
    }
  }
  return null;
}

/** The answer that a reviewer's rule gives: no graph, no model. It says whose rule it is and since when. */
export function ruleAnalysis(
  subject: TriageSubject,
  { rule, line }: RuleMatch,
  timesUsed: number,
  startedAt: number,
  now: number,
): Analysis {
  const date = rule.createdAt.slice(0, 10);
  const said = `rule by ${rule.author}, ${date}`;
  return {
    ...knownAnswer(subject, {
      node: 'rule',
      said,
      confidence: RULED,
      known: rule,
      claim: `A line of this failure matches a ${said}. The rule has answered ${timesUsed} times.`,
      because: `rule ${rule.id} version ${rule.version}, ${said}`,
      evidence: evidenceFor(subject, rule, line),
      startedAt,
      now,
    }),
    ruled: { ruleId: rule.id, version: rule.version, author: rule.author, createdAt: rule.createdAt, timesUsed },
  };
}

function evidenceFor(subject: TriageSubject, rule: Rule, line: string): Evidence[] {
  const known: Evidence = {
    id: 'E1',
    tool: 'rule',
    title: rule.title,
    text: `${rule.rootCause}\nPattern: ${rule.pattern}`,
    source: `rule:${rule.id}`,
    score: 1,
    data: { ruleId: rule.id, version: rule.version, author: rule.author },
  };
  const excerpts = [...subject.failures.flatMap(({ excerpt }) => excerpt ?? []), ...subject.excerpts];
  const shown = excerpts.find(({ text }) => text.includes(line)) ?? excerpts[0];
  if (shown === undefined) return [known];
  const { source, lineStart, lineEnd, text, reason } = shown;
  return [known, { id: 'E2', tool: 'log', title: reason, text, source, lineStart, lineEnd }];
}
