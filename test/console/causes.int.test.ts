import { afterAll, beforeAll, expect, it } from 'vitest';
import { getPage, openConsole, postForm, type TestConsole } from '../support/console.ts';
import { tell } from './insights/insights-world.ts';

let opened: TestConsole;
beforeAll(async () => {
  opened = await openConsole();
  await tell(opened.stores, {
    number: 1,
    fingerprint: 'cause-1',
    confidence: 0.9,
    at: '2026-10-12T00:00:00.000Z',
  });
});
afterAll(async () => await opened.close());

async function change(fields: Readonly<Record<string, string>>) {
  const [cause] = await opened.stores.causes.ofFingerprint('cause-1');
  const key = { repository: 'acme/shop', fingerprint: 'cause-1', version: String(cause?.version) };
  return await postForm(opened.app, '/causes', { ...key, ...fields });
}

/** Sends a change, follows it, and takes it back with the form of the page. */
async function undo(fields: Readonly<Record<string, string>>, words: string) {
  const done = await change(fields);
  expect(done.headers.location).toMatch(/^\/failures\/cause-1\?done=\w+&at=[^#]+#standing$/);
  const { body } = await getPage(opened.app, String(done.headers.location));
  const form = /<form[^>]*>(?:(?!<\/form>).)*Undo: (?:(?!<\/form>).)*<\/form>/s.exec(body)?.[0] ?? '';
  expect(form).toContain(words);
  const taken = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
    name ?? '',
    value ?? '',
  ]);
  expect((await postForm(opened.app, '/causes/undo', Object.fromEntries(taken))).statusCode).toBe(303);
  return body;
}

it('a cause is muted with a reason, which is shown, and unmuted', async () => {
  const body = await undo(
    { what: 'muted', days: '7', reason: ' waits for a release ' },
    ': waits for a release',
  );
  expect(body).toContain('<span>Muted.</span>');
  expect((await opened.stores.causes.ofFingerprint('cause-1'))[0]?.mutedUntil).toBeNull();
});

it('a ticket is linked, and the former link is undone', async () => {
  await change({ what: 'linked', ticket: 'https://tickets.example/1' });
  const body = await undo(
    { what: 'linked', ticket: 'https://tickets.example/2' },
    'linked to https://tickets.example/2',
  );
  expect(body).toContain('<span>Ticket linked.</span>');
  expect((await opened.stores.causes.ofFingerprint('cause-1'))[0]?.ticket).toBe('https://tickets.example/1');
  await change({ what: 'unlinked' });
  await undo({ what: 'linked', ticket: 'https://tickets.example/3' }, 'https://tickets.example/3');
  expect((await opened.stores.causes.ofFingerprint('cause-1'))[0]?.ticket).toBeNull();
});

async function causeNow(fingerprint = 'cause-1') {
  return (await opened.stores.causes.ofFingerprint(fingerprint))[0];
}

/** A further failed build of the default branch with the cause, and its answer. */
async function failAgain(number: number, fingerprint: string, at: string) {
  await tell(opened.stores, { number, fingerprint, confidence: 0.9, at });
}

it('a cause is muted until a number of further failures, and the remaining number is shown', async () => {
  await change({ what: 'muted', occurrences: '2', reason: 'a known leak' });
  const page = await getPage(opened.app, '/causes?list=muted');
  expect(page.body).toContain('Muted until seen 2 times more');
  await failAgain(2, 'cause-1', '2026-10-13T00:00:00.000Z');
  expect((await causeNow())?.mutedLeft).toBe(1);
  await failAgain(3, 'cause-1', '2026-10-14T00:00:00.000Z');
  expect((await causeNow())?.mutedLeft).toBeNull();
  expect((await getPage(opened.app, '/causes')).body).toContain('/failures/cause-1');
});

it('a fixed cause stays fixed from the next build on, despite builds that were already running', async () => {
  await change({ what: 'fixed-in-next-build' });
  expect((await getPage(opened.app, '/causes?list=fixed')).body).toContain('Fixed from the next build');
  await failAgain(4, 'cause-1', '2026-10-15T00:00:00.000Z');
  expect((await causeNow())?.state).toBe('fixed');
  await failAgain(5, 'cause-1', '2099-01-01T00:00:00.000Z');
  expect((await causeNow())?.state).toBe('regressed');
});

