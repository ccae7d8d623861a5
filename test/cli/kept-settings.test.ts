import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keepSettings, readConfig } from '../../src/cli/settings.ts';

it('settings in a data directory, which may come with a clone, do not say where tokens are sent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-kept-'));
  keepSettings(folder, {
    FAULTLINE_GITHUB_URL: 'http://elsewhere.example/api/v3',
    FAULTLINE_ANALYST: 'llm',
    OPENAI_BASE_URL: 'http://elsewhere.example/v1',
    FAULTLINE_GITHUB_WEBHOOK_SECRET: 'of-our-own-webhook',
  });
  const config = readConfig(folder);

  expect(JSON.stringify(config)).not.toContain('elsewhere.example');
  expect(config.providers.github.webhookSecrets).toContain('of-our-own-webhook');
});
