import { describe, expect, it } from 'vitest';
import {
  computeSendingTime,
  listPlannedMessages,
  NotificationRuleInput,
  type Occasion,
  OwnerChannelsInput,
  parseCondition,
  resolveTargets,
} from '../../src/domain/notification-rule.ts';

const rule = (change: object = {}) =>
  NotificationRuleInput.parse({ name: 'r', channel: 'slack', destination: 'C0123456789', ...change });
const at = (iso: string) => Date.parse(iso);
const sent = (change: object, oldest: string, now = oldest) =>
  new Date(computeSendingTime(rule(change), at(oldest), at(now))).toISOString();

describe('68: the time at which the matches of a rule are sent', () => {
  it.each([
    [
      'at once, with what comes within ten seconds',
      {},
      '2026-03-02T12:00:00.000Z',
      '2026-03-02T12:00:10.000Z',
    ],
    ['daily at its hour', { digestHour: 9 }, '2026-03-02T12:00:00.000Z', '2026-03-03T09:00:00.000Z'],
    [
      'daily at its hour, the same day',
      { digestHour: 9 },
      '2026-03-02T08:59:00.000Z',
      '2026-03-02T09:00:00.000Z',
    ],
    [
      'after quiet hours',
      { quietFrom: 8, quietTo: 18 },
      '2026-03-02T12:00:00.000Z',
      '2026-03-02T18:00:00.000Z',
    ],
    [
      'after quiet hours over midnight',
      { quietFrom: 22, quietTo: 7 },
      '2026-03-02T23:30:00.000Z',
      '2026-03-03T07:00:00.000Z',
    ],
    [
      'after quiet hours, even where the digest is due in them',
      { digestHour: 6, quietFrom: 22, quietTo: 7 },
      '2026-03-02T12:00:00.000Z',
      '2026-03-03T07:00:00.000Z',
    ],
    [
      'in its time zone',
      { digestHour: 9, timeZone: 'America/New_York' },
      '2026-03-02T15:00:00.000Z',
      '2026-03-03T14:00:00.000Z',
    ],
    [
      'in a time zone of three quarters of an hour',
      { digestHour: 9, timeZone: 'Asia/Kathmandu' },
      '2026-03-02T04:00:00.000Z',
      '2026-03-03T03:15:00.000Z',
    ],
    [
      'where clocks skip its hour, right after',
      { digestHour: 2, timeZone: 'Europe/Berlin' },
      '2026-03-28T12:00:00.000Z',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'where its hour comes twice, once',
      { digestHour: 2, timeZone: 'Europe/Berlin' },
      '2026-10-24T12:00:00.000Z',
      '2026-10-25T00:00:00.000Z',
    ],
  ])('%s', (_name, change, oldest, expected) => expect(sent(change, oldest)).toBe(expected));

  it('is not repeated in an hour that occurs twice', () => {
    expect(sent({ digestHour: 2, timeZone: 'Europe/Berlin' }, '2026-10-25T00:30:00.000Z')).toBe(
      '2026-10-26T01:00:00.000Z',
    );
  });

  it('is at most ten seconds from now if the clocks of processes differ', () => {
    expect(sent({}, '2026-03-02T12:20:00.000Z', '2026-03-02T12:00:00.000Z')).toBe('2026-03-02T12:00:10.000Z');
  });
});

const owner = {
  path: 'a.ts',
  names: ['@Shop/Payments', '@ada'],
  by: 'codeowners' as const,
  at: 'CODEOWNERS:1',
};
const owners = [
  { owner: '@shop/payments', slack: 'C0000000001', email: 'p@example.com' },
  { owner: 'ada', slackMention: 'U0123456789' },
].map((one) => OwnerChannelsInput.parse(one));

describe('68: a message of a rule', () => {
  it('is sent to the destination of the rule, or of the owner if it is known', () => {
    expect(resolveTargets(rule(), owner, owners)).toEqual(['slack:C0123456789']);
    expect(resolveTargets(rule({ byOwner: true }), owner, owners)).toEqual(['slack:C0000000001']);
    expect(
      resolveTargets(rule({ byOwner: true, channel: 'email', destination: 'a@example.com' }), owner, owners),
    ).toEqual(['email:p@example.com']);
    for (const nobody of [null, { ...owner, names: ['@ada'] }, { ...owner, names: ['@mallory'] }])
      expect(resolveTargets(rule({ byOwner: true }), nobody, owners)).toEqual(['slack:C0123456789']);
  });
});

describe('68: many matches of a rule', () => {
  const occasion = (seconds: number): Occasion => ({
    key: `answer:${seconds}`,
    isAnswer: true,
    state: null,
    analysisId: `ana_${seconds}`,
    buildId: 'bld_1',
    repository: 'shop/api',
    fingerprint: 'f',
    owner: null,
    at: new Date(at('2026-03-02T12:00:00.000Z') + seconds * 1000).toISOString(),
  });

  it('within two minutes become one message, and one with the rest once the limit allows it', () => {
    const planned = listPlannedMessages(
      rule({ everyMinutes: 15 }),
      Array.from({ length: 100 }, (_, second) => occasion(second)),
      [],
    );
    expect(
      planned.map((plannedMessage) => [
        new Date(plannedMessage.at).toISOString(),
        plannedMessage.occasions.length,
      ]),
    ).toEqual([
      ['2026-03-02T12:15:10.000Z', 89],
      ['2026-03-02T12:00:10.000Z', 11],
    ]);
  });

  it('become one message a day if the rule is a digest', () => {
    const planned = listPlannedMessages(
      rule({ digestHour: 9 }),
      Array.from({ length: 100 }, (_, hour) => occasion(hour * 3600)),
      [],
    );
    expect(planned.map((plannedMessage) => plannedMessage.occasions.length)).toEqual([6, 24, 24, 24, 22]);
  });
});

describe('67: the search of a rule', () => {
  it('separates states from other filters', () => {
    expect(parseCondition('repo:shop/api is:new is:regressed is:flaky confidence:>=0.8')).toEqual({
      filter: { repository: 'shop/api', flags: ['flaky'], confidence: { is: '>=', than: 0.8 } },
      states: ['new', 'regressed'],
    });
  });

  it.each([
    ['since:7d', 'since:7d does not fit a rule'],
    ['build:7', 'build:7 does not fit a rule'],
    ['is:unanswered', 'is:unanswered does not fit a rule'],
    ['owner:me', 'owner:me needs a signed-in user'],
  ])('refuses %s', (query, sentence) => expect(() => parseCondition(query)).toThrow(sentence));

  it('accepts only time zones that exist', () => {
    expect(NotificationRuleInput.safeParse({ ...rule(), timeZone: 'Europe/Nowhere' }).success).toBe(false);
  });
});
