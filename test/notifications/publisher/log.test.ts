import { expect, it } from 'vitest';
import { createLogPublisher } from '../../../src/notifications/publisher/log.ts';
import { type Logger, silentLogger } from '../../../src/ports/telemetry.ts';
import { publisherContract } from '../../contract/publisher-contract.ts';
import { recalledAnalysis, sampleBuild } from '../../support/sample-analysis.ts';

function recordingLogger(): { logger: Logger; lines: [object, string][] } {
  const lines: [object, string][] = [];
  return {
    lines,
    logger: { ...silentLogger, info: (fields, message) => void lines.push([fields, message]) },
  };
}

publisherContract('log', async () => {
  const { logger, lines } = recordingLogger();
  return { publisher: createLogPublisher(logger), told: () => lines.length };
});

it('logs fields and a fixed sentence', async () => {
  const { logger, lines } = recordingLogger();
  await createLogPublisher(logger).publish(sampleBuild(), recalledAnalysis(), {
    key: 'log:1',
    signal: new AbortController().signal,
  });
  expect(lines).toEqual([
    [
      expect.objectContaining({
        buildId: 'bld_1',
        analysisId: 'ana_9f2c',
        category: 'TEST_FAILURE',
        confirmedBy: 'grace',
      }),
      'answer published',
    ],
  ]);
});
