import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listEventSettings, openChannels } from '../../src/app/open-channels.ts';
import { createEmbeddedPreset, loadConfig } from '../../src/config/load.ts';
import type { Analysis } from '../../src/domain/analysis.ts';
import type { Build } from '../../src/domain/build.ts';
import { createId } from '../../src/domain/ids.ts';
import type { DecisionInput } from '../../src/domain/review.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { decideReview } from '../../src/service/review/decide.ts';
import { undoDecision } from '../../src/service/review/undo.ts';
import { createStores, type Stores } from '../../src/stores/stores.ts';
import { drainWork } from '../../src/work/process-items.ts';
import { sampleAnalysis, sampleBuild, sampleGroup, sampleReview } from '../stores/samples.ts';
import { type LoopbackServer, startLoopback } from '../support/loopback-server.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { listSchemaErrors } from '../support/published-schemas.ts';
import { sampleGrade } from '../support/sample-grade.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const TOPIC = 'publish:webhook-events';

let db: TestDatabase;
let receiver: LoopbackServer;
let received: { readonly headers: Record<string, string>; readonly body: string }[];
let status: number;
beforeAll(async () => {
  db = await openTestDatabase();
});
afterAll(async () => db.dispose());
beforeEach(async () => {
  received = [];
  status = 204;
  receiver = await startLoopback((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
      received.push({ headers: Object.fromEntries(headers), body: Buffer.concat(chunks).toString('utf8') });
      response.writeHead(status).end();
    });
  });
});
afterEach(async () => {
  await receiver.close();
  await db.query('delete from work');
});

/** A service whose webhook is set to this format and these events. */
function serve(format: string, undoMs = 0) {
  const loaded = loadConfig(
    createEmbeddedPreset('/data', '/knowledge'),
    {
      FAULTLINE_PUBLISH_WEBHOOK_URL: receiver.url,
      FAULTLINE_PUBLISH_WEBHOOK_SECRET: SECRET,
      FAULTLINE_PUBLISH_WEBHOOK_FORMAT: format,
    },
    () => '',
  );
  const config = { ...loaded, review: { ...loaded.review, undoMs } };
  const stores = createStores(db, systemClock, undefined, [], listEventSettings(config));
  const parts = { stores, masker: createMasker(), clock: systemClock, logger: silentLogger };
  return {
    stores,
    decisions: { ...parts, database: db, undoMs },
    /** Sends what is due. */
    drain: async () => {
      const { handlers } = await openChannels(config, parts);
      for (const handler of handlers.filter(({ topic }) => topic === TOPIC))
        await drainWork(handler, { ...parts, work: stores.work }, new AbortController().signal);
    },
    /** Makes all that waits due. */
    wait: async () => void (await db.query('update work set due_at = now(), free_at = now()')),
    entry: async (key: string) => await stores.work.find(TOPIC, key),
  };
}

type Service = ReturnType<typeof serve>;

async function answer(stores: Stores): Promise<{ build: Build; analysis: Analysis; reviewId: string }> {
  const { build } = await stores.builds.upsert(
    sampleBuild({ number: createId('bld'), url: 'https://ci.example/acme/shop/57' }),
  );
  const [group] = await stores.failures.saveGroups(build.id, [sampleGroup(build.id, 'f00d')]);
  const triage = await stores.triages.open(build.id, 'f00d');
  const failureIds = (group?.failures ?? []).map(({ id }) => id);
  const { analysis } = await stores.analyses.insertOnce(
    sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint: 'f00d' }, { failureIds }),
  );
  const review = await stores.reviews.open(sampleReview(analysis));
  return { build, analysis, reviewId: review.id };
}

async function decide({ decisions }: Service, reviewId: string, input: DecisionInput) {
  const version = (await decisions.stores.reviews.find(reviewId))?.version ?? 1;
  const { review } = await decideReview(decisions, { reviewId, version, reviewer: 'grace', input });
  return review.decision?.id ?? '';
}

async function undo({ decisions }: Service, reviewId: string) {
  await undoDecision(decisions, { reviewId, reviewer: 'grace', isAdmin: false });
}

const Message = z.looseObject({ type: z.string(), data: z.record(z.string(), z.unknown()) });

