/**
 * Fills a small disk in its own mount namespace. Checks that uploads are then refused and that nothing
 * accepted is lost.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withSettings } from '../../../test/support/settings.ts';
import { LOG, listBuilds, listWronglyAnswered, readAcceptedId, tell, upload } from './shared/builds.ts';
import { type AttackedService, LIMITLESS, reportService, startService } from './shared/service.ts';
import { report } from './shared/tools.ts';

const DISK_MB = 160;
/** The size of a file that is written first, and deleted once the disk is full, to free space. */
const BALLAST_MB = 64;
const LOW_MB = 16;
const LOG_BYTES = 1_000_000;
/** The maximum number of uploads. The disk cannot hold as many. */
const MAX_UPLOADS = 400;
/** The number of uploads after the disk is full, to reach every kind of refusal. */
const MORE_UPLOADS = 20;
const MORE_WEBHOOKS = 300;
const MOUNTED = 'FAULTLINE_ATTACK_DISK';

const mounted = process.env[MOUNTED];
process.exitCode = mounted === undefined ? await runInNamespace() : await attack(mounted);

/** Runs this script again in its own mount namespace. */
async function runInNamespace(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-disk-'));
  const script = `mount -t tmpfs -o size=${DISK_MB}m tmpfs "$0" && exec "$@"`;
  const args = [
    '-rm',
    'sh',
    '-c',
    script,
    folder,
    process.execPath,
    import.meta.filename,
    ...process.argv.slice(2),
  ];
  const child = spawn('unshare', args, { env: { ...process.env, [MOUNTED]: folder }, stdio: 'inherit' });
  const code = await new Promise<number>((end, fail) =>
    child.once('close', (status) => end(status ?? 1)).once('error', fail),
  );
  await rm(folder, { recursive: true, force: true });
  return code;
}

async function attack(disk: string): Promise<number> {
  const ballast = join(disk, 'ballast');
  await writeFile(ballast, randomBytes(BALLAST_MB * 1024 * 1024));
  const service = await startService({
    dataDir: join(disk, 'data'),
    settings: withSettings({ ...LIMITLESS, disk: { minFreeMegabytes: LOW_MB } }),
  });
  try {
    const filled = await fill(service);
    const { accepted, answers, strange } = filled;
    const leftOver = (await listBuilds(service)).filter(({ id }) => !accepted.has(id)).map(({ id }) => id);
    const told = await tellMany(service, filled);
    const full = await readReadiness(service);
    const free = await freeMegabytes(disk);
    await rm(ballast);
    const freed = await waitUntilReady(service);
    const after = await readAcceptedId(await upload(service, { number: 'after', log: LOG })).catch(
      (error: unknown) => String(error),
    );
    if (after.startsWith('bld_')) accepted.add(after);
    else strange.push(after);
    const wrong = await listWronglyAnswered(service, accepted, 10);
    const lost = await listNotKept(service, told);
    const counts = [...answers].map(([status, count]) => `${count} answered ${status}`).join(', ');
    const fine = [
      report(
        'uploads',
        `${counts}; ${free.toFixed(1)} of ${DISK_MB} MB were free`,
        strange.length,
        strange.join('\n'),
      ),
      report('refused uploads', `${leftOver.length} left data behind`, leftOver.length, leftOver.join('\n')),
      report(
        'readiness',
        `${full.status} while full, ${freed.status} once there was room`,
        full.status === 503 && freed.status === 200 ? 0 : 1,
        full.text + freed.text,
      ),
      report(
        'answers',
        `${accepted.size} accepted, ${wrong.length} without exactly one answer`,
        wrong.length,
        wrong.join('\n'),
      ),
      report(
        'webhooks',
        `${told.length} of ${MORE_WEBHOOKS} accepted while full, ${lost.length} lost`,
        lost.length,
        lost.join('\n'),
      ),
      reportService(service, /No space left on device/),
    ];
    return fine.every(Boolean) ? 0 : 1;
  } finally {
    await service.stop();
  }
}

interface Filled {
  readonly accepted: Set<string>;
  /** The number of uploads that were answered with each status. */
  readonly answers: Map<string, number>;
  readonly strange: string[];
}

async function fill(service: AttackedService): Promise<Filled> {
  const filled: Filled = { accepted: new Set(), answers: new Map(), strange: [] };
  let refused = 0;
  for (let number = 1; number <= MAX_UPLOADS && refused < MORE_UPLOADS; number++) {
    // Small uploads still fit when large ones no longer do.
    const noise = (
      randomBytes(LOG_BYTES / (refused % 2 === 0 ? 2 : 200))
        .toString('hex')
        .match(/.{1,80}/g) ?? []
    ).join('\n');
    const response = await upload(service, { number: `upload-${number}`, log: `${noise}\n${LOG}` });
    const status = `${response?.status ?? 'nothing'}`;
    filled.answers.set(status, (filled.answers.get(status) ?? 0) + 1);
    if (response?.status === 202) filled.accepted.add(await readAcceptedId(response));
    else refused += 1;
    if (status !== '202' && status !== '507')
      filled.strange.push(`upload ${number}: ${status} ${await response?.text()}`);
  }
  if (refused === 0) filled.strange.push('the disk never filled up');
  return filled;
}

async function readReadiness(
  service: AttackedService,
): Promise<{ readonly status: number; readonly text: string }> {
  // /readyz may repeat an earlier result for some seconds.
  await sleep(6_000);
  const response = await fetch(`${service.url}/readyz`);
  return { status: response.status, text: await response.text() };
}

async function waitUntilReady(service: AttackedService): Promise<Awaited<ReturnType<typeof readReadiness>>> {
  const first = await readReadiness(service);
  return first.status === 200 ? first : await readReadiness(service);
}

async function freeMegabytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return (bavail * bsize) / 1024 / 1024;
}

/**
 * Sends webhooks of passed builds while the disk is full; each needs only one row, which may still fit.
 * Returns the accepted ids.
 */
async function tellMany(service: AttackedService, { answers, strange }: Filled): Promise<number[]> {
  const accepted: number[] = [];
  for (let id = 1; id <= MORE_WEBHOOKS; id++) {
    const status = await tell(service, { id, conclusion: 'success' });
    answers.set(`${status}`, (answers.get(`${status}`) ?? 0) + 1);
    if (status === 202) accepted.push(id);
    else if (status !== 507) strange.push(`webhook ${id}: ${status}`);
  }
  return accepted;
}

/** Returns the accepted runs that are still not in the list of builds after two minutes. */
async function listNotKept(service: AttackedService, told: readonly number[]): Promise<number[]> {
  const until = performance.now() + 120_000;
  for (;;) {
    const kept = new Set((await listBuilds(service)).map(({ number }) => number));
    const missing = told.filter((id) => !kept.has(`${id}`));
    if (missing.length === 0 || performance.now() > until) return missing;
    await sleep(1_000);
  }
}
