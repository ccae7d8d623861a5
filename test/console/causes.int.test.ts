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
  expect(done.headers.location).toBe(`/failures/cause-1?done=${fields.what}#standing`);
  const { body } = await getPage(opened.app, String(done.headers.location));
  const form = /<form[^>]*>(?:(?!<\/form>).)*Undo: (?:(?!<\/form>).)*<\/form>/s.exec(body)?.[0] ?? '';
  expect(form).toContain(words);
  const taken = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
    name ?? '',
    value ?? '',
  ]);
  expect((await postForm(opened.app, '/causes', Object.fromEntries(taken))).statusCode).toBe(303);
  return body;
}

it('mutes a cause with a reason, says so, and takes it back', async () => {
  const body = await undo(
    { what: 'muted', days: '7', reason: ' waits for a release ' },
    ': waits for a release',
  );
  expect(body).toContain('Muted. Undo it below.');
  expect((await opened.stores.causes.ofFingerprint('cause-1'))[0]?.mutedUntil).toBeNull();
});

it('links a ticket, and takes back the one before it', async () => {
  await change({ what: 'linked', ticket: 'https://tickets.example/1' });
  const body = await undo(
    { what: 'linked', ticket: 'https://tickets.example/2' },
    'linked to https://tickets.example/2',
  );
  expect(body).toContain('Ticket linked. Undo it below.');
  expect((await opened.stores.causes.ofFingerprint('cause-1'))[0]?.ticket).toBe('https://tickets.example/1');
  await change({ what: 'unlinked' });
  await undo({ what: 'linked', ticket: 'https://tickets.example/3' }, 'https://tickets.example/3');
  expect((await opened.stores.causes.ofFingerprint('cause-1'))[0]?.ticket).toBeNull();
});

it.each([
  [{ what: 'muted', days: '7' }, 'reason required, but missing'],
  [{ what: 'muted', days: '7', reason: '  ' }, 'reason must say why'],
  [{ what: 'muted', days: 'soon', reason: 'x' }, 'days must be a number of days'],
  [{ what: 'muted', days: '1.5', reason: 'x' }, 'days must be whole days'],
  [{ what: 'linked', ticket: 'JIRA 12' }, 'ticket must be an address that begins with https:// or http://'],
  [{ what: 'linked', ticket: 'https://tickets.example/1 and more' }, 'ticket must be an address'],
  [{ what: 'linked', ticket: 'https://me:pass@tickets.example/1' }, 'without a password'],
])('refuses %j', async (fields, says) => {
  const { statusCode, body } = await change(fields);
  expect(statusCode).toBe(400);
  expect(body.replaceAll(/&quot;|["“”:]/g, '')).toContain(says.replaceAll(':', ''));
});