/** The messages that arrived, each verified by the library of Standard Webhooks. */
function verifyReceived() {
  return received.map(({ headers, body }) => ({
    id: headers['webhook-id'],
    contentType: headers['content-type'],
    message: Message.parse(new Webhook(SECRET).verify(body, headers)),
  }));
}

const CORRECTION: DecisionInput = {
  type: 'correct',
  category: 'CONFIG_ERROR',
  rootCause: 'TAX_TABLE is not set. The password is hunter2-hunter2.',
};

describe('a decision', () => {
  it("is sent once, signed, with the reviewer's correction", async () => {
    const service = serve('decisions');
    const { build, analysis, reviewId } = await answer(service.stores);
    const id = await decide(service, reviewId, CORRECTION);
    await service.drain();
    await service.drain();

    const [sent, ...more] = verifyReceived();
    expect(more).toEqual([]);
    expect(sent).toMatchObject({
      id: `webhook:${id}`,
      contentType: 'application/json',
      message: {
        type: 'decision.made',
        data: {
          build: { id: build.id, repository: 'acme/shop' },
          analysis: { id: analysis.id, category: analysis.category },
          decision: { id, type: 'correct', reviewer: 'grace', category: 'CONFIG_ERROR', reason: null },
          undone: null,
        },
      },
    });
    expect(received[0]?.body).toContain('TAX_TABLE is not set.');
    expect(received[0]?.body).not.toContain('hunter2');
    expect(() => new Webhook(SECRET).verify(`${received[0]?.body} `, received[0]?.headers ?? {})).toThrow(
      'No matching signature found',
    );
  });

  it('on several items is sent as one event each', async () => {
    const service = serve('decisions');
    const first = await answer(service.stores);
    const second = await answer(service.stores);
    const version = (await service.stores.reviews.find(first.reviewId))?.version ?? 1;
    const request = { reviewId: first.reviewId, version, reviewer: 'grace', also: [second.reviewId] };
    await decideReview(service.decisions, {
      ...request,
      input: { type: 'accept' },
      alsoFor: 'same-fingerprint',
    });
    await service.drain();
    const about = verifyReceived().map(
      ({ message }) => z.object({ id: z.string() }).parse(message.data.build).id,
    );
    expect(about.toSorted()).toEqual([first.build.id, second.build.id].toSorted());
  });

  it('that was undone after it was sent is followed by an event of its own', async () => {
    const service = serve('decisions,cloudevents');
    const { analysis, reviewId } = await answer(service.stores);
    const id = await decide(service, reviewId, { type: 'reject', reasonCode: 'not_a_failure' });
    await service.drain();
    await undo(service, reviewId);
    await service.drain();
    expect(verifyReceived()).toMatchObject([
      { id: `webhook:${id}`, message: { type: 'io.faultline.decision.made', subject: analysis.id } },
      {
        id: `webhook:${id}:undone`,
        contentType: 'application/cloudevents+json',
        message: {
          type: 'io.faultline.decision.undone',
          data: { decision: { id, type: 'reject' }, undone: { by: 'grace' } },
        },
      },
    ]);
    for (const { message } of verifyReceived()) expect(listSchemaErrors('cloudevents', message)).toEqual([]);
  });

  it('that was undone before it was sent is not sent', async () => {
    const service = serve('decisions', 60_000);
    const { reviewId } = await answer(service.stores);
    const id = await decide(service, reviewId, { type: 'accept' });
    await undo(service, reviewId);
    await service.drain();
    expect(received).toEqual([]);
    await service.wait();
    await service.drain();
    await service.wait();
    await service.drain();
    expect(received).toEqual([]);
    expect(await service.entry(`webhook:${id}`)).toMatchObject({ outcome: 'superseded' });
    expect(await service.entry(`webhook:${id}:undone`)).toMatchObject({ outcome: 'superseded' });
  });

  it('that was undone while it may have arrived is reported as undone', async () => {
    const service = serve('decisions');
    const { reviewId } = await answer(service.stores);
    status = 503;
    const id = await decide(service, reviewId, { type: 'accept' });
    await service.drain();
    await undo(service, reviewId);
    status = 204;
    for (const _ of [1, 2, 3]) {
      await service.wait();
      await service.drain();
    }
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([
      `webhook:${id}`,
      `webhook:${id}:undone`,
    ]);
  });

  it('is stored and sent again, with the same id, while the receiver is down', async () => {
    const service = serve('decisions');
    const { reviewId } = await answer(service.stores);
    status = 503;
    const id = await decide(service, reviewId, { type: 'accept' });
    await service.drain();
    expect(await service.entry(`webhook:${id}`)).toMatchObject({ outcome: null, retries: 1 });
    status = 204;
    await service.wait();
    await service.drain();
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([`webhook:${id}`, `webhook:${id}`]);
    expect(await service.entry(`webhook:${id}`)).toMatchObject({ outcome: 'done' });
  });

  it('is stored in one transaction with its event', async () => {
    const service = serve('decisions');
    const { reviewId } = await answer(service.stores);
    const failpoint = () => {
      throw new Error('the process died');
    };
    const request = { reviewId, version: 1, reviewer: 'grace', input: { type: 'accept' } as const };
    await expect(decideReview({ ...service.decisions, failpoint }, request)).rejects.toThrow('died');
    expect((await service.stores.reviews.find(reviewId))?.decision).toBeNull();
    expect((await service.stores.work.waiting(TOPIC)).count).toBe(0);
  });
});

