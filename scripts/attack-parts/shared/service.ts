import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A service that may be broken: it has a data directory of its own, which goes when it stops. */
export interface AttackedService {
  readonly url: string;
  /** Has every role. */
  readonly token: string;
  /** Of webhooks. */
  readonly secret: string;
  /** Lines of its log about requests that failed inside. */
  readonly failures: readonly string[];
  /** Whether it ended by itself. */
  readonly died: () => boolean;
  stop(): Promise<void>;
}

/** Starts the service from this checkout on a free port, without limits that would turn an attack away. */
export async function startService(): Promise<AttackedService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'faultline-attack-'));
  const token = `attack-${randomBytes(24).toString('hex')}`;
  const secret = randomBytes(24).toString('hex');
  const ours = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FAULTLINE_')));
  const env = {
    ...ours,
    FAULTLINE_TOKENS: `attack:ingest+read+review+admin:${token}`,
    FAULTLINE_JENKINS_WEBHOOK_SECRET: secret,
    FAULTLINE_TRUST_PROXY: '1',
    FAULTLINE_RATE_LIMIT: '1000000',
    FAULTLINE_TOKEN_RATE_LIMIT: '1000000',
    FAULTLINE_SOURCE_RATE_LIMIT: '1000000',
    FAULTLINE_LOG_LEVEL: 'error',
  };
  const child = spawn(process.execPath, ['src/cli/main.ts', 'serve', '--data', dataDir, '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const failures: string[] = [];
  const listening = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (line.includes('"msg":"request failed"')) failures.push(line);
      const address = /listening on (http:\S+)/.exec(line)?.[1];
      if (address !== undefined) listening.resolve(address);
    });
  }
  ended.then(() => listening.reject(new Error('The service ended before it listened.')));
  const url = await listening.promise;
  return {
    url,
    token,
    secret,
    failures,
    died: () => child.exitCode !== null || child.signalCode !== null,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
