import { expect, it } from 'vitest';
import { RuleForm, toFields, toRuleInput } from '../../src/console/notifications/rule-form.ts';
import type { NotificationRule } from '../../src/domain/notification-rule.ts';

const RULE: NotificationRule = {
  id: 'ntr_1',
  name: 'Regressions',
  query: '',
  channel: 'slack',
  destination: 'C1',
  byOwner: false,
  mention: false,
  digestHour: null,
  everyMinutes: 15,
  quietFrom: null,
  quietTo: null,
  timeZone: 'UTC',
  enabled: true,
  version: 1,
  repository: null,
  changedBy: 'anna',
  changedAt: '2026-11-28T00:00:00.000Z',
};

const form = (fields: object) => RuleForm.parse({ everyMinutes: '15', ...fields });

it('the choices of the form are written as one search, and read again', () => {
  const chosen = {
    repository: 'acme/shop',
    category: 'INFRA_ERROR',
    owner: '@shop/payments',
    news: 'is:new',
  };
  const { query } = toRuleInput(form({ ...chosen, query: 'branch:main' })) as { query: string };
  expect(query).toBe('repo:acme/shop category:INFRA_ERROR owner:@shop/payments branch:main is:new');
  expect(toFields({ ...RULE, query })).toMatchObject({ ...chosen, query: 'branch:main' });
});

it('parts that the form cannot express remain in the search', () => {
  const query = 'category:INFRA_ERROR category:CODE_ERROR owner:"a b"';
  expect(toFields({ ...RULE, query })).toMatchObject({ category: '', owner: '', query });
  const several = 'repo:a/b,c/d owner:x owner:y is:new';
  expect(toFields({ ...RULE, query: several })).toMatchObject({
    repository: '',
    owner: '',
    query: 'repo:a/b,c/d owner:x owner:y',
  });
});
