import { messageOf, TriageError } from '../../domain/errors.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { MongodbArchive } from './mongodb.ts';
import type { TextLedger, WaitingText } from './text-ledger.ts';

interface MoveDeps {
  readonly primary: MongodbArchive;
  readonly spare: BuildArchive;
  readonly ledger: TextLedger;
  readonly logger: Logger;
}

const BATCH = 20;
/** Texts of one round that may be left where they are, before the round ends. */
const MOST_REFUSED = 20;

/**
 * Brings texts that wait in the database to the primary, the oldest first, and says how many. Cut off anywhere, a text is in one place or in
 * both. Throws where the primary goes away; a text that it refuses stays where it is.
 */
export async function moveTexts(deps: MoveDeps, signal: AbortSignal): Promise<number> {
  const left = new Set<string>();
  let moved = 0;
  while (!signal.aborted && left.size < MOST_REFUSED) {
    const waiting = await deps.ledger.waiting(BATCH + left.size);
    const texts = waiting.filter((text) => !left.has(keyOf(text)));
    if (texts.length === 0) break;
    for (const text of texts) {
      if (signal.aborted) return moved;
      if (await moveText(deps, text)) moved += 1;
      else left.add(keyOf(text));
    }
  }
  return moved;
}

async function moveText({ primary, spare, ledger, logger }: MoveDeps, { buildId, name }: WaitingText): Promise<boolean> {
  // Asked before the row is read: where another one moves the text, and it is replaced there, this one must not put the old one back.
  const replacing = await primary.generation(buildId, name);
  const text = await ledger.waitingText(buildId, name);
  if (text === null) return false;
  const stored = await spare.read(buildId, name);
  if (stored === null) return false;
  try {
    await primary.put(buildId, { name, kind: text.kind, notes: [...text.notes], text: stored }, replacing);
  } catch (error) {
    if (!(error instanceof TriageError) || error.code === 'storage-failed') throw error;
    logger.warn({ buildId, source: name, error: messageOf(error) }, 'a text stays in the database');
    return false;
  }
  // A majority has acknowledged it; it is given up here only once it was read there.
  if ((await primary.read(buildId, name)) !== stored) {
    logger.warn({ buildId, source: name }, 'a text was read back differently and stays in the database');
    return false;
  }
  return await ledger.markMoved(text);
}

function keyOf({ buildId, name }: WaitingText): string {
  return JSON.stringify([buildId, name]);
}