it('two causes are merged and separated: one row, one page, one count', async () => {
  await failAgain(6, 'cause-2', '2026-10-16T00:00:00.000Z');
  const twin = await causeNow('cause-2');
  const key = { repository: 'acme/shop', fingerprint: 'cause-2', version: String(twin?.version) };
  const merged = await postForm(opened.app, '/causes', { ...key, what: 'merged', into: 'cause-1' });
  expect(merged.headers.location).toMatch(/^\/failures\/cause-1\?done=merged/);
  expect((await getPage(opened.app, '/causes')).body).not.toContain('/failures/cause-2');
  expect((await getPage(opened.app, '/failures/cause-2')).headers.location).toBe('/failures/cause-1');
  expect((await opened.stores.insights.cause('cause-1', '2099-01-02T00:00:00.000Z'))?.cause.builds).toBe(6);
  const before = (await causeNow())?.lastAt ?? '';
  await failAgain(7, 'cause-2', '2099-01-03T00:00:00.000Z');
  const since = (await causeNow())?.lastAt ?? '';
  expect(since > before).toBe(true);
  const { body } = await getPage(opened.app, String(merged.headers.location));
  expect(body).toContain('Merged into it:');
  const again = { ...key, version: String((await causeNow('cause-2'))?.version), what: 'unmerged' };
  expect((await postForm(opened.app, '/causes', again)).statusCode).toBe(303);
  expect((await getPage(opened.app, '/causes')).body).toContain('/failures/cause-2');
  expect(((await causeNow())?.lastAt ?? '') < since).toBe(true);
});

it('a cause keeps what was merged into it before, when its own merge is undone', async () => {
  await failAgain(8, 'cause-3', '2026-10-17T00:00:00.000Z');
  const merge = async (fingerprint: string, into: string) => {
    const version = String((await causeNow(fingerprint))?.version);
    const key = { repository: 'acme/shop', fingerprint, version };
    return await postForm(opened.app, '/causes', { ...key, what: 'merged', into });
  };
  await merge('cause-3', 'cause-2');
  const second = await merge('cause-2', 'cause-1');
  expect((await causeNow('cause-3'))?.mergedInto).toBe('cause-1');
  const at = new URL(String(second.headers.location), 'http://localhost').searchParams.get('at') ?? '';
  expect((await postForm(opened.app, '/causes/undo', { at })).statusCode).toBe(303);
  expect((await causeNow('cause-2'))?.mergedInto).toBeNull();
  expect((await causeNow('cause-3'))?.mergedInto).toBe('cause-2');
});

it('a cause is not merged into itself, or into one of another repository', async () => {
  expect((await change({ what: 'merged', into: 'cause-1' })).body).toContain('merged into itself');
  expect((await change({ what: 'merged', into: 'nowhere' })).body).toContain('There is no cause nowhere');
});

async function pick(...fingerprints: readonly string[]) {
  const causes = await Promise.all(fingerprints.map(async (one) => await causeNow(one)));
  return causes.map(
    (one) => `${one?.version} ${encodeURIComponent(one?.repository ?? '')} ${one?.fingerprint}`,
  );
}

it('several causes are changed with one form, and all of it is undone with another', async () => {
  const done = await postForm(opened.app, '/causes/bulk', {
    pick: await pick('cause-1', 'cause-2'),
    what: 'assigned',
    assignee: 'grace',
    back: '/causes?repo=acme%2Fshop',
  });
  expect(done.headers.location).toMatch(/^\/causes\?repo=acme%2Fshop&done=assigned&n=2&at=/);
  expect((await causeNow('cause-2'))?.assignee).toBe('grace');
  const { body } = await getPage(opened.app, String(done.headers.location));
  expect(body).toContain('2 causes: assigned.');
  const at = new URL(String(done.headers.location), 'http://x').searchParams.get('at') ?? '';
  const undone = await postForm(opened.app, '/causes/undo', { at, back: '/causes' });
  expect(undone.headers.location).toBe('/causes?done=undone&n=2');
  expect([(await causeNow())?.assignee, (await causeNow('cause-2'))?.assignee]).toEqual([null, null]);
  expect((await postForm(opened.app, '/causes/undo', { at })).statusCode).toBe(409);
});

it('a cause of several repositories is one row, which is selected as a whole', async () => {
  for (const [number, repository] of [
    [70, 'acme/one'],
    [71, 'acme/two'],
    [72, 'acme/three'],
    [73, 'acme/four'],
  ] as const)
    await tell(opened.stores, {
      number,
      repository,
      fingerprint: 'everywhere',
      confidence: 0.9,
      at: new Date().toISOString(),
    });
  const { body } = await getPage(opened.app, '/causes');
  const rows = body.split('<tr ').filter((row) => row.includes('/failures/everywhere'));
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatch(/acme\/\w+, acme\/\w+, acme\/\w+ and 1 more/);
  const pick = /name="pick" value="([^"]+)"/.exec(rows[0] ?? '')?.[1] ?? '';
  await postForm(opened.app, '/causes/bulk', { pick, what: 'acknowledged' });
  const states = (await opened.stores.causes.ofFingerprint('everywhere')).map(({ state }) => state);
  expect(states).toEqual(Array(4).fill('acknowledged'));
});

