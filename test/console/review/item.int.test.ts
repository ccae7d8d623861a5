import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getPage, openConsole, postForm, type TestConsole, TOKENS } from '../../support/console.ts';
import { locationOf, storeItem, versionIn } from './queue-world.ts';

let opened: TestConsole;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(async () => await opened.close());

/** Opens the item and sends a decision on what was seen. */
async function decide(
  id: string,
  fields: Readonly<Record<string, string | readonly string[]>>,
  token: string = TOKENS.admin,
) {
  const page = await getPage(opened.app, `/review/${id}`, token);
  return await postForm(
    opened.app,
    `/review/${id}/decision`,
    { version: versionIn(page.body), queue: '?n=7&of=42', ...fields },
    token,
  );
}

describe('a review item', () => {
  it('shows the verdict, the cause with its evidence and the reason for the review, and is reserved when a correction begins', async () => {
    const review = await storeItem(opened);
    const page = await getPage(opened.app, `/review/${review.id}?n=7&of=42`);
    expect(page.statusCode).toBe(200);
    for (const words of [
      'item 7 of 42',
      'Test failure',
      'Likely',
      'too few',
      'add() overwrites the last item',
      'Append instead',
      'id="E1"',
    ])
      expect(page.body).toContain(words);
    expect((await opened.stores.reviews.find(review.id))?.state).toBe('waiting');
    const held = await getPage(opened.app, `/review/${review.id}?edit=1`);
    expect(await opened.stores.reviews.find(review.id)).toMatchObject({
      state: 'claimed',
      claimedBy: 'admin-holder',
    });
    const again = await getPage(opened.app, `/review/${review.id}?reject=1`);
    expect(versionIn(again.body)).toBe(versionIn(held.body));
    const other = await getPage(opened.app, `/review/${review.id}`, TOKENS.review);
    expect(other.body).toContain('admin-holder has been reviewing this since');
    expect(other.body).not.toContain('data-action="accept"');
    expect(other.body).not.toContain('Take over');
  });

  it('is not reserved by looking at it; an admin may take it over', async () => {
    const review = await storeItem(opened);
    await getPage(opened.app, `/review/${review.id}`);
    expect((await opened.stores.reviews.find(review.id))?.state).toBe('waiting');
    await getPage(opened.app, `/review/${review.id}?edit=1`, TOKENS.review);
    expect((await getPage(opened.app, `/review/${review.id}`)).body).toContain('Take over');
    await postForm(opened.app, `/review/${review.id}/claim`, { over: '1' });
    expect((await opened.stores.reviews.find(review.id))?.claimedBy).toBe('admin-holder');
    await postForm(opened.app, `/review/${review.id}/release`, {});
    expect((await opened.stores.reviews.find(review.id))?.state).toBe('waiting');
  });

  it('is accepted with a confirmation and the next item, and the decision is undone with one key', async () => {
    const review = await storeItem(opened);
    await storeItem(opened);
    const answer = await decide(review.id, { type: 'accept' });
    expect(answer.statusCode).toBe(303);
    expect(locationOf(answer)).toMatch(/^\/review\/rev_\w+\?n=8&of=42&u=7&done=/);
    expect((await getPage(opened.app, locationOf(answer))).body).toContain(
      'Item 7: accepted. Added to the library: the next failure like this one in this repository gets this answer at once. Press u to undo.',
    );
    const undone = await postForm(opened.app, `/review/${review.id}/undo`, { queue: '?n=8&of=42' });
    expect(locationOf(undone)).toContain(`/review/${review.id}?n=7&of=42&undone=1`);
    expect((await opened.stores.reviews.find(review.id))?.state).toBe('waiting');
  });

  it('is linked from its log, with its place in the queue', async () => {
    const review = await storeItem(opened);
    const analysis = await opened.stores.analyses.find(review.analysisId);
    for (const source of new Set(analysis?.evidence.map((item) => item.source)))
      await opened.archive.put(analysis?.buildId ?? '', {
        name: source,
        kind: 'log',
        text: 'one\ntwo\n',
        notes: [],
      });
    const { body } = await getPage(opened.app, `/review/${review.id}?n=7&of=42`);
    expect(body).toContain(`&amp;back=${encodeURIComponent(`/review/${review.id}?n=7&of=42`)}"`);
  });

  it('keeps its own number when it is undone from a later item', async () => {
    const review = await storeItem(opened);
    await storeItem(opened);
    const next = locationOf(await decide(review.id, { type: 'accept' }));
    expect(next).toContain('&u=7');
    const undone = await postForm(opened.app, `/review/${review.id}/undo`, { queue: '?n=10&of=42&u=7' });
    expect(locationOf(undone)).toContain(`/review/${review.id}?n=7&of=42&undone=1`);
  });

  it('is corrected with its evidence, and the typed text', async () => {
    const review = await storeItem(opened);
    const fields = {
      category: 'CONFIG_ERROR',
      rootCause: 'TAX_TABLE is not set.\r\nIn this job.',
      fixRecommendation: 'Set it.',
    };
    await decide(review.id, { type: 'correct', ...fields, evidence: 'E1', lines: '3-4, 9', source: 'log' });
    expect((await opened.stores.reviews.find(review.id))?.decision).toMatchObject({
      ...{ category: 'CONFIG_ERROR', rootCause: 'TAX_TABLE is not set.\nIn this job.' },
      shownBy: {
        evidence: ['E1'],
        lines: [
          { source: 'log', lineStart: 3, lineEnd: 4 },
          { source: 'log', lineStart: 9, lineEnd: 9 },
        ],
      },
    });
    const page = await getPage(opened.app, `/review/${review.id}`);
    expect(page.body).toContain('admin-holder corrected it to Configuration');
    expect(page.body).toContain('Undo');
  });

  it('shows the category, cause and advice of its correction on all its pages', async () => {
    const review = await storeItem(opened);
    const fields = { rootCause: 'TAX_TABLE is not set in this job.', fixRecommendation: 'Set TAX_TABLE.' };
    await decide(review.id, { type: 'correct', category: 'CONFIG_ERROR', ...fields });
    for (const address of [`/review/${review.id}`, `/analyses/${review.analysisId}`]) {
      const { body } = await getPage(opened.app, address);
      const headline = body.slice(body.indexOf('class="headline"'), body.indexOf('</dl>'));
      for (const words of [
        'Configuration',
        'corrected by admin-holder, was Test failure',
        'TAX_TABLE is not set',
        'Set TAX_TABLE',
        'Which change?',
      ])
        expect(headline).toContain(words);
      expect(headline).not.toContain('class="cat test"');
    }
    const list = (await getPage(opened.app, '/review?state=decided')).body;
    const row = list.slice(list.indexOf(`id="${review.id}"`)).split('</li>')[0] ?? '';
    expect(row).toContain('Configuration');
    expect(row).not.toContain('Test failure');
  });

  it('can be corrected with lines as evidence only, and needs only the wrong fields', async () => {
    const review = await storeItem(opened);
    const { body } = await getPage(opened.app, `/review/${review.id}?edit=1`);
    const form = body.slice(body.indexOf('id="correct-form"')).split('</form>')[0] ?? '';
    expect(form).not.toContain(' required');
    const lines = { lines: '3', source: 'log', rootCause: '', fixRecommendation: '' };
    await decide(review.id, { type: 'correct', category: 'TEST_FAILURE', ...lines });
    expect((await opened.stores.reviews.find(review.id))?.decision).toMatchObject({
      type: 'correct',
      shownBy: { lines: [{ source: 'log', lineStart: 3, lineEnd: 3 }] },
    });
  });

  it('is rejected with the chosen reason', async () => {
    const review = await storeItem(opened);
    await decide(review.id, { type: 'reject', reasonCode: 'not_a_failure' });
    expect((await opened.stores.reviews.find(review.id))?.decision).toMatchObject({
      type: 'reject',
      reasonCode: 'not_a_failure',
    });
  });

  it('keeps what was typed if a correction changes nothing, or if another reviewer was faster', async () => {
    const review = await storeItem(opened);
    const same = await decide(review.id, { type: 'correct', category: 'TEST_FAILURE' });
    expect(same.statusCode).toBe(400);
    expect(same.body).toContain('changes nothing');
    const late = await decide(review.id, {
      type: 'correct',
      category: 'CODE_ERROR',
      rootCause: 'my <own> words',
      version: '0',
    });
    expect(late.statusCode).toBe(409);
    expect(late.body).toContain('changed since you opened it');
    expect(late.body).toContain('my &lt;own&gt; words');
    const page = await getPage(opened.app, `/review/${review.id}`);
    await decide(review.id, { type: 'accept' });
    const fields = {
      type: 'correct',
      version: versionIn(page.body),
      category: 'CODE_ERROR',
      rootCause: 'my own words',
    };
    const decided = await postForm(opened.app, `/review/${review.id}/decision`, fields, TOKENS.review);
    expect(decided.statusCode).toBe(409);
    expect(decided.body).toMatch(/admin-holder decided this \d+ s ago: accepted\. Your text is kept below\./);
    expect(decided.body).toContain('my own words');
  });
});

