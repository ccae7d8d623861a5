import { messageOf, TriageError, type TriageErrorCode } from '../../domain/errors.ts';
import type { ArchivedSource, BuildArchive, SettledTexts, TextPiece } from '../../ports/build-archive.ts';
import type { Database } from '../../ports/database.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { createLeftAlone, type LeftAlone } from './left-alone.ts';
import type { MongodbArchive } from './mongodb.ts';
import { moveTexts } from './move-texts.ts';
import { createPostgresArchive } from './postgres.ts';
import { createTextLedger } from './text-ledger.ts';

export interface SpillingOptions {
  readonly primary: MongodbArchive;
  /** Where it stands which texts there are, and where they are kept while the primary is away. */
  readonly database: Database;
  readonly logger: Logger;
  /** How long a primary that did not answer is left alone, in milliseconds. */
  readonly restMs?: number;
}

const REST_MS = 5_000;
const REMOVALS = 50;
/** What the other store would say, too. */
const NOT_ELSEWHERE: readonly TriageErrorCode[] = ['too-large', 'invalid-input', 'cancelled', 'internal', 'invalid-config'];

/**
 * Keeps texts in MongoDB, and in the database while MongoDB is away, full or refuses: `put` has stored durably when it returns, whoever was
 * away. Which texts a build has is known in any case. A text that only MongoDB has is unavailable meanwhile: `read` and `lines` throw
 * `storage-failed`, retryable, at once once it is known. `settle` brings to MongoDB what waits, and deletes there what is owed.
 */
export function createSpillingArchive({ primary, database, logger, restMs = REST_MS }: SpillingOptions): BuildArchive {
  const spare = createPostgresArchive(database);
  const ledger = createTextLedger(database);
  // Whether it answers, and whether it takes texts: a full disk can still be read.
  const [answers, takes] = [createLeftAlone(restMs), createLeftAlone(restMs)];

  const { ask, tryPrimary } = primaryWithin({ primary, logger }, answers, takes);

  const readFrom = async <Result>(
    buildId: string,
    name: string,
    read: (archive: BuildArchive) => Promise<Result | null>,
  ): Promise<Result | null> => {
    const { place } = await ledger.standing(buildId, name);
    if (place === null) return null;
    return place === 'database' ? read(spare) : ask(() => read(primary));
  };

  return {
    driver: primary.driver,

    put: async (buildId, source) => {
      const { place, removalOwed } = await ledger.standing(buildId, source.name);
      // What waits is replaced where it waits, or the one that is being moved could win.
      const kept = place !== 'database' && !removalOwed ? await tryPrimary(buildId, source) : null;
      if (kept === null) await spare.put(buildId, source);
      else await ledger.markAway(buildId, kept);
    },

    list: (buildId) => ledger.list(buildId),
    read: (buildId, name) => readFrom(buildId, name, (archive) => archive.read(buildId, name)),
    lines: (buildId, name, from, to) => readFrom(buildId, name, (archive) => archive.lines(buildId, name, from, to)),

    pieces: async function* (buildId, name) {
      const { place } = await ledger.standing(buildId, name);
      if (place !== null) yield* place === 'database' ? spare.pieces(buildId, name) : heedingFirst(primary.pieces(buildId, name), ask);
    },

    remove: async (buildId) => {
      const removal = await ledger.oweRemoval(buildId);
      try {
        await ask(() => primary.remove(buildId));
      } catch (error) {
        logger.warn({ buildId, error: messageOf(error) }, 'MongoDB did not delete texts; that stays owed');
        return;
      }
      await ledger.removalDone(removal);
    },

    check: async () => {
      const state = await ask(() => primary.check()).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
      const { texts, removals } = await ledger.left();
      const said = [
        state instanceof Error ? `MongoDB is unavailable (${state.message}); the database stores new texts` : state,
        texts === 0 ? '' : counted(texts, 'text'),
        removals === 0 ? '' : counted(removals, 'deletion'),
      ];
      const sentence = said.filter((part) => part !== '').join('; ');
      if (state instanceof Error) throw new TriageError('storage-failed', sentence, { retryable: true, cause: state });
      return sentence;
    },

    settle: async (signal) => {
      const done = { moved: 0, removed: 0 };
      const isUp = await primary.check().then(
        () => true,
        () => false,
      );
      if (isUp) {
        answers.answered();
        try {
          done.removed = await removeOwed(primary, ledger, signal);
          done.moved = await moveTexts({ primary, spare, ledger, logger }, signal);
          await primary.tidy();
        } catch (error) {
          if (isAway(error)) answers.failed();
          logger.warn({ error: messageOf(error) }, 'texts could not be brought to MongoDB; they wait');
        }
      }
      const { texts, removals } = await ledger.left();
      return { ...done, waiting: texts, owed: removals } satisfies SettledTexts;
    },

    close: () => primary.close(),
  };
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'} waiting`;
}

/** Asks the primary only where it is not left alone, and remembers what came of it. */
function primaryWithin({ primary, logger }: Pick<SpillingOptions, 'primary' | 'logger'>, answers: LeftAlone, takes: LeftAlone) {
  async function ask<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!answers.mayAsk()) throw new TriageError('storage-failed', 'MongoDB did not respond recently and is paused.', { retryable: true });
    try {
      const result = await work();
      answers.answered();
      return result;
    } catch (error) {
      if (isAway(error)) answers.failed();
      else answers.answered();
      throw error;
    }
  }

  /** What the primary keeps; null where it did not take the text. */
  async function tryPrimary(buildId: string, source: Parameters<BuildArchive['put']>[1]): Promise<ArchivedSource | null> {
    if (!takes.mayAsk()) return null;
    try {
      const kept = await ask(() => primary.keep(buildId, source));
      takes.answered();
      return kept;
    } catch (error) {
      if (error instanceof TriageError && NOT_ELSEWHERE.includes(error.code)) throw error;
      takes.failed();
      logger.warn({ buildId, source: source.name, error: messageOf(error) }, 'MongoDB did not take a text; the database keeps it');
      return null;
    }
  }

  return { ask, tryPrimary };
}

/** The same pieces; whether the primary answers is seen by the first. */
async function* heedingFirst(pieces: AsyncGenerator<TextPiece>, ask: ReturnType<typeof primaryWithin>['ask']): AsyncGenerator<TextPiece> {
  try {
    const first = await ask(() => pieces.next());
    if (first.done !== true) yield first.value;
    yield* pieces;
  } finally {
    await pieces.return(undefined);
  }
}

async function removeOwed(primary: MongodbArchive, ledger: ReturnType<typeof createTextLedger>, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (let found = REMOVALS; found === REMOVALS && !signal.aborted; ) {
    const owed = await ledger.removals(REMOVALS);
    found = owed.length;
    for (const removal of owed) {
      if (signal.aborted) return removed;
      await primary.remove(removal.buildId);
      await ledger.removalDone(removal);
      removed += 1;
    }
  }
  return removed;
}

/** It does not answer, as against: it answers that it will not. */
function isAway(error: unknown): boolean {
  if (!(error instanceof TriageError)) return false;
  return error.code === 'upstream-auth' || (error.code === 'storage-failed' && error.retryable && error.details.full !== true);
}
