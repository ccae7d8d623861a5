import { describe, expect, it } from 'vitest';
import type { Publisher } from '../../src/ports/notices.ts';
import { sampleAnalysis, sampleBuild } from '../support/sample-analysis.ts';

/** `told` counts the keys that reached the other side. */
export interface PublisherUnderTest {
  readonly publisher: Publisher;
  told(): number;
}

const { signal } = new AbortController();

/** What every Publisher promises. */
export function publisherContract(name: string, makeAdapter: () => Promise<PublisherUnderTest>): void {
  describe(`publisher ${name}`, () => {
    it('tells an answer once, however often it is asked to', async () => {
      const { publisher, told } = await makeAdapter();
      for (let time = 0; time < 3; time++)
        await publisher.publish(sampleBuild(), sampleAnalysis(), { key: 'k:1', signal });
      expect(told()).toBe(1);
    });

    it('tells two answers of one build', async () => {
      const { publisher, told } = await makeAdapter();
      await publisher.publish(sampleBuild(), sampleAnalysis({ id: 'ana_1' }), { key: 'k:1', signal });
      await publisher.publish(sampleBuild(), sampleAnalysis({ id: 'ana_2' }), { key: 'k:2', signal });
      expect(told()).toBe(2);
    });

    it('tells nothing once it was called off', async () => {
      const { publisher, told } = await makeAdapter();
      await expect(
        publisher.publish(sampleBuild(), sampleAnalysis(), { key: 'k:1', signal: AbortSignal.abort() }),
      ).rejects.toThrow();
      expect(told()).toBe(0);
    });
  });
}
