import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getPage, openConsole, postForm, type TestConsole, TOKENS } from '../../support/console.ts';
import { locationOf, storeItem, versionIn } from './queue-world.ts';

let opened: TestConsole;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(async () => await opened.close());

describe('an item', () => {
  it('shows the verdict, the cause with its evidence, why it is here, and holds it for whoever opens it', async () => {
    const review = await storeItem(opened);
    const page = await getPage(opened.app, `/review/${review.id}?n=7&of=42`);
    expect(page.statusCode).toBe(200);
    for (const words of ['item 7 of 42', 'TEST_FAILURE', '80 % sure', 'too few to say', 'add() overwrites the last item', 'Append instead'])
      expect(page.body).toContain(words);
    expect(await opened.stores.reviews.find(review.id)).toMatchObject({ state: 'claimed', claimedBy: 'admin-holder' });
    const again = await getPage(opened.app, `/review/${review.id}`);
    expect(versionIn(again.body)).toBe(versionIn(page.body));
    const other = await getPage(opened.app, `/review/${review.id}`, TOKENS.review);
    expect(other.body).toContain('admin-holder is looking at this since');
    expect(other.body).not.toContain('data-action="accept"');
  });

  it('is accepted, leads to the next one, says so, and is taken back with one key', async () => {
    const [first, second] = [await storeItem(opened), await storeItem(opened)];
    const page = await getPage(opened.app, `/review/${first.id}?n=7&of=42`);
    const fields = { type: 'accept', version: versionIn(page.body), queue: '?n=7&of=42' };
    const answer = await postForm(opened.app, `/review/${first.id}/decision`, fields);
    expect(answer.statusCode).toBe(303);
    expect(locationOf(answer)).toMatch(/^\/review\/rev_\w+\?n=8&of=42&done=/);
    const next = await getPage(opened.app, locationOf(answer));
    expect(next.body).toContain('Item 7: accepted. Press u to undo.');
    expect(second.id).toBeDefined();
    const undone = await postForm(opened.app, `/review/${first.id}/undo`, { queue: '?n=8&of=42' });
    expect(locationOf(undone)).toContain(`/review/${first.id}?n=7&of=42&undone=1`);
    expect((await opened.stores.reviews.find(first.id))?.state).toBe('waiting');
  });
});
