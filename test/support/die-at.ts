import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../src/app/served-app.ts';
import { createApp } from '../../src/app.ts';
import { readServedConfig } from '../../src/cli/settings.ts';
import { createSparseBuild } from '../../src/domain/build.ts';
import { systemClock } from '../../src/lib/time.ts';
import type { Logger } from '../../src/ports/telemetry.ts';
import { readCapturedFailure } from './captured-failures.ts';

/**
 * Runs a process that triages one captured failure and kills itself with SIGKILL at a place: a failpoint by
 * its name, or a node of the graph before its result is stored. It prints each node that it finishes. Of the
 * publications, only those of the webhook can be such a place. With the place `nowhere`, it works until
 * nothing is pending, prints what is stored, and ends.
 *
 * node test/support/die-at.ts <data directory> <place> <slug>
 */
const [dataDir = '', place = '', slug = ''] = process.argv.slice(2);

function die(): void {
  flushCompileCache();
  process.kill(process.pid, 'SIGKILL');
}

function createCrashingLogger(): Logger {
  const quiet = () => undefined;
  return {
    debug: (fields, message) => {
      if (message !== 'node finished' || !('node' in fields)) return;
      if (fields.node === place) die();
      writeSync(1, `${fields.node}\n`);
    },
    info: quiet,
    warn: quiet,
    error: (fields) => writeSync(2, `${JSON.stringify(fields)}\n`),
    child: () => createCrashingLogger(),
  };
}

const app = await createApp(
  readServedConfig(dataDir).config,
  createCrashingLogger(),
  systemClock,
  (name, subject) => {
    if (name === place && (!name.startsWith('work-') || subject.startsWith('publish:webhook'))) die();
  },
);
const { build, created } = await app.stores.builds.upsert(
  createSparseBuild({ repository: 'shop/api', pipeline: 'ci', number: '1' }),
);
if (created) {
  await app.archive.put(build.id, {
    name: 'build.log',
    kind: 'log',
    text: readCapturedFailure(slug).log,
    notes: [],
  });
  await app.stores.triages.request(build.id);
  await app.loadKnowledge();
}
await app.work();
app.notifier.notify('triage', build.id);
if (place === 'nowhere') await tellAll(app, build.id);

async function tellAll({ stores, database, close }: App, buildId: string): Promise<void> {
  const isPending = async () => {
    const [{ state } = { state: 'none' }, entries] = [
      (await stores.triages.findByBuild(buildId)) ?? undefined,
      await stores.work.listByBuild(buildId),
    ];
    return (
      (state !== 'done' && state !== 'failed') || entries.some(({ version, settled }) => version > settled)
    );
  };
  while (await isPending()) await sleep(50);
  const [left] = await database.query<{ checkpoints: number }>(
    'select count(*)::int as checkpoints from checkpoints.checkpoints',
  );
  const told = {
    analyses: await stores.analyses.listByBuild(buildId),
    reviews: (await stores.reviews.list({}, { limit: 10, offset: 0 })).length,
    entries: await stores.work.listByBuild(buildId),
    job: (await stores.triages.findByBuild(buildId))?.state,
    checkpoints: left?.checkpoints,
  };
  await close();
  writeSync(1, `${JSON.stringify(told)}\n`);
}
