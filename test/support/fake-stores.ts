import type { HttpDeps } from '../../src/api/server.ts';
import { type Build, type TestResult, WHOLE_BUILD } from '../../src/domain/build.ts';
import type { TriageJob } from '../../src/domain/triage.ts';
import type { DeliveryKey, DeliveryState } from '../../src/stores/deliveries.ts';
import type { Stores } from '../../src/stores/stores.ts';
import { createEmptyHttpDeps, createRecordingLogger, type LogLine } from './http-deps.ts';

/** A delivery as the fake stores it. */
interface Kept extends DeliveryKey {
  readonly event: string;
  readonly bodySha256: string;
  buildId: string | null;
  intake: unknown;
  state: DeliveryState;
  attempts: number;
}

/** The data that a fake installation received, for assertions. */
export interface FakeState {
  readonly deliveries: Kept[];
  readonly builds: Build[];
  readonly jobs: TriageJob[];
  readonly results: Map<string, readonly TestResult[]>;
  readonly archive: Map<string, string>;
  readonly enqueued: string[];
  /** `<build id> <part>` */
  readonly failedParts: Set<string>;
  /** The ids of passed builds whose logs become templates. */
  readonly passingBuilds: Set<string>;
  /** `<provider> <repository>` → branch */
  readonly defaultBranches: Map<string, string>;
  readonly log: LogLine[];
}

/** Clears everything that the fake installation received, so that the next test can use the same server. */
export function clearState(state: FakeState): void {
  for (const kept of Object.values(state)) {
    if (Array.isArray(kept)) kept.length = 0;
    else kept.clear();
  }
}

/**
 * Creates HTTP dependencies whose stores live in memory, for tests in which SQL does not matter. Transactions
 * roll nothing back.
 */
export function createFakeHttpDeps(changes: Partial<HttpDeps> = {}): {
  readonly deps: HttpDeps;
  readonly state: FakeState;
} {
  const state: FakeState = {
    deliveries: [],
    builds: [],
    jobs: [],
    results: new Map(),
    archive: new Map(),
    enqueued: [],
    failedParts: new Set(),
    passingBuilds: new Set(),
    defaultBranches: new Map(),
    log: [],
  };
  const empty = createEmptyHttpDeps();
  const deps: HttpDeps = {
    ...empty,
    logger: createRecordingLogger(state.log),
    stores: withFakes(empty.stores, {
      deliveries: createFakeDeliveries(state),
      builds: createFakeBuilds(state, empty),
      triages: createFakeTriages(state, empty),
      passingBuilds: createFakePassingBuilds(state, empty),
      work: createFakeWork(state, empty),
      notices: { ...empty.stores.notices, changed: async () => false },
    }),
    database: {
      ...empty.database,
      driver: 'pglite',
      transaction: async (work) => work({ query: async () => [] }),
    },
    archive: {
      ...empty.archive,
      list: async (buildId) =>
        [...state.archive.keys()]
          .filter((kept) => kept.startsWith(`${buildId}/`))
          .map((kept) => ({
            name: kept.slice(buildId.length + 1),
            kind: 'log' as const,
            notes: [],
            lines: 0,
            bytes: 0,
          })),
      put: async (buildId, source) => void state.archive.set(`${buildId}/${source.name}`, source.text),
    },
    notifier: { notify: (_topic, key) => void state.enqueued.push(key), settle: async () => undefined },
    ...changes,
  };
  return { deps, state };
}

/**
 * Replaces some stores and keeps the others. The stores without a database are a proxy, whose properties a
 * spread would lose.
 */
function withFakes(original: Stores, fakes: Partial<Stores>): Stores {
  return new Proxy(original, {
    get: (target, name) => Reflect.get(fakes, name) ?? Reflect.get(target, name),
  });
}

function createFakeDeliveries(state: FakeState): Stores['deliveries'] {
  const at = ({ source, deliveryId }: DeliveryKey) =>
    state.deliveries.find((kept) => kept.source === source && kept.deliveryId === deliveryId);
  const keep = (delivery: Omit<Kept, 'attempts'>) => {
    if (at(delivery) !== undefined) return false;
    state.deliveries.push({ ...delivery, attempts: 0 });
    return true;
  };
  const landed = (key: DeliveryKey) => {
    const kept = at(key);
    return kept?.state === 'landed' ? kept : null;
  };
  return {
    find: async (source, deliveryId) => {
      const kept = at({ source, deliveryId });
      return kept === undefined ? null : { ...kept, receivedAt: new Date(0).toISOString() };
    },
    insertOnce: async (delivery) => keep({ ...delivery, intake: null, state: 'recorded' }),
    store: async (deliveries) =>
      deliveries.map((delivery) => keep({ ...delivery, buildId: null, state: 'landed' })),
    requeue: async (delivery) => {
      const kept = at(delivery);
      if (kept?.state !== 'refused') return false;
      return Object.assign(kept, { state: 'landed', attempts: 0 }) !== undefined;
    },
    listPending: async () => state.deliveries.filter((kept) => kept.state === 'landed'),
    read: async (key) => landed(key),
    claim: async (key) => landed(key),
    markRecorded: async (key, buildId) => {
      const kept = landed(key);
      return kept !== null && Object.assign(kept, { state: 'recorded', buildId, intake: null }) !== undefined;
    },
    postpone: async (key, { attempts, refuse }) => {
      const kept = landed(key);
      return (
        kept !== null && Object.assign(kept, { attempts, state: refuse ? 'refused' : 'landed' }) !== undefined
      );
    },
    backlog: async () => ({
      landed: state.deliveries.filter((kept) => kept.state === 'landed').length,
      oldestMs: null,
      refused: 0,
      refusal: null,
    }),
  };
}

