import { describe, expect, it } from 'vitest';
import type { AnswerPublisher } from '../../src/channels/channel.ts';
import { callTo, send } from '../channels/sending.ts';
import { sampleAnalysis, sampleBuild } from '../support/sample-analysis.ts';

/** `told` counts the keys that reached the other side. */
export interface PublisherUnderTest {
  readonly publisher: AnswerPublisher;
  told(): number;
}

/** What every channel promises that publishes answers. */
export function testPublisherContract(name: string, makeAdapter: () => Promise<PublisherUnderTest>): void {
  const publish = async (publisher: AnswerPublisher, key: string, signal = new AbortController().signal) =>
    await send(
      publisher,
      { build: sampleBuild(), analysis: sampleAnalysis() },
      callTo(null, { key, signal }),
    );

  describe(`publisher ${name}`, () => {
    it('publishes an answer once, however often it is requested', async () => {
      const { publisher, told } = await makeAdapter();
      for (let time = 0; time < 3; time++) await publish(publisher, 'k:1');
      expect(told()).toBe(1);
    });

    it('publishes two answers of one build', async () => {
      const { publisher, told } = await makeAdapter();
      await publish(publisher, 'k:1');
      await publish(publisher, 'k:2');
      expect(told()).toBe(2);
    });

    it('publishes nothing after cancellation', async () => {
      const { publisher, told } = await makeAdapter();
      await expect(publish(publisher, 'k:1', AbortSignal.abort())).rejects.toThrow();
      expect(told()).toBe(0);
    });
  });
}