describe('an outcome', () => {
  it('is sent once for the build that passed', async () => {
    const service = serve('cdevents,outcomes');
    const { build, analysis } = await answer(service.stores);
    const graded = sampleGrade(build);
    await service.stores.grades.save(analysis, build, graded);
    await service.stores.grades.save(analysis, build, graded);
    await service.drain();
    const [sent, ...more] = verifyReceived();
    expect(more).toEqual([]);
    expect(sent).toMatchObject({
      id: `webhook:${analysis.id}:${graded.mend.green.id}`,
      message: {
        type: 'io.faultline.outcome.graded',
        data: {
          outcome: {
            endedBy: 'change',
            passedBuild: { id: graded.mend.green.id },
            files: ['deploy/values.yaml'],
            grades: [{ question: 'category', grade: 'right', because: 'code was changed' }],
          },
        },
      },
    });
    expect(listSchemaErrors('cloudevents', sent?.message)).toEqual([]);
  });

  it('of an imported build is not sent', async () => {
    const service = serve('outcomes');
    const { build, analysis } = await answer(service.stores);
    await db.query('update builds set imported_at = now() where id = $1', [build.id]);
    await service.stores.grades.save(analysis, build, sampleGrade(build));
    expect((await service.stores.work.waiting(TOPIC)).count).toBe(0);
  });
});

it('a receiver that did not request decisions and outcomes gets neither', async () => {
  const service = serve('cloudevents');
  const { build, analysis, reviewId } = await answer(service.stores);
  await decide(service, reviewId, { type: 'accept' });
  await undo(service, reviewId);
  await service.stores.grades.save(analysis, build, sampleGrade(build));
  expect((await service.stores.work.waiting(TOPIC)).count).toBe(0);
});

const DOCUMENTATION = readFileSync(resolve(import.meta.dirname, '../../docs/reference/events.md'), 'utf8');

/** The example bodies on the page, by type. */
function readExamples() {
  const blocks = [...DOCUMENTATION.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text]) => text ?? '');
  const parsed = blocks.map((text) => Message.partial().parse(JSON.parse(text)));
  return new Map(parsed.map((message) => [message.type, message]));
}

/** The names of all fields, with those of the objects within. */
function listFields(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.slice(0, 1).flatMap((one) => listFields(one, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, one]) => listFields(one, `${path}.${name}`));
}

it('the events contain the fields that the documentation shows', async () => {
  const service = serve('decisions,outcomes');
  const { build, analysis, reviewId } = await answer(service.stores);
  await decide(service, reviewId, CORRECTION);
  await service.drain();
  await undo(service, reviewId);
  await service.drain();
  await service.stores.grades.save(analysis, build, sampleGrade(build));
  await service.drain();
  const examples = readExamples();
  const types = ['decision.made', 'decision.undone', 'outcome.graded'];
  expect(verifyReceived().map(({ message }) => message.type)).toEqual(types);
  for (const { message } of verifyReceived())
    expect(listFields(examples.get(message.type))).toEqual(listFields(message));
});
