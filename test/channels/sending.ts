import type {
  AnswerPublisher,
  Call,
  Channel,
  ChannelParts,
  Messenger,
  Publisher,
  Sent,
} from '../../src/channels/channel.ts';
import { openMessenger } from '../../src/channels/handlers.ts';
import { systemClock } from '../../src/lib/time.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';

/** The dependencies of an open channel, of a repository without history. */
export function createChannelParts(change: Partial<ChannelParts> = {}): ChannelParts {
  const history = {
    consecutiveFailures: async () => ({
      count: 0,
      firstBuild: null,
      lastGreen: null,
      same: 0,
      firstSame: null,
    }),
    failureHistory: async () => [],
  };
  return { clock: systemClock, logger: silentLogger, history, publicUrl: 'https://fl.example', ...change };
}

export async function openAnswers(
  { answers }: Channel,
  change?: Partial<ChannelParts>,
): Promise<AnswerPublisher> {
  if (answers === undefined) throw new Error('It publishes no answers.');
  return await answers(createChannelParts(change));
}

export async function openNews({ messages }: Channel): Promise<Messenger> {
  const messenger = messages === undefined ? null : await openMessenger(messages, createChannelParts());
  if (messenger === null) throw new Error('It sends no messages.');
  return messenger;
}

export function callTo<To>(to: To, change: Partial<Call<To>> = {}): Call<To> {
  return { to, key: 'k', reference: null, isRetry: false, signal: new AbortController().signal, ...change };
}

/** Renders what is known and sends it. Returns null if there is nothing to say. */
export async function send<Known, To>(
  publisher: Publisher<Known, To>,
  known: Known,
  call: Call<To>,
): Promise<Sent | null> {
  const content = publisher.render(known);
  return content === null ? null : await publisher.send(content, call);
}
