import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createId } from '../../../src/domain/ids.ts';
import { getPage, openConsole, postForm, type TestConsole } from '../../support/console.ts';
import { locationOf, storeItem, versionIn } from './queue-world.ts';

let opened: TestConsole;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(async () => await opened.close());

describe('the review queue', () => {
  it('says that nothing is pending, and summarizes the day', async () => {
    const { body } = await getPage(opened.app, '/review');
    expect(body).toContain('The queue is empty. 0 decided today.');
    expect(locationOf(await getPage(opened.app, '/review/next'))).toBe('/review');
  });

  it('groups items with one fingerprint, names who looks at what, and keeps its filters in the address', async () => {
    const repository = 'shop/web';
    const [first] = [
      await storeItem(opened, { fingerprint: 'fp', build: { repository } }),
      await storeItem(opened, { fingerprint: 'fp', build: { repository } }),
    ];
    const held = await storeItem(opened, { build: { repository: 'lib/core' } });
    await opened.stores.reviews.claim(held.id, 'grace', 60_000);
    const { body } = await getPage(opened.app, '/review');
    expect(body).toContain('×2');
    expect(body).toMatch(/Under review by grace since \d\d:\d\d UTC/);
    expect(body).toContain('All <span class="count">3</span>');
    const filtered = await getPage(
      opened.app,
      '/review?repo=shop%2Fweb&category=TEST_FAILURE&why=below&sort=age',
    );
    expect(filtered.body).toContain(
      `/review/${first?.id}?category=TEST_FAILURE&amp;repo=shop%2Fweb&amp;why=below&amp;sort=age&amp;n=1&amp;of=3`,
    );
    expect(filtered.body).not.toContain('lib/core');
    const none = await getPage(opened.app, '/review?repo=no%2Fwhere');
    expect(none.body).toContain('No waiting item fits these filters.');
    expect(none.body).toContain('Remove the filters');
  });

  it('leads to the next free item, and to neighbors without deciding', async () => {
    const next = await getPage(opened.app, '/review/next?repo=shop%2Fweb&n=1&of=2');
    expect(locationOf(next)).toMatch(/^\/review\/rev_\w+\?repo=shop%2Fweb&n=1&of=2$/);
    const all = await opened.stores.reviews.listGroups({}, { limit: 10, offset: 0 });
    const [left, right] = all.map(({ review }) => review.id);
    expect(locationOf(await getPage(opened.app, `/review/next?after=${left}&n=1`))).toContain(
      `/review/${right}?n=2`,
    );
    expect(locationOf(await getPage(opened.app, `/review/next?before=${right}&n=2`))).toContain(
      `/review/${left}?n=1`,
    );
    expect(locationOf(await getPage(opened.app, `/review/next?after=${left}&peek=1`))).toContain(
      `/review/${right}`,
    );
  });

  it('omits what was skipped, and lists the decisions of today', async () => {
    const [review] = await opened.stores.reviews.list({ repository: 'shop/web' }, { limit: 1, offset: 0 });
    const id = review?.id ?? '';
    const skipped = await postForm(opened.app, `/review/${id}/skip`, { queue: '?repo=shop%2Fweb&n=3' });
    expect(locationOf(skipped)).not.toContain(id);
    expect((await getPage(opened.app, locationOf(skipped))).body).toContain(
      'Item 3: skipped. It stays in the queue.',
    );
    const page = await getPage(opened.app, `/review/${id}`);
    await postForm(opened.app, `/review/${id}/decision`, {
      type: 'reject',
      reasonCode: 'cannot_be_told',
      version: versionIn(page.body),
    });
    const decided = await getPage(opened.app, '/review?state=decided');
    expect(decided.body).toContain('admin-holder rejected it');
    expect(decided.body).toContain('Decided <span class="count">1</span>');
    expect((await getPage(opened.app, '/review?state=mine')).body).toContain('data-row');
  });
});

