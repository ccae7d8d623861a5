import { beforeEach, describe, expect, it } from 'vitest';
import type { Build, SourceText } from '../../../src/domain/build.ts';
import { TriageError } from '../../../src/domain/errors.ts';
import type { TriageJob } from '../../../src/domain/triage.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import type { BuildArchive } from '../../../src/ports/build-archive.ts';
import type { FetchedBuild } from '../../../src/ports/build-source.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { type GatherDeps, gatherSources } from '../../../src/service/triage/read-build.ts';
import { createMemoryArchive } from '../../../src/stores/archive/memory.ts';
import { sampleBuild } from '../../support/subject.ts';

const build = { ...sampleBuild(), provider: 'github' as const };
const createLog = (name: string, text: string): SourceText => ({ name, kind: 'log', text, notes: [] });
const createFetched = (...sources: SourceText[]): FetchedBuild => ({
  sources,
  testResults: [],
  notes: ['of the fetch'],
});
const never = new AbortController().signal;

let archive: BuildArchive;
let job: TriageJob;
let fetches = 0;
let deleted = false;
let fetch: () => Promise<FetchedBuild>;
beforeEach(() => {
  archive = createMemoryArchive();
  const at = '2026-01-05T10:00:00.000Z';
  job = {
    buildId: build.id,
    state: 'running',
    attempts: 1,
    retries: 0,
    requested: 2,
    fetched: 1,
    error: null,
    traceparent: null,
    createdAt: at,
    updatedAt: at,
  };
  fetches = 0;
  deleted = false;
  fetch = async () => createFetched(createLog('b.log', 'second'));
});

function gather(lastTry = false, of: Build = build, threads?: GatherDeps['threads']) {
  const deps: GatherDeps = {
    ...(threads !== undefined && { threads }),
    stores: {
      builds: {
        find: async () => (deleted ? null : of),
        saveTestResults: async () => undefined,
        saveShownSecrets: async () => undefined,
      },
      ciLinks: { saveLogPages: async () => undefined },
      pictures: { save: async () => undefined },
      triages: {
        findByBuild: async () => job,
        markFetched: async ({ requested }) => {
          job = { ...job, fetched: requested };
        },
      },
    },
    archive,
    masker: createMasker(),
    buildSources: {
      github: {
        provider: 'github',
        fetch: () => {
          fetches += 1;
          return fetch();
        },
        fetchGreen: async () => [],
      },
    },
    logger: silentLogger,
  };
  return gatherSources(of, deps, { signal: never, lastTry });
}

describe('the texts of a build', () => {
  it('are inventoried in threads if there are any', async () => {
    const survey = async ([first]: readonly SourceText[]) => ({
      read: first === undefined ? [] : [first],
      survey: null,
      notes: ['aside'],
    });
    await archive.put(build.id, createLog('a.log', 'first'));

    const { sources, notes } = await gather(false, build, {
      survey,
      read: () => Promise.reject(new Error('not asked')),
    });

    expect(sources).toEqual([createLog('b.log', 'second')]);
    expect(notes).toEqual(['of the fetch', 'aside']);
  });

  it('are fetched again if more is requested, and keep a log that is gone', async () => {
    await archive.put(build.id, createLog('a.log', 'first'));

    const { sources, notes } = await gather();

    expect(sources).toEqual([createLog('b.log', 'second'), createLog('a.log', 'first')]);
    expect(notes).toEqual(['of the fetch']);
    expect((await archive.list(build.id)).map(({ name }) => name).toSorted()).toEqual(['a.log', 'b.log']);
    expect(job.fetched).toBe(2);
  });
  it('are not stored if the build is deleted while they are fetched', async () => {
    fetch = async () => {
      deleted = true;
      return createFetched(createLog('a.log', 'first'));
    };

    await expect(gather()).rejects.toMatchObject({ code: 'not-found' });

    expect(await archive.list(build.id)).toEqual([]);
  });
  it('are taken from the archive once they cover what is pending', async () => {
    await gather();
    expect((await gather()).sources).toEqual([createLog('b.log', 'second')]);
    expect(fetches).toBe(1);
  });
  it('are fetched again after a fetch that was interrupted between two logs', async () => {
    fetch = async () => createFetched(createLog('a.log', 'first'), createLog('b.log', 'second'));
    const { put } = archive;
    archive.put = async (id, source) => {
      if (source.name === 'b.log') throw new TriageError('storage-failed', 'killed', { retryable: true });
      await put(id, source);
    };
    await expect(gather()).rejects.toThrow('killed');
    expect(job.fetched).toBe(1);

    archive.put = put;
    expect((await gather()).sources.map(({ name }) => name)).toEqual(['a.log', 'b.log']);
  });
  it('wait for a CI that may respond later, until the last attempt', async () => {
    await archive.put(build.id, createLog('a.log', 'first'));
    fetch = async () => {
      throw new TriageError('upstream-failed', 'GitHub did not answer', { retryable: true });
    };
    await expect(gather()).rejects.toThrow('GitHub');

    const { sources, notes } = await gather(true);
    expect(sources).toEqual([createLog('a.log', 'first')]);
    expect(notes).toEqual(['The log could not be read again: GitHub did not answer']);
  });

  describe('while the archive is down', () => {
    beforeEach(() => {
      const away = async () => {
        throw new TriageError('storage-failed', 'MongoDB does not answer', { retryable: true });
      };
      archive = { ...archive, read: away };
    });

    it('T29: are fetched from the CI, with a note', async () => {
      await archive.put(build.id, createLog('a.log', 'first'));

      const { sources, notes } = await gather();

      expect(sources.map(({ name }) => name)).toEqual(['b.log']);
      expect(notes).toEqual([
        'The archived logs of the build could not be read: MongoDB does not answer',
        'of the fetch',
      ]);
    });

    it('T29: are waited for if they are nowhere else, until the last attempt, which continues without them', async () => {
      const upload = { ...build, provider: 'upload' as const };
      await archive.put(upload.id, createLog('a.log', 'first'));

      await expect(gather(false, upload)).rejects.toMatchObject({ retryable: true });
      const { sources, notes } = await gather(true, upload);

      expect(sources).toEqual([]);
      expect(notes).toEqual(['The archived logs of the build could not be read: MongoDB does not answer']);
    });
  });
});
