import { type News, readNews } from '../../src/channels/news.ts';
import { OwnerChannelsInput } from '../../src/domain/notification-rule.ts';
import type { Cause } from '../../src/ports/notices.ts';
import { sampleAnalysis } from '../support/sample-analysis.ts';
import { createBranchSituation, sampleCause, sampleHead } from './slack/slack-world.ts';

export const OWNER = {
  path: 'src/cart/tax.ts',
  names: ['@shop/payments'],
  by: 'codeowners' as const,
  at: '.github/CODEOWNERS:12',
};
export const PAYMENTS = OwnerChannelsInput.parse({
  owner: '@shop/payments',
  slack: 'C0000000001',
  slackMention: 'S0123456789',
  teams: 'payments',
  teamsMention: 'ada@example.com',
  email: 'payments@example.com',
});

/** What a rule tells of one cause, or of as many as are given. */
export async function sampleNews(
  causes: readonly Cause[] = [sampleCause(sampleAnalysis({ owner: OWNER }))],
  change: Partial<News> = {},
): Promise<News> {
  const head = sampleHead({ causes });
  const matches = causes.map(({ analysis }) => ({
    analysisId: analysis.id,
    buildId: head.build.id,
    repository: head.build.repository,
    fingerprint: analysis.fingerprint,
    state: null,
  }));
  const rule = { id: 'ntr_1', name: 'Regressions of the shop', mention: true };
  const deps = {
    notices: { situation: async () => createBranchSituation(head) },
    publicUrl: 'https://fl.example',
  };
  const news = await readNews({ rule, matches, owners: [PAYMENTS], isTest: false }, deps);
  if (news === null) throw new Error('there is nothing to tell');
  return { ...news, ...change };
}
