import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Analysis } from '../../src/domain/analysis.ts';
import { installDatabase } from '../support/installed-database.ts';
import { makeZip } from '../support/make-zip.ts';
import { type Service, startService, TOKEN } from '../support/service.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
const Accepted = z.object({ buildId: z.string() });
const Found = z.object({ triage: z.object({ state: z.string() }), analyses: z.array(Analysis) });

/** Says where the cause stands, and nothing of it. */
const LOG =
  '$ ./run-stage.sh\nstarting 4 workers\nworker 3 ended early\nFor more details see out/coverage/worker-3.log\nProcess exited with code 1\n';
/** By its name it is left alone, unless somebody refers to it. */
const CAUSE = 'collecting\nwrite /data/cache/index.bin: No space left on device\n';
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);

let folder = '';
let service: Service;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-artifacts-'));
  const { environment } = await installDatabase(folder);
  service = await startService(folder, environment);
});
afterAll(async () => {
  await service.kill('SIGTERM');
  await rm(folder, { recursive: true, force: true });
});

describe('a build whose cause is only in an artifact', () => {
  it('is answered from the artifact that its log refers to', async () => {
    const members = [
      { name: 'coverage/worker-3.log', content: CAUSE },
      { name: 'coverage/worker-4.log', content: 'collecting\ndone\n' },
      { name: 'shots/end.png', content: PNG },
      { name: 'app/quiet.log', content: 'ready\nstopped\n' },
    ];
    const [analysis] = await answerLog('1', LOG, makeZip(members));

    expect(analysis?.category).toBe('INFRA_ERROR');
    expect(analysis?.kind).toBe('disk_full');
    expect(
      analysis?.evidence.some(
        ({ source, text }) => source === 'stage.zip/coverage/worker-3.log' && text.includes('No space left'),
      ),
    ).toBe(true);
    const notes = analysis?.notes.join('\n') ?? '';
    expect(notes).toContain('4 artifacts were looked at; 1 read, 3 left.');
    expect(notes).toContain('build.log refers to it on line 4');
  });

  it('is not answered from it if the log does not refer to it', async () => {
    const [analysis] = await answerLog(
      '2',
      LOG.replace('For more details see', 'removed'),
      makeZip([{ name: 'coverage/worker-3.log', content: CAUSE }]),
    );

    expect(analysis?.kind).not.toBe('disk_full');
    expect(analysis?.notes.join('\n')).toContain('1 artifact was looked at; 0 read, 1 left.');
  });
});

describe('a build of three jobs that failed for different causes', () => {
  const folder = join(import.meta.dirname, '../fixtures/mixed/jobs-aquarium');
  const jobs = readdirSync(folder).map((name) => ({ name, content: readFileSync(join(folder, name)) }));
  const causes = ['INFRA_ERROR', 'TEST_FAILURE', 'CODE_ERROR', 'CODE_ERROR'].toSorted();

  it.each([
    ['several logs', '3', jobs],
    ['the archive of its run', '4', [{ name: 'run.zip', content: makeZip(jobs) }]],
  ])('has an answer for each, as %s', async (_what, number, logs) => {
    const analyses = await answerForm(number, (form) => {
      for (const { name, content } of logs) form.append('log', new Blob([Uint8Array.from(content)]), name);
    });
    expect(analyses.map(({ category }) => category).toSorted()).toEqual(causes);
  });
});

async function answerLog(number: string, log: string, artifacts: Buffer): Promise<Analysis[]> {
  return await answerForm(number, (form) => {
    form.append('log', new Blob([log]), 'build.log');
    form.append('artifact', new Blob([Uint8Array.from(artifacts)]), 'stage.zip');
  });
}

async function answerForm(number: string, addFiles: (form: FormData) => void): Promise<Analysis[]> {
  const form = new FormData();
  form.append('metadata', JSON.stringify({ repository: 'shop/api', pipeline: 'stage', number }));
  addFiles(form);
  const sent = await fetch(`${service.address}/api/builds`, { method: 'POST', headers, body: form });
  expect(sent.status).toBe(202);
  const { buildId } = Accepted.parse(await sent.json());
  for (let tries = 0; tries < 600; tries++) {
    const { triage, analyses } = Found.parse(
      await (await fetch(`${service.address}/api/builds/${buildId}/analyses`, { headers })).json(),
    );
    if (triage.state === 'done') return analyses;
    await sleep(100);
  }
  throw new Error(`no answer: ${service.errors()}`);
}
