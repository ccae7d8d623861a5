import { afterAll, expect, test } from 'vitest';
import { digestOfToken, makeToken } from '../../../src/domain/access.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { createLogThreads } from '../../../src/log/worker-pool.ts';

const WEBHOOK = 'whs_8Kq2nVx5RtY7bLmP3cZw9sDf';
const API_KEY = 'key-of-a-model-4711-abc';
const masking = { known: [WEBHOOK, API_KEY], own: [WEBHOOK] };
const threads = createLogThreads({ masking, small: 0 });
afterAll(() => threads.close());

test.each([
  ['at once', createMasker(masking)],
  ['in a thread', threads.masker],
])(
  'masking reports which configured secrets it masked, in any encoding, and no others (%s)',
  async (_, masker) => {
    const token = makeToken();
    const texts = [
      `Notifying endpoint with url 'https://faultline.example/webhooks/jenkins?token=${WEBHOOK}'`,
      `authorization: Basic ${Buffer.from(`faultline:${WEBHOOK}`).toString('base64')}`,
      `FAULTLINE_TOKEN=${token}`,
      `FAULTLINE_TOKEN=${token.slice(0, -1)}_`,
      `Authorization: ${API_KEY}`,
      'nothing',
    ];

    const masked = await masker.maskAll(texts);

    const [webhook, own] = [digestOfToken(WEBHOOK), digestOfToken(token)];
    expect(masked.map((other) => other.own)).toEqual([
      [webhook],
      [webhook],
      [own],
      undefined,
      undefined,
      undefined,
    ]);
    expect(JSON.stringify(masked)).not.toContain(WEBHOOK);
  },
);
