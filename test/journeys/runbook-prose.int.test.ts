import { afterAll, beforeAll, expect, it } from 'vitest';
import { HEADERS, startTestService, type TestService, uploadAndWait } from '../support/test-service.ts';

/*
 * Runbooks in ordinary prose, without headings, name errors that no rule knows: their category and what they say
 * to do are the answer's, cited, in an embedded service with everything stored.
 */

const RUNBOOKS: Readonly<Record<string, string>> = {
  'mirror.md':
    'When publishing ends with `depot answered 451`, the legal hold of the compliance team is on.\n\n' +
    'To resolve it, ask compliance in #holds to lift the hold, then publish again.\n',
  'farm.txt':
    'If the emulator farm reports "no free handset for profile pixel-9", the farm is being charged. ' +
    'Wait until 06:30 or use the profile pixel-8.\n',
  'other.txt': 'If the emulator farm reports "no free tablet for profile slate-2", restart the charger.\n',
};

let service: TestService;
beforeAll(async () => {
  service = await startTestService(0.85);
  for (const [source, text] of Object.entries(RUNBOOKS)) {
    const payload = { source, category: 'INFRA_ERROR', content: Buffer.from(text).toString('base64') };
    const sent = await service.http.inject({
      method: 'POST',
      url: '/api/knowledge',
      headers: HEADERS,
      payload,
    });
    expect(sent.statusCode, sent.body).toBeLessThan(300);
  }
});
afterAll(() => service.close());

it.each([
  [
    'publish: depot answered 451 for package core-ui',
    'ask compliance in #holds to lift the hold',
    'mirror.md',
  ],
  ['E2E: no free handset for profile pixel-9, giving up after 300 s', 'use the profile pixel-8', 'farm.txt'],
])('category and fix come from the runbook that names the error: %s', async (line, fix, source) => {
  const analysis = await uploadAndWait(service, `acme/${source.replace('.', '-')}`, 1, [line]);

  expect(analysis).toMatchObject({ category: 'INFRA_ERROR', verdict: { action: 'human_review' } });
  expect(analysis.answer.fixRecommendation).toContain(fix);
  expect(analysis.answer.fixRecommendation).toContain(`(from your document “${source}”).`);
  expect(analysis.classification.because).toContain('names this error');
});

it('an error that no runbook names is not changed', async () => {
  const analysis = await uploadAndWait(service, 'acme/farm', 1, ['E2E: no free stand for profile desk-3']);
  expect(analysis.answer.fixRecommendation).not.toMatch(/charger|pixel/);
});