it('each list begins with a summary of its content', async () => {
  expect((await getPage(opened.app, '/causes?list=mine')).body).toMatch(
    /<h2>(?:No cause is yours|\d+ causes? (?:is|are) yours)/,
  );
  expect((await getPage(opened.app, '/causes?list=muted')).body).toContain('<h2>No cause is muted</h2>');
});

it('a cause that changed at the same time is left alone and reported; an empty selection is an error', async () => {
  const [first, second] = await pick('cause-1', 'cause-2');
  await change({ what: 'acknowledged' });
  const fields = { pick: [first ?? '', second ?? ''], what: 'taken' };
  const done = await postForm(opened.app, '/causes/bulk', fields);
  expect(done.headers.location).toMatch(/done=assigned&n=1&left=1/);
  expect((await getPage(opened.app, String(done.headers.location))).body).toContain(
    '1 cause changed meanwhile',
  );
  expect((await postForm(opened.app, '/causes/bulk', { what: 'taken' })).body).toContain(
    'Select at least one',
  );
});

it('only pages of the console are offered as the way back', async () => {
  for (const back of ['//evil.example/causes', 'https://evil.example', '/settings']) {
    const fields = { pick: await pick('cause-1'), what: 'acknowledged', back };
    const { headers, statusCode } = await postForm(opened.app, '/causes/bulk', fields);
    expect([statusCode, String(headers.location)]).toEqual([303, expect.stringMatching(/^\/causes\?/)]);
  }
});

it('filters offer existing values with counts, accept typed ones, and keep the scope in links', async () => {
  const { body } = await getPage(opened.app, '/causes?repo=acme%2Fshop&days=366');
  expect(body).toMatch(/<option value="Category: [^"]+" label="\d+">/);
  expect(body).toContain('aria-label="Remove Repository: acme/shop"');
  expect(body).toContain('href="/builds?repo=acme%2Fshop&amp;days=366"');
  const typed = await getPage(opened.app, '/causes?filter=Repository%3A%20acme%2Fshop');
  expect(typed.headers.location).toBe('/causes?repo=acme%2Fshop');
  const words = await getPage(opened.app, '/causes?filter=nothing%20like%20this');
  expect(words.headers.location).toBe('/causes?words=nothing+like+this');
  expect((await getPage(opened.app, '/causes?words=nothing+like+this')).body).toContain('Remove the filters');
});

it('the list is written as CSV, with the filters of the page', async () => {
  const { body, headers } = await getPage(opened.app, '/causes?csv=1&repo=acme%2Fshop');
  expect(headers['content-type']).toContain('text/csv');
  expect(body.split('\r\n')[0]).toContain('title,repository,category,state');
  expect(body).toContain('cause-2');
});

it('the palette finds causes, repositories and tests', async () => {
  const { body } = await getPage(opened.app, '/go?q=acme');
  expect(body).toContain('repository');
  const asked = await getPage(opened.app, '/go?q=where+is+addTax%3F');
  expect(asked.body).toMatch(/href="\/ask\?question=where[^"]*addTax%3F">Ask: where is addTax\?/);
  expect((await getPage(opened.app, '/go?q=x')).body).toBe('<ul class="flow"></ul>');
});

it.each([
  [{ what: 'muted', days: '7' }, 'reason required, but missing'],
  [{ what: 'muted', days: '7', reason: '  ' }, 'reason must say why'],
  [{ what: 'muted', days: 'soon', reason: 'x' }, 'days must be a number of days'],
  [{ what: 'muted', days: '1.5', reason: 'x' }, 'days must be whole days'],
  [{ what: 'linked', ticket: 'JIRA 12' }, 'ticket must be an address that begins with https:// or http://'],
  [{ what: 'linked', ticket: 'https://tickets.example/1 and more' }, 'ticket must be an address'],
  [{ what: 'linked', ticket: 'https://me:pass@tickets.example/1' }, 'without a password'],
])('the form refuses %j', async (fields, says) => {
  const { statusCode, body } = await change(fields);
  expect(statusCode).toBe(400);
  expect(body.replaceAll(/&quot;|["“”:]/g, '')).toContain(says.replaceAll(':', ''));
});
