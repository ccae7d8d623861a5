import { expect, it } from 'vitest';
import { createEmbeddedPreset, loadConfig } from '../../src/config/load.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

function load(environment: Readonly<Record<string, string>>) {
  return loadConfig(createEmbeddedPreset('/data', '/knowledge'), environment, () => '').channels.webhook;
}

it('answers are published only to the log unless an address is set', () => {
  expect(load({})).toMatchObject({ url: null, secrets: [], formats: ['standard'] });
});

it('webhooks are signed with every secret during a rotation', () => {
  const set = {
    FAULTLINE_PUBLISH_WEBHOOK_URL: 'http://10.0.0.7/hook',
    FAULTLINE_PUBLISH_WEBHOOK_SECRET: `${SECRET},${SECRET}`,
  };
  expect(load(set)).toMatchObject({ url: 'http://10.0.0.7/hook', secrets: [SECRET, SECRET] });
});

it('webhooks use CloudEvents if requested', () => {
  expect(load({ FAULTLINE_PUBLISH_WEBHOOK_FORMAT: 'cloudevents' }).formats).toEqual(['cloudevents']);
  expect(() => load({ FAULTLINE_PUBLISH_WEBHOOK_FORMAT: 'xml' })).toThrow('FAULTLINE_PUBLISH_WEBHOOK_FORMAT');
});

it('decisions and outcomes are added to one format if requested', () => {
  const both = { FAULTLINE_PUBLISH_WEBHOOK_FORMAT: 'cloudevents, decisions,outcomes' };
  expect(load(both).formats).toEqual(['cloudevents', 'decisions', 'outcomes']);
  expect(() => load({ FAULTLINE_PUBLISH_WEBHOOK_FORMAT: 'standard,cdevents' })).toThrow(
    'must name at most one of standard, cloudevents, cdevents',
  );
});

it.each([
  [{ FAULTLINE_PUBLISH_WEBHOOK_URL: 'https://chat.example/hook' }, 'FAULTLINE_PUBLISH_WEBHOOK_SECRET'],
  [{ FAULTLINE_PUBLISH_WEBHOOK_SECRET: 'hunter2' }, 'whsec_ followed by the base64'],
  [
    { FAULTLINE_PUBLISH_WEBHOOK_URL: 'file:///etc/passwd', FAULTLINE_PUBLISH_WEBHOOK_SECRET: SECRET },
    'FAULTLINE_PUBLISH_WEBHOOK_URL',
  ],
])('invalid settings are refused with the reason: %j', (set, said) => {
  expect(() => load(set)).toThrow(said);
});
