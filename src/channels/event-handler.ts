import { TriageError } from '../domain/errors.ts';
import { EventPayload, type PublishedEvent, toEventKey, toEventTopic } from '../domain/published-event.ts';
import type { WorkEnd } from '../domain/work.ts';
import type { WorkHandler } from '../ports/work.ts';
import type { Stores } from '../stores/stores.ts';
import type { EventPublisher } from './channel.ts';
import { type SendLimits, sendHandler } from './deliver.ts';

interface EventDeps extends SendLimits {
  readonly stores: {
    readonly publishedEvents: Pick<Stores['publishedEvents'], 'findDecision'>;
    readonly work: Pick<Stores['work'], 'find'>;
    readonly builds: Pick<Stores['builds'], 'find'>;
    readonly analyses: Pick<Stores['analyses'], 'find'>;
    readonly grades: Pick<Stores['grades'], 'find'>;
  };
}

type EventStores = EventDeps['stores'];
type FoundEvent = { readonly analysisId: string; readonly event: PublishedEvent['event'] };

/**
 * Creates the handler that publishes events, each once. A decision that was undone before it was sent is not
 * published, and neither is that it was undone.
 */
export function createEventHandler(
  channel: string,
  publisher: EventPublisher,
  { stores, ...limits }: EventDeps,
): WorkHandler {
  return sendHandler(
    toEventTopic(channel),
    async ({ payload }) => {
      const found = await findEvent(EventPayload.parse(payload), channel, stores);
      if ('outcome' in found) return found;
      const analysis = await stores.analyses.find(found.analysisId);
      const build = analysis === null ? null : await stores.builds.find(analysis.buildId);
      if (build === null || analysis === null)
        return { outcome: 'failed', error: 'The answer of this event is no longer stored.' };
      return { publisher, known: { build, analysis, event: found.event }, to: null };
    },
    limits,
  );
}

async function findEvent(
  payload: EventPayload,
  channel: string,
  stores: EventStores,
): Promise<FoundEvent | WorkEnd> {
  if (payload.type === 'outcome.graded') {
    const graded = await stores.grades.find(payload.analysisId);
    if (graded === null || graded.mend.green.id !== payload.greenBuildId)
      return { outcome: 'superseded', error: 'The answer has been graded again since.' };
    return { analysisId: payload.analysisId, event: { type: payload.type, graded } };
  }
  const { type, decisionId } = payload;
  const found = await stores.publishedEvents.findDecision(decisionId);
  if (found === null) return { outcome: 'failed', error: 'The decision of this event is no longer stored.' };
  const { decision, undone } = found;
  if (type === 'decision.made' && undone !== null)
    return { outcome: 'superseded', error: 'The decision was undone before it was sent.' };
  if (type === 'decision.undone' && !(await mayHaveArrived(decisionId, channel, stores)))
    return { outcome: 'superseded', error: 'The decision was never sent.' };
  return { analysisId: decision.analysisId, event: { type, decision, undone } };
}

/**
 * Tells whether the receiver may know of this decision. Throws a temporary error while that is not settled.
 */
async function mayHaveArrived(decisionId: string, channel: string, { work }: EventStores): Promise<boolean> {
  const key = toEventKey(channel, { type: 'decision.made', decisionId });
  const item = await work.find(toEventTopic(channel), key);
  if (item === null) return false;
  if (item.version > item.settled)
    throw new TriageError('conflict', 'The decision itself is still to be sent.', { retryable: true });
  // A call may have been made in an earlier lease, even if none was answered.
  return item.outcome === 'done' || item.lease > 1;
}