function createFakeBuilds(state: FakeState, empty: HttpDeps): Stores['builds'] {
  return {
    ...empty.stores.builds,
    upsert: async (build) => {
      const at = state.builds.findIndex(
        (known) =>
          known.provider === build.provider &&
          known.repository === build.repository &&
          known.attempt === build.attempt &&
          ((known.pipeline === build.pipeline && known.number === build.number) ||
            (known.externalId !== null && known.externalId === build.externalId)),
      );
      const known = state.builds[at];
      if (known === undefined) {
        const created = {
          ...build,
          id: `bld_${state.builds.length + 1}`,
          receivedAt: new Date(0).toISOString(),
        };
        state.builds.push(created);
        return { build: created, created: true };
      }
      const provisional = known.number === known.externalId || known.number === `run ${known.externalId}`;
      const changed = {
        ...known,
        ...(provisional ? { pipeline: build.pipeline, number: build.number } : {}),
        status: known.status === 'unknown' ? build.status : known.status,
        finishedAt: known.finishedAt ?? build.finishedAt,
      };
      state.builds[at] = changed;
      return { build: changed, created: false };
    },
    find: async (id) => state.builds.find((build) => build.id === id) ?? null,
    list: async ({ urls }) => state.builds.filter(({ url }) => url !== null && urls?.includes(url)),
    addFailedPart: async (buildId, part) => {
      const known = [part, WHOLE_BUILD].some((one) => state.failedParts.has(`${buildId} ${one}`));
      state.failedParts.add(`${buildId} ${part}`);
      return !known;
    },
    findByExternalId: async ({ repository, externalId, attempt }) =>
      state.builds
        .filter((build) => build.repository === repository && build.externalId === externalId)
        .findLast((build) => attempt === undefined || build.attempt === attempt) ?? null,
    saveTestResults: async (buildId, results) => void state.results.set(buildId, results),
  };
}

function createFakeTriages(state: FakeState, empty: HttpDeps): Stores['triages'] {
  const findByBuild = async (buildId: string) => state.jobs.find((job) => job.buildId === buildId) ?? null;
  return {
    ...empty.stores.triages,
    findByBuild,
    request: async (buildId) => {
      const at = state.jobs.findIndex((job) => job.buildId === buildId);
      const known = state.jobs[at];
      if (known !== undefined) {
        const again: TriageJob = { ...known, requested: known.requested + 1 };
        state.jobs[at] = again;
        return again;
      }
      const now = new Date(0).toISOString();
      const job: TriageJob = {
        buildId,
        state: 'queued',
        attempts: 0,
        retries: 0,
        requested: 1,
        fetched: 0,
        error: null,
        traceparent: null,
        createdAt: now,
        updatedAt: now,
      };
      state.jobs.push(job);
      return job;
    },
  };
}

function createFakeWork(state: FakeState, empty: HttpDeps): Stores['work'] {
  return {
    ...empty.stores.work,
    add: async (entries) => entries.length,
    addOnce: async (entries) => {
      for (const { key } of entries) state.passingBuilds.add(key);
    },
  };
}

function createFakePassingBuilds(state: FakeState, empty: HttpDeps): Stores['passingBuilds'] {
  return {
    ...empty.stores.passingBuilds,
    saveDefaultBranch: async ({ provider, repository, branch }) =>
      void state.defaultBranches.set(`${provider} ${repository}`, branch),
  };
}

/** Resolves when the relay has created builds from all deliveries, and has enqueued their triage. */
export async function waitForRelay(state: Pick<FakeState, 'deliveries'>): Promise<void> {
  let tries = 0;
  do {
    if (tries++ > 1000) throw new Error('a delivery stayed landed');
    await new Promise((resolve) => setTimeout(resolve, 1));
  } while (state.deliveries.some((kept) => kept.state === 'landed'));
}
