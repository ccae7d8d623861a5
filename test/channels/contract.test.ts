import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ChannelsConfig, createChannels, MESSAGE_CHANNELS } from '../../src/channels/registry.ts';
import { listVariables, type Variable } from '../../src/config/variable.ts';

const DEFAULTS = ChannelsConfig.parse({});
const VARIABLES = listVariables(ChannelsConfig);
const SECRET = 's3cret-of-the-channel';

/** The settings with one variable set. What depends on other settings is not checked. */
function configure({ path, type }: Variable): ChannelsConfig {
  const [channel = '', field = ''] = path.split('.');
  const settings = new Map(
    Object.entries(DEFAULTS).flatMap(([name, one]) =>
      typeof one === 'object' ? [[name, one] as const] : [],
    ),
  );
  const values: Partial<Record<Variable['type'], unknown>> = {
    text: `smtps://user:${SECRET}@mail.example:465`,
    list: [SECRET],
    pairs: { ops: `https://hooks.example/${SECRET}` },
  };
  return { ...DEFAULTS, [channel]: { ...settings.get(channel), [field]: values[type] } };
}

it('each channel has a name of its own', () => {
  const names = createChannels(DEFAULTS).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

it.each(
  VARIABLES.filter(({ secret }) => secret === true).map((variable) => [variable.name, variable] as const),
)('secrets in the settings of %s are masked', (_name, variable) => {
  const secrets = createChannels(configure(variable)).flatMap((channel) => channel.secrets);
  expect(secrets.some((secret) => secret.includes(SECRET))).toBe(true);
});

describe.each(createChannels(DEFAULTS).map((channel) => [channel.name, channel] as const))(
  'channel %s without settings',
  (_name, { secrets, notices, messages, checks }) => {
    it('has no secret, no publisher, and nothing to check', () => {
      expect(secrets.filter((secret) => secret !== '')).toEqual([]);
      expect(notices).toBeUndefined();
      expect(messages?.open ?? null).toBeNull();
      expect(checks()).toEqual([]);
    });

    it('refuses to send a message to an invalid destination', () => {
      for (const destination of ['', '<!channel>', 'constructor', '__proto__', 'http://10.0.0.7/x'])
        expect(messages?.refusal(destination) ?? 'It sends no messages.').toMatch(/\.$/);
    });
  },
);

describe.each(MESSAGE_CHANNELS)('messages of $label', ({ label, setting }) => {
  it('are configured by a variable, as the documentation says', () => {
    expect(VARIABLES.map(({ name }) => name)).toContain(setting);
    const page = readFileSync(`${import.meta.dirname}/../../docs/how-to/notifications.md`, 'utf8');
    expect(page.toLowerCase()).toContain(`| ${label.toLowerCase()} |`);
    expect(page).toContain(setting);
  });
});
