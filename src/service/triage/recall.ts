import { type Analysis, NO_USAGE } from '../../domain/analysis.ts';
import { CATEGORIES, type Category, mapCategories } from '../../domain/category.ts';
import type { Evidence } from '../../domain/evidence.ts';
import type { Excerpt, Failure } from '../../domain/failure.ts';
import { type LibraryEntry, MAX_RULES, type Rule } from '../../domain/library.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { buildRuleText, compileRulePattern } from '../../log/rule-pattern.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { RuleStore } from '../../stores/library.ts';
import { createAnalysisHead } from './investigate.ts';

/** The confidence of a cause that a person confirmed for this failure. */
const CONFIRMED = 0.97;

/**
 * Creates the answer to a failure whose cause a person has confirmed, without the graph or a model. It states
 * who confirmed it, when, and how often it was seen. Callers must not use it for generic fingerprints.
 */
export function recallAnalysis(
  subject: TriageSubject,
  entry: LibraryEntry,
  timesSeen: number,
  startedAt: number,
  now: number,
): Analysis {
  const proof = `confirmed by ${entry.confirmedBy} on ${entry.confirmedAt.slice(0, 10)}, seen ${timesSeen} times`;
  return {
    ...createKnownAnswer(subject, {
      node: 'recall',
      said: proof,
      confidence: CONFIRMED,
      known: entry,
      claim: `The same failure was ${proof}.`,
      because: `known failure ${entry.id}, ${proof}`,
      evidence: createEvidenceFor(
        {
          tool: 'recall',
          title: entry.title,
          text: entry.rootCause,
          source: `library:${entry.id}`,
          data: { entryId: entry.id, confirmedBy: entry.confirmedBy, analysisId: entry.analysisId },
        },
        listExcerpts(subject)[0],
      ),
      startedAt,
      now,
    }),
    recalled: {
      entryId: entry.id,
      confirmedBy: entry.confirmedBy,
      confirmedAt: entry.confirmedAt,
      timesSeen,
    },
  };
}

/** A person's statement about such failures. */
interface KnownFacts {
  readonly node: 'recall' | 'rule';
  /** The person and the date, in a few words. */
  readonly said: string;
  readonly confidence: number;
  readonly known: Pick<LibraryEntry, 'category' | 'kind' | 'title' | 'rootCause' | 'fixRecommendation'>;
  readonly claim: string;
  readonly because: string;
  readonly evidence: Evidence[];
  readonly startedAt: number;
  readonly now: number;
}

/** Creates an answer that comes from a person. None of its parts counts as the machine's. */
function createKnownAnswer(subject: TriageSubject, facts: KnownFacts): Analysis {
  const { node, said, confidence, known, claim, because, evidence, startedAt, now } = facts;
  const { category, kind, title, rootCause, fixRecommendation } = known;
  const milliseconds = now - startedAt;
  const ids = evidence.map(({ id }) => id);
  return {
    ...createAnalysisHead(subject, startedAt, now),
    category,
    kind,
    classification: {
      category,
      kind,
      confidence,
      probabilities: createCertainty(category, confidence),
      abstained: false,
      because,
    },
    answer: {
      title,
      rootCause,
      fixRecommendation,
      confidence,
      claims: [{ text: claim, evidence: ids, quotes: [] }],
      suspects: [],
      hypotheses: [],
    },
    verdict: {
      grades: Object.fromEntries(ids.map((id) => [id, 'relevant' as const])),
      unsupportedClaims: [],
      gaps: [],
      confidence,
      action: 'auto_notify',
      reasons: [`known: ${said}`],
    },
    evidence,
    steps: [
      {
        node,
        round: 0,
        startedAt: new Date(startedAt).toISOString(),
        milliseconds,
        summary: `known failure, ${said}`,
      },
    ],
    usage: NO_USAGE,
    analyst: 'recall',
    model: null,
    promptHashes: {},
    notes: subject.notes,
    terminationReason: 'known_failure',
    recalled: null,
  };
}

