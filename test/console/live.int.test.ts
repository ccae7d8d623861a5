import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAX_STREAMS } from '../../src/api/limits.ts';
import { buildHttp } from '../../src/api/server.ts';
import { digestOfToken, makeToken } from '../../src/domain/access.ts';
import { sampleBuild } from '../stores/samples.ts';
import { openConsole, type TestConsole, TOKENS } from '../support/console.ts';
import { createEmptyHttpDeps } from '../support/http-deps.ts';
import { createStoredAsk } from '../support/stored-ask.ts';

let console: TestConsole;
let address: string;
const scoped = makeToken();
let number = 0;

beforeAll(async () => {
  console = await openConsole();
  address = await console.app.listen({ host: '127.0.0.1', port: 0 });
  const kept = { createdBy: 'test', expiresInDays: null, roles: ['read'] as const };
  await console.stores.tokens.keep({
    ...kept,
    name: 'one',
    digest: digestOfToken(scoped),
    repositories: ['acme/*'],
  });
});
afterAll(async () => await console.close());

const bring = async (repository: string) => {
  number += 1;
  return (await console.stores.builds.upsert(sampleBuild({ repository, number: String(number) }))).build.id;
};

/** A stream of events, with how many changes it told so far, and whether it has ended. */
async function follow(query = '', { token = TOKENS.read as string, at = address } = {}) {
  const gone = new AbortController();
  const answer = await fetch(`${at}/events?${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: gone.signal,
  });
  const heard = { status: answer.status, type: answer.headers.get('content-type'), text: '', ended: false };
  const read = async () => {
    for await (const piece of answer.body ?? []) heard.text += Buffer.from(piece).toString();
  };
  const reading = read()
    .catch(() => undefined)
    .finally(() => Object.assign(heard, { ended: true }));
  const changes = () => heard.text.split('event: change').length - 1;
  return { heard, changes, reading, leave: () => gone.abort() };
}

/** Longer than two looks. */
const QUIET_MS = 2_500;

it('65: a change is sent to those who may see it and to those who follow that build', async () => {
  const build = await bring('acme/shop');
  await sleep(1_100);
  const streams = {
    all: await follow(),
    theirs: await follow('', { token: scoped }),
    build: await follow(`build=${build}`),
    other: await follow('build=bld_other'),
  };
  await sleep(QUIET_MS);
  const before = Object.fromEntries(Object.entries(streams).map(([name, { changes }]) => [name, changes()]));
  await bring('other/secret');
  await sleep(QUIET_MS);
  const told = () =>
    Object.entries(streams).flatMap(([name, { changes }]) => (changes() > (before[name] ?? 0) ? [name] : []));
  expect(told()).toEqual(['all']);
  await console.stores.triages.request(build);
  await expect.poll(told, { timeout: 5_000 }).toEqual(['all', 'theirs', 'build']);
  expect(streams.all.heard.type).toBe('text/event-stream; charset=utf-8');
  // That something changed, and nothing of what.
  for (const { heard } of Object.values(streams))
    expect(heard.text.replaceAll(/^(retry: \d+|event: change|data: |:.*)$/gm, '').trim()).toBe('');
  for (const { leave } of Object.values(streams)) leave();
});

it('65: changes during the loading of a page are sent at once, or a note that some are unknown', async () => {
  await bring('acme/shop');
  const missed = await follow('age=5000', { token: scoped });
  await expect.poll(missed.changes, { timeout: 700 }).toBe(1);
  const old = await follow('age=900000&build=bld_other');
  await expect.poll(old.changes, { timeout: 700 }).toBe(1);
  for (const one of [missed, old]) one.leave();
});

it('65: two processes with one database report the changes of both, and a stop ends all streams at once', async () => {
  const { stores, database } = console;
  const other = await buildHttp({ ...createEmptyHttpDeps(), stores, database, ask: createStoredAsk(stores) });
  const at = await other.listen({ host: '127.0.0.1', port: 0 });
  const streams = [await follow('', { at }), await follow()];
  await sleep(QUIET_MS);
  const before = streams.map(({ changes }) => changes());
  await bring('acme/shop');
  for (const [nth, { changes }] of streams.entries())
    await expect.poll(changes, { timeout: 5_000 }).toBeGreaterThan(before[nth] ?? 0);
  const began = performance.now();
  const closing = other.close();
  await streams[0]?.reading;
  // Connections that are kept alive may last for two seconds more.
  expect(performance.now() - began).toBeLessThan(1_500);
  await closing;
  expect(streams.map(({ heard }) => heard.ended)).toEqual([true, false]);
  streams[1]?.leave();
});

it('65: the number of streams of one user is limited, and a place is free again when one is closed', async () => {
  await sleep(100);
  const open = await Promise.all(Array.from({ length: MAX_STREAMS }, async () => await follow()));
  expect(new Set(open.map(({ heard }) => heard.status))).toEqual(new Set([200]));
  expect((await follow()).heard.status).toBe(429);
  const other = await follow('', { token: scoped });
  expect(other.heard.status).toBe(200);
  for (const one of [other, ...open]) one.leave();
  await expect.poll(async () => (await follow()).heard.status, { timeout: 5_000 }).toBe(200);
});
