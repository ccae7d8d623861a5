import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLogExplainer } from '../../src/app/terminal-app.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { parseConfig } from '../../src/config/schema.ts';
import { getPage, openConsole, postForm, type TestConsole, TOKENS } from '../support/console.ts';

let opened: TestConsole;
beforeAll(async () => {
  opened = await openConsole({
    explainLog: openLogExplainer(parseConfig(createEmbeddedPreset('.faultline', 'knowledge'))),
  });
});
afterAll(async () => await opened.close());

const LOG = readFileSync('test/fixtures/failures/deploy-token-missing/log.txt', 'utf8');

describe('a pasted log', () => {
  it('is explained to everybody with read permission, with its lines, and is not stored', async () => {
    const first = await getPage(opened.app, '/', TOKENS.read);
    expect(first.body).toContain('href="/paste"');
    const { body, statusCode } = await postForm(opened.app, '/paste', { log: LOG }, TOKENS.read);
    expect(statusCode).toBe(200);
    expect(body).toContain('The secret DEPLOY_TOKEN is not set');
    expect(body).toMatch(/class="cited".*DEPLOY_TOKEN/s);
    expect(await opened.stores.builds.list({}, { limit: 1, offset: 0 })).toEqual([]);
  });

  it('may be one of the samples', async () => {
    const { body } = await postForm(opened.app, '/paste', { sample: 'registry-unavailable' });
    expect(body).toContain('503 Service Unavailable');
  });

  it('is kept in the form if it cannot be explained, and never shown as markup', async () => {
    const empty = await postForm(opened.app, '/paste', { log: ' ' });
    expect([empty.statusCode, empty.body.includes('the field is empty')]).toEqual([400, true]);
    const log = `<img src=x>\n${'x'.repeat(500_001)}`;
    const long = await postForm(opened.app, '/paste', { log });
    expect(long.statusCode).toBe(413);
    expect(long.body).toContain('&lt;img src=x&gt;');
    expect(long.body).not.toContain('<img');
    const nothing = await postForm(opened.app, '/paste', { log: 'all is well' });
    expect(nothing.statusCode).toBe(200);
  });

  it('is refused from another site', async () => {
    const answer = await opened.app.inject({
      method: 'POST',
      url: '/paste',
      payload: 'log=x',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'https://elsewhere.example',
        cookie: '__Host-fl=none',
      },
    });
    expect(answer.statusCode).toBe(403);
  });
});