describe('an answer that exonerates a change to its own suspect', () => {
  it('is accepted only with a second press', async () => {
    const commit = 'a41f9c2d00000000';
    const suspect = {
      path: 'package-lock.json',
      line: null,
      commit,
      author: null,
      score: 0.6,
      reason: 'names the registry',
    };
    const answer = {
      title: 't',
      rootCause: 'r',
      fixRecommendation: 'f',
      confidence: 0.6,
      claims: [],
      suspects: [suspect],
      hypotheses: [],
    };
    const analysis = { category: 'INFRA_ERROR', kind: 'network', answer } as const;
    const review = await storeItem(opened, {
      build: { commit },
      analysis,
      review: { category: 'INFRA_ERROR' },
    });
    const first = await decide(review.id, { type: 'accept' });
    expect(locationOf(first)).toBe(`/review/${review.id}?n=7&of=42&armed=1`);
    expect((await opened.stores.reviews.find(review.id))?.decision).toBeNull();
    expect((await getPage(opened.app, locationOf(first))).body).toContain(
      'Accept anyway: the change touches package-lock.json',
    );
    await decide(review.id, { type: 'accept', armed: '1' });
    expect((await opened.stores.reviews.find(review.id))?.decision?.type).toBe('accept');
  });
});

describe('items with the same fingerprint', () => {
  it('are listed before one decision applies to all, and are undone together', async () => {
    const items = await Promise.all(
      [1, 2, 3].map(async () => await storeItem(opened, { fingerprint: 'fp-shared' })),
    );
    const [first, second, third] = items.map(({ id }) => id);
    const page = await getPage(opened.app, `/review/${first}?edit=1`);
    expect(page.body).toContain('also 2 waiting items with the same failure');
    for (const id of [second, third]) expect(page.body).toContain(`name="also" value="${id}"`);
    const answer = await decide(first ?? '', {
      type: 'accept',
      alsoFor: 'same-fingerprint',
      also: [second ?? '', third ?? ''],
    });
    expect((await getPage(opened.app, locationOf(answer))).body).toContain(
      'and 2 more with the same failure: accepted.',
    );
    const undone = await postForm(opened.app, `/review/${first}/undo`, {});
    expect((await getPage(opened.app, locationOf(undone))).body).toContain(
      'Undone. All 3 items are back in the queue, and what the decision taught is removed.',
    );
  });
});
