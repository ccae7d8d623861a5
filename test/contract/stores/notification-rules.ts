import { afterEach, describe, expect, it } from 'vitest';
import { GATHER, MATCH_RULES, NotificationRuleInput } from '../../../src/domain/notification-rule.ts';
import { sampleGroup } from '../../stores/samples.ts';
import { PAGE, type StoresWorld } from './world.ts';

export function testNotificationRulesContract(world: StoresWorld): void {
  describe('notification rules', () => {
    const rules = () => world.stores.notificationRules;
    const input = (change: object = {}) =>
      NotificationRuleInput.parse({ name: 'Shop', channel: 'slack', destination: 'C0123456789', ...change });
    async function add(change: object = {}) {
      const rule = await rules().add(input(change), world.repository, 'ada');
      if (rule === null) throw new Error('there are too many rules');
      return rule;
    }
    async function storeFailing(number: string, fingerprint: string, branch = 'topic') {
      const build = await world.build({ number, branch });
      await world.stores.failures.saveGroups(build.id, [sampleGroup(build.id, fingerprint)]);
      return await world.storeAnalysis(build, fingerprint);
    }
    /** What rules are to be asked about, of this test's repository. */
    async function askQuestion() {
      const rows = await world.db.query<{ payload: { analysisId: string } | { eventId: number } }>(
        'select payload from work where topic = $1 order by created_at',
        [MATCH_RULES],
      );
      const occasions = await Promise.all(rows.map(({ payload }) => rules().occasion(payload)));
      return occasions
        .filter((occasion) => occasion?.repository === world.repository)
        .map((occasion) => [occasion?.isAnswer, occasion?.state, occasion?.analysisId]);
    }
    afterEach(async () => {
      for (const { id } of await rules().list()) await rules().remove(id, 'test');
    });

    it('67: are changed by version, with a record of who did it, and limited to repositories', async () => {
      const rule = await add({ digestHour: 9 });
      expect(rule).toMatchObject({
        ...input({ digestHour: 9 }),
        repository: world.repository,
        version: 1,
        changedBy: 'ada',
      });
      expect(await rules().list({ repositories: ['acme/*'] })).toEqual([rule]);
      expect(await rules().list({ repositories: ['other/*'] })).toEqual([]);
      const off = await rules().change(rule.id, 1, input({ enabled: false }), null, 'grace');
      expect(off).toMatchObject({
        enabled: false,
        digestHour: null,
        repository: null,
        version: 2,
        changedBy: 'grace',
      });
      expect(await rules().change(rule.id, 1, input(), null, 'late')).toBeNull();
      expect([
        await rules().list({ enabled: true }),
        await rules().list({ repositories: ['acme/*'] }),
      ]).toEqual([[], []]);
      expect([
        await rules().remove(rule.id, 'ada'),
        await rules().remove(rule.id, 'ada'),
        await rules().find(rule.id),
      ]).toEqual([true, false, null]);
      const events = await rules().events(rule.id, 9);
      expect(events.map(({ by, what }) => `${by}: ${what}`)).toEqual([
        'ada: deleted',
        'grace: turned off',
        'ada: created',
      ]);
      expect(events[0]?.detail).toMatchObject({ name: 'Shop', enabled: false });
    });

    it('67: have channels of owners, by name in any case', async () => {
      const none = { slack: null, slackMention: null, teams: null, teamsMention: null, email: null };
      await rules().setOwner({ ...none, owner: '@Shop/Web', slack: 'C1' }, 'ada');
      await rules().setOwner({ ...none, owner: 'shop/web', email: 'web@example.com' }, 'ada');
      expect(await rules().owners()).toEqual([{ ...none, owner: 'shop/web', email: 'web@example.com' }]);
      await rules().setOwner({ ...none, owner: '@shop/web' }, 'ada');
      expect(await rules().owners()).toEqual([]);
      expect((await rules().events(null, 3)).map(({ what }) => what)).toEqual(['removed', 'set', 'set']);
    });

    it('68: are applied to answers and to changes of causes, in the same transaction, and never to imported builds', async () => {
      const fingerprint = `rule-${world.count}`;
      await storeFailing('1', fingerprint);
      expect(await askQuestion()).toEqual([]);
      await add();
      const first = await storeFailing('2', `${fingerprint}-new`);
      const again = await storeFailing('3', `${fingerprint}-new`, 'main');
      await world.build({ number: '4', branch: 'main', status: 'passed' });
      const back = await storeFailing('5', `${fingerprint}-new`, 'main');
      expect((await askQuestion()).toSorted()).toEqual(
        [
          [true, 'new', first.id],
          [true, null, again.id],
          [false, 'fixed', back.id],
          [false, 'regressed', back.id],
          [true, null, back.id],
        ].toSorted(),
      );
      await world.db.query('update builds set imported_at = now() where repository = $1', [world.repository]);
      expect(await askQuestion()).toEqual([]);
    });

    it('68: record each match once, and send pending matches in one message', async () => {
      const rule = await add();
      const { id } = await storeFailing('11', `sealed-${world.count}`);
      const occasion = (await rules().answers([id]))[0];
      if (occasion === undefined) throw new Error('no occasion');
      const found = { ruleId: rule.id, occasion, targets: ['slack:C1', 'slack:C2'] };
      await rules().keep([found]);
      await rules().keep([found]);
      expect(await rules().oldest(rule.id, 'slack:C1')).not.toBeNull();
      const [entry] = await world.stores.work.take({
        topic: GATHER,
        keys: [`${rule.id} slack:C1`],
        leaseMs: 60_000,
        limit: 1,
      });
      if (entry === undefined) throw new Error('nothing is to be gathered');
      expect(entry.version).toBe(1);
      await rules().seal(
        entry,
        { ruleId: rule.id, target: 'slack:C1', topic: 'message:slack' },
        { outcome: 'done' },
      );
      await expect(
        rules().seal(
          entry,
          { ruleId: rule.id, target: 'slack:C2', topic: 'message:slack' },
          { outcome: 'done' },
        ),
      ).rejects.toThrow('lease');
      expect([await rules().oldest(rule.id, 'slack:C1'), await rules().oldest(rule.id, 'slack:C2')]).toEqual([
        null,
        expect.any(String),
      ]);
      const [message] = await rules().messages(rule.id, 9);
      expect(message).toMatchObject({ target: 'slack:C1', outcome: null, answers: 1 });
      expect(await rules().matches(message?.key ?? '')).toEqual([
        {
          analysisId: id,
          buildId: occasion.buildId,
          repository: world.repository,
          fingerprint: occasion.fingerprint,
          state: 'new',
        },
      ]);
    });

    it('68: match states, confidence and alerts in the same way as the search', async () => {
      const fingerprint = `found-${world.count}`;
      const analysis = await storeFailing('21', fingerprint);
      const found = async (change: object) =>
        (await world.stores.failures.search({ repository: world.repository, fingerprint, ...change }, PAGE))
          .length;
      const { confidence } = analysis.verdict;
      expect([await found({ states: ['new', 'fixed'] }), await found({ states: ['fixed'] })]).toEqual([1, 0]);
      const sure = async (is: '>' | '>=' | '<' | '<=') =>
        await found({ confidence: { is, than: confidence } });
      expect([await sure('>'), await sure('>='), await sure('<'), await sure('<=')]).toEqual([0, 1, 0, 1]);
      expect([
        await found({ buildId: analysis.buildId }),
        await found({ buildId: 'bld_other' }),
        await found({ alerting: true }),
      ]).toEqual([1, 0, 1]);
      const [cause] = await world.stores.causes.ofFingerprint(fingerprint);
      if (cause === undefined) throw new Error('there is no cause');
      await world.stores.causes.change(
        cause,
        { what: 'muted', days: 30, reason: 'known' },
        'ada',
        Date.now(),
      );
      expect([await found({ alerting: true }), await found({})]).toEqual([0, 1]);
    });
  });
}