describe('a question of a run', () => {
  it('is shown with pending items, answered, and shown as answered', async () => {
    const { buildId } = await storeItem(opened);
    const triage = await opened.stores.triages.open(buildId, 'asked');
    const asked = {
      id: createId('rev'),
      triageId: triage.id,
      buildId,
      repository: 'shop/api',
      title: 'refused',
      category: 'CONFIG_ERROR' as const,
    };
    const { id } = await opened.stores.questions.ask(
      { ...asked, question: 'Is <b>17</b> expected?', openedAt: new Date().toISOString() },
      4 * 3_600_000,
    );
    expect((await getPage(opened.app, '/review')).body).toContain('Question');
    const page = await getPage(opened.app, `/review/${id}`);
    expect(page.body).toContain('Is &lt;b&gt;17&lt;/b&gt; expected?');
    expect(page.body).toContain('Without an answer, the analysis continues in 4 h.');
    const blank = await postForm(opened.app, `/review/${id}/answer`, { how: 'answer', answer: ' ' });
    expect((await getPage(opened.app, locationOf(blank))).body).toContain('The answer is empty');
    const answered = await postForm(opened.app, `/review/${id}/answer`, { how: 'unknown' });
    expect(answered.statusCode).toBe(303);
    expect((await opened.stores.questions.find(id))?.answer).toBe('I do not know.');
  });
});

describe('hostile text', () => {
  const HOSTILE = [
    '<img src=x onerror=alert(1)>',
    '"><script>alert(1)</script>',
    "' onmouseover='alert(1)",
    '</textarea><svg onload=alert(1)>',
    '[E1](javascript:alert(1))',
  ];
  it.each(HOSTILE)('%s has no effect in any field of an item and of the queue', async (text) => {
    const evidence = [
      { id: 'E1', tool: 'log', title: text, text, source: text, lineStart: 3, lineEnd: 3 },
      { id: 'E2', tool: text, title: text, text, source: text, url: `javascript:${text}` },
    ];
    const suspect = { path: text, line: 1, commit: text, author: text, score: 0.5, reason: text };
    const answer = {
      ...{ title: text, rootCause: text, fixRecommendation: text, confidence: 0.5, suspects: [suspect] },
      claims: [{ text, evidence: ['E1'], quotes: [] }],
      hypotheses: [1, 2].map(() => ({ text, category: 'CODE_ERROR' as const, settledBy: text })),
    };
    const verdict = {
      grades: {},
      unsupportedClaims: [text],
      gaps: [text],
      confidence: 0.5,
      action: 'human_review' as const,
      reasons: [text],
    };
    const review = await storeItem(opened, {
      build: { pipeline: text, branch: text, author: text, url: `javascript:${text}` },
      failure: { message: text },
      analysis: { answer, evidence, verdict, notes: [text] },
      review: { title: text, why: [text] },
    });
    for (const url of [
      `/review/${review.id}`,
      `/review/${review.id}?edit=1`,
      `/review/${review.id}?reject=1`,
      '/review',
    ]) {
      const { body, statusCode } = await getPage(opened.app, url);
      expect(statusCode).toBe(200);
      expect(body).not.toMatch(
        /<(?:img|script)(?! type="module" src="\/assets)|<svg onload|="javascript:|' onmouseover=/i,
      );
    }
  });
});

it('an error of the database is a page that says what is safe', async () => {
  const { reviews } = opened.stores;
  const broken = Object.assign(Object.create(opened.stores), {
    reviews: Object.assign(Object.create(reviews), { listGroups: () => Promise.reject(new Error('gone')) }),
  });
  const other = await openConsole({ stores: broken });
  try {
    const { body, statusCode } = await getPage(other.app, '/review?repo=a%2Fb');
    expect(statusCode).toBeGreaterThanOrEqual(500);
    expect(body).toContain('The queue could not be read (');
    expect(body).toContain('Your decisions are saved.');
    expect(body).toContain('href="/review?repo=a%2Fb"');
  } finally {
    await other.close();
  }
});