/** Creates the evidence from the statement of the person and the location of the failure in the log. */
function createEvidenceFor(
  known: Pick<Evidence, 'tool' | 'title' | 'text' | 'source' | 'data'>,
  excerpt: Excerpt | undefined,
): Evidence[] {
  const first: Evidence = { id: 'E1', score: 1, ...known };
  if (excerpt === undefined) return [first];
  const { source, lineStart, lineEnd, text, reason } = excerpt;
  return [first, { id: 'E2', tool: 'log', title: reason, text, source, lineStart, lineEnd }];
}

function listExcerpts({ failures, excerpts }: TriageSubject): Excerpt[] {
  return [...failures.flatMap(({ excerpt }) => excerpt ?? []), ...excerpts];
}

function createCertainty(category: Category, confidence: number): Record<Category, number> {
  const rest = (1 - confidence) / (CATEGORIES.length - 1);
  return mapCategories((other) => (other === category ? confidence : rest));
}

/**
 * The confidence of a rule's answer. It is lower than `CONFIRMED`, because its author did not see this
 * failure.
 */
const RULED = 0.9;
/**
 * The maximum number of failures of a group on which rules are tried. All failures of a group have one cause.
 */
const MAX_FAILURES = 3;
/** The time limit in milliseconds of all rules for one failure. Further rules are not tried. */
const TIME_MS = 250;

/** A rule that matches a failure, and the matched line. */
export interface RuleMatch {
  readonly rule: Rule;
  readonly line: string;
}

export interface RuleAnswerDeps {
  readonly stores: { readonly rules: Pick<RuleStore, 'active'> };
  readonly logger: Pick<Logger, 'warn'>;
  /** Returns elapsed time in milliseconds. By default, the clock of the process. */
  readonly elapsed?: () => number;
}

/**
 * Finds the first active rule that matches one of these failures. Returns null if none does. Rules of the
 * repository precede general ones; newer ones come first. Limits: 500 rules, 8,000 characters of each
 * failure, a quarter of a second in total.
 */
export async function findRule(
  failures: readonly Failure[],
  repository: string,
  deps: RuleAnswerDeps,
): Promise<RuleMatch | null> {
  const rules = await deps.stores.rules.active(repository, MAX_RULES);
  const texts = failures.slice(0, MAX_FAILURES).map(buildRuleText);
  const { elapsed = () => performance.now() } = deps;
  const startedAt = elapsed();
  for (const [tried, rule] of rules.entries()) {
    if (elapsed() - startedAt > TIME_MS) {
      deps.logger.warn(
        { repository, tried, rules: rules.length },
        'rules took too long; the rest was not tried on this failure',
      );
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

/**
 * Creates the answer that a reviewer's rule gives, without the graph or a model. It names the author and date
 * of the rule.
 */
export function createRuleAnalysis(
  subject: TriageSubject,
  { rule, line }: RuleMatch,
  timesUsed: number,
  startedAt: number,
  now: number,
): Analysis {
  const date = rule.createdAt.slice(0, 10);
  const provenance = `rule by ${rule.author}, ${date}`;
  const excerpts = listExcerpts(subject);
  return {
    ...createKnownAnswer(subject, {
      node: 'rule',
      said: provenance,
      confidence: RULED,
      known: rule,
      claim: `A line of this failure matches a ${provenance}. The rule has answered ${timesUsed} times.`,
      because: `rule ${rule.id} version ${rule.version}, ${provenance}`,
      evidence: createEvidenceFor(
        {
          tool: 'rule',
          title: rule.title,
          text: `${rule.rootCause}\nPattern: ${rule.pattern}`,
          source: `rule:${rule.id}`,
          data: { ruleId: rule.id, version: rule.version, author: rule.author },
        },
        excerpts.find(({ text }) => text.includes(line)) ?? excerpts[0],
      ),
      startedAt,
      now,
    }),
    ruled: {
      ruleId: rule.id,
      version: rule.version,
      author: rule.author,
      createdAt: rule.createdAt,
      timesUsed,
    },
  };
}
