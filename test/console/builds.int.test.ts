import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_STREAMS } from '../../src/api/limits.ts';
import { sampleAnalysis, sampleBuild, sampleGroup } from '../stores/samples.ts';
import { getPage, openConsole, type TestConsole, TOKENS } from '../support/console.ts';
import { storeSeveralCauses, TITLES } from '../support/several-causes.ts';

const HOSTILE = `<img src=x onerror=alert(1)>"'\u202e`;
let console: TestConsole;
let buildId: string;
let analysisId: string;

beforeAll(async () => {
  console = await openConsole();
  const { stores, archive } = console;
  const { build } = await stores.builds.upsert(
    sampleBuild({ repository: 'acme/shop', number: '7', branch: HOSTILE, url: 'javascript:alert(1)' }),
  );
  buildId = build.id;
  await stores.failures.saveGroups(build.id, [sampleGroup(build.id, 'fp-7')]);
  const triage = await stores.triages.open(build.id, 'fp-7');
  const wanted = sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint: 'fp-7' });
  const answer = { ...wanted.answer, title: HOSTILE };
  analysisId = (await stores.analyses.insertOnce({ ...wanted, answer })).analysis.id;
  await archive.put(build.id, { name: HOSTILE, kind: 'log', text: 'one\ntwo', notes: [HOSTILE] });
});
afterAll(async () => await console.close());

describe('the builds pages', () => {
  it('list builds with their causes, and find them by filters', async () => {
    const { body } = await getPage(console.app, '/builds?repo=acme/shop&status=failed');
    expect(body).toContain(`/builds/${buildId}`);
    expect(body).toContain(`/analyses/${analysisId}`);
    expect((await getPage(console.app, '/builds?repo=acme/none')).body).toContain(
      'No build fits these filters.',
    );
  });

  it('55: name two of twenty causes of a build and count the others', async () => {
    const { stores } = console;
    const { build } = await stores.builds.upsert(sampleBuild({ repository: 'acme/many', number: '20' }));
    for (let at = 1; at <= 20; at++) {
      const fingerprint = `fp-many-${at}`;
      await stores.failures.saveGroups(build.id, [sampleGroup(build.id, fingerprint)]);
      const triage = await stores.triages.open(build.id, fingerprint);
      await stores.analyses.insertOnce(
        sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint }, { id: `ana_many_${at}` }),
      );
    }
    const { body } = await getPage(console.app, '/builds?repo=acme/many');
    expect(body.match(/href="\/analyses\//g)).toHaveLength(2);
    expect(body).toContain(`<a class="above" href="/builds/${build.id}">18 more</a>`);
  });

  it('have one page per build, on which no outside text becomes markup or a script', async () => {
    for (const url of [
      `/analyses/${analysisId}`,
      `/builds/${buildId}`,
      '/builds',
      `/runs/${analysisId}`,
      `/analyses/${analysisId}/ask`,
    ]) {
      const { statusCode, body } = await getPage(console.app, url);
      expect(statusCode).toBe(200);
      expect(body).not.toContain('<img');
      expect(body).not.toContain('javascript:');
      expect(body).not.toContain('\u202e');
      expect(body).toContain('&lt;img src=x onerror=alert(1)&gt;');
    }
  });

  it('list causes in the order in which to fix them, each with its tests and the reason for their grouping', async () => {
    const id = await storeSeveralCauses(
      console.stores,
      sampleBuild({ repository: 'acme/several', number: '3' }),
    );
    const { body } = await getPage(console.app, `/builds/${id}`);
    expect(body).toContain('<h2>3 causes, 15 failed tests, in the order in which to fix them</h2>');
    const headings = [...body.matchAll(/<h3>(\d\. )<a href="[^"]+">([^<]+)<\/a><\/h3>/g)].map(
      ([, number, title]) => `${number}${title}`,
    );
    expect(headings).toEqual(TITLES.map((title, index) => `${index + 1}. ${title}`));
    const [, redis = '', label = ''] = body.split('<article');
    expect(redis).toContain('<strong>Failed tests:</strong> stores order 1 · stores order 2');
    expect(redis).toContain('and 5 more');
    expect(redis).toContain('10 tests, because each says “Error: Redis does not answer”.');
    expect(redis).toContain('<summary>10 tests</summary>');
    expect(label).toContain('label 1 · label 2 · label 3');
  });

  it('report a build that does not exist', async () => {
    const answer = await getPage(console.app, '/builds/bld_none');
    expect(answer.statusCode).toBe(404);
    expect(answer.body).toContain('There is no build bld_none.');
  });
});

describe('the page of a run', () => {
  it('shows every step', async () => {
    const { body } = await getPage(console.app, `/runs/${analysisId}`);
    expect(body).toContain('Ended after 1 round, because enough was known.');
    expect(JSON.parse((await getPage(console.app, `/runs/${analysisId}/json`)).body)).toMatchObject({
      analysisId,
    });
  });

  it('streams step by step, and a reader that reconnects misses and repeats nothing', async () => {
    const { stores, database, app } = console;
    const { build } = await stores.builds.upsert(sampleBuild({ repository: 'acme/shop', number: '8' }));
    await stores.triages.request(build.id);
    const step = {
      node: 'classify',
      round: 0,
      startedAt: '2026-11-01T10:00:00.000Z',
      milliseconds: 3,
      summary: 'TEST_FAILURE (0.81)',
    };
    await stores.runSteps.add(build.id, step);
    await stores.runSteps.add(build.id, { ...step, node: 'reason', round: 1 });
    const page = await getPage(app, `/runs/${build.id}`);
    expect(page.body).toContain(`data-events="/runs/${build.id}/events" data-last="2"`);
    await database.query(`update work set settled = version, outcome = 'done' where key = $1`, [build.id]);
    const whole = await getPage(app, `/runs/${build.id}/events`);
    expect(whole.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect([...whole.body.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual([1, 2]);
    expect(whole.body).toContain(`event: done\ndata: /builds/${build.id}`);
    const beyond = await app.inject({
      url: `/runs/${build.id}/events`,
      headers: { authorization: `Bearer ${TOKENS.read}`, 'last-event-id': '99999999999999' },
    });
    expect(beyond.body).toContain('event: done');
    const headers = { authorization: `Bearer ${TOKENS.read}`, 'last-event-id': '1' };
    const again = await app.inject({ url: `/runs/${build.id}/events`, headers });
    expect([...again.body.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual([2]);
  });

  it('is watched by a limited number of pages of one user, and a place is free again when one is closed', async () => {
    const { stores, app } = console;
    const { build } = await stores.builds.upsert(sampleBuild({ repository: 'acme/shop', number: '9' }));
    await stores.triages.request(build.id);
    const url = `/runs/${build.id}/events`;
    const watch = async (token: string = TOKENS.read) =>
      await app.inject({ url, headers: { authorization: `Bearer ${token}` }, payloadAsStream: true });
    const open = await Promise.all(Array.from({ length: MAX_STREAMS }, async () => await watch()));
    expect(open.map(({ statusCode }) => statusCode)).toEqual(open.map(() => 200));
    expect((await watch()).statusCode).toBe(429);
    const other = await watch(TOKENS.admin);
    expect(other.statusCode).toBe(200);
    for (const response of [other, ...open]) response.raw.res.destroy();
    await expect
      .poll(async () => {
        const again = await watch();
        again.raw.res.destroy();
        return again.statusCode;
      })
      .toBe(200);
    const head = await app.inject({
      method: 'HEAD',
      url,
      headers: { authorization: `Bearer ${TOKENS.read}` },
    });
    expect(head.statusCode).toBe(405);
  });
});
