import type { NewBuild } from '../../src/domain/build.ts';
import { getErrorMessage, isRetryable, TriageError } from '../../src/domain/errors.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { createGithubBuildSource } from '../../src/providers/github/build-source.ts';
import type { UploadedFile } from '../../src/service/intake/upload.ts';

const TIMEOUT_MS = 120_000;
/** The log of a job that has only just ended comes some seconds later. */
const WAITS_MS = [3_000, 6_000, 12_000];

export interface JobLogOptions {
  readonly token: string;
  readonly baseUrl: string;
  readonly maxBytes: number;
}

/**
 * Fetches the logs of the run's failed jobs and the contents of its artifacts, as the server itself reads
 * them. Throws the same errors as `BuildSource.fetch`.
 */
export async function fetchJobLogs(
  run: NewBuild,
  { token, baseUrl, maxBytes }: JobLogOptions,
): Promise<UploadedFile[]> {
  const source = createGithubBuildSource({
    baseUrl,
    token,
    app: null,
    logger: silentLogger,
    timeoutMs: TIMEOUT_MS,
    maxLogBytes: maxBytes,
  });
  const build = { ...run, id: 'run', receivedAt: new Date().toISOString() };
  for (const wait of [...WAITS_MS, null]) {
    try {
      const { sources } = await source.fetch(build, AbortSignal.timeout(TIMEOUT_MS));
      const read = sources.filter(({ text }) => text !== '');
      return read.map(({ name, kind, text }) => ({ name, kind, bytes: Buffer.from(text) }));
    } catch (error) {
      if (error instanceof TriageError && error.code === 'upstream-auth') throw createNotAllowedError(error);
      if (wait === null || !isRetryable(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  return [];
}

function createNotAllowedError(cause: TriageError): TriageError {
  const refused = getErrorMessage(cause).split('. ', 1)[0] ?? '';
  return new TriageError(
    'upstream-auth',
    `${refused}. Give the job "permissions: actions: read", and pass its token as github-token.`,
    {
      cause,
    },
  );
}
