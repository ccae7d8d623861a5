import type { Analysis } from '../../domain/analysis.ts';
import type { Category } from '../../domain/category.ts';
import type { LibraryEntry } from '../../domain/library.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { LibraryStore, RuleStore } from '../../stores/library.ts';
import { type InvestigateDeps, investigate } from './investigate.ts';
import type { OwnerFinder } from './owners.ts';
import { findRule, type RuleMatch } from './recall.ts';
import { withVersionChanges } from './say-changes.ts';

/** The owner of a failure; empty if unknown. */
type Owner = Pick<Analysis, 'owner' | 'fileOwners'>;

/**
 * An answer before it is saved, with the owner of the failure. `startedAt` and `endedAt` are in milliseconds.
 */
export type Draft = { readonly owner: Owner } & (
  | {
      readonly kind: 'recalled';
      readonly subject: TriageSubject;
      readonly entry: LibraryEntry;
      readonly startedAt: number;
      readonly endedAt: number;
    }
  | {
      readonly kind: 'ruled';
      readonly subject: TriageSubject;
      readonly match: RuleMatch;
      readonly startedAt: number;
      readonly endedAt: number;
    }
  | { readonly kind: 'investigated'; readonly analysis: Analysis }
);

/** The decisions and rules of people that may answer a failure. */
interface KnownAnswers {
  readonly library: Pick<LibraryStore, 'recall'>;
  readonly rules: Pick<RuleStore, 'active'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export interface DraftDeps {
  readonly investigation: InvestigateDeps;
  /** The known answers; none if absent. */
  readonly known?: KnownAnswers;
  /** The owner finder. If absent, failures have no owner. */
  readonly owners?: OwnerFinder;
}

/**
 * Answers one failure group: with the cause that a person confirmed before, or else by a reviewer's rule, or
 * else by the graph. Returns null if the run waits for a person.
 */
export async function draftAnswer(
  subject: TriageSubject,
  deps: DraftDeps,
  signal: AbortSignal,
): Promise<Draft | null> {
  const { known, investigation } = deps;
  const { clock } = investigation;
  const { repository } = subject.build;
  const startedAt = clock.now();
  const findOwner = async (category: Category, suspects: Analysis['answer']['suspects']): Promise<Owner> =>
    (await deps.owners?.(subject, { category, suspects }, signal)) ?? {};
  if (known !== undefined) {
    const { library, rules, logger } = known;
    const entry = subject.generic
      ? null
      : await library.recall({ fingerprint: subject.fingerprint.value, repository });
    if (entry !== null) {
      return {
        kind: 'recalled',
        subject,
        entry,
        owner: await findOwner(entry.category, []),
        startedAt,
        endedAt: clock.now(),
      };
    }
    const match = await findRule(subject.failures, repository, { stores: { rules }, logger });
    if (match !== null) {
      return {
        kind: 'ruled',
        subject,
        match,
        owner: await findOwner(match.rule.category, []),
        startedAt,
        endedAt: clock.now(),
      };
    }
  }
  const found = await investigate(subject, investigation, signal);
  if (found === null) return null;
  const analysis = withVersionChanges(found, subject);
  return {
    kind: 'investigated',
    analysis,
    owner: await findOwner(analysis.category, analysis.answer.suspects),
  };
}
