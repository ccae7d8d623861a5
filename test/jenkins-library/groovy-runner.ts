import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/faultline-groovy');
const POM = join(import.meta.dirname, 'groovy/pom.xml');
const PIPELINE = join(import.meta.dirname, 'groovy/Pipeline.groovy');
const STEP = join(ROOT, 'deploy/jenkins/vars/faultlineReport.groovy');
const JENKINSFILE = join(ROOT, 'deploy/jenkins/Jenkinsfile');
/** Groovy 2.4 looks into classes that later Javas close. */
const OPENED = ['java.lang', 'java.util', 'java.net', 'sun.net.www.protocol.http'].map(
  (name) => `--add-opens=java.base/${name}=ALL-UNNAMED`,
);

/** One build whose pipeline calls the step. */
export interface PipelineRun {
  readonly env: Readonly<Record<string, string>>;
  readonly result: 'FAILURE' | 'UNSTABLE' | 'SUCCESS';
  readonly secret: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

const Told = z.object({
  echoed: z.array(z.string()),
  /** What the build's log says where the step did not get through; the build goes on. */
  failed: z.string().nullable(),
  requests: z.array(
    z.object({ url: z.string(), headers: z.record(z.string(), z.string()), body: z.string() }),
  ),
  credentials: z.array(z.string()),
});
export type Told = z.infer<typeof Told>;

/** Compiles step and Jenkinsfile with the Groovy of Jenkins, and runs the step once for each build. */
export async function runPipelines(runs: readonly PipelineRun[]): Promise<Told[]> {
  const jars = await prepareJars();
  const child = spawn(
    'java',
    [
      '-Xmx256m',
      '-XX:TieredStopAtLevel=1',
      ...OPENED,
      '-cp',
      `${jars}/*`,
      'groovy.ui.GroovyMain',
      PIPELINE,
      STEP,
      JENKINSFILE,
    ],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  child.stdin.end(runs.map((run) => `${JSON.stringify(run)}\n`).join(''));
  const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const lines = said.split('\n').filter((line) => line !== '');
  if (lines.length !== runs.length) throw new Error(`the pipeline ended early: ${errors}`);
  return lines.map((line) => Told.parse(JSON.parse(line)));
}

/** Brought by Maven once, for as long as what is asked of it stays the same. */
async function prepareJars(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(POM));
  const folder = join(CACHE, hash.digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  await promisify(execFile)('mvn', [
    '-q',
    '-B',
    '-f',
    POM,
    'dependency:copy-dependencies',
    `-DoutputDirectory=${draft}`,
  ]);
  // Somebody else may have been faster; theirs is as good.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
  return folder;
}
