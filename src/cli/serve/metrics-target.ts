import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { isAlive } from '../../lib/is-alive.ts';

/** The file of a process, `HOST-PID.json`, in a folder that a scraper watches. */
export interface MetricsTarget {
  /** Removes it. */
  close(): Promise<void>;
}

/**
 * Writes where this process serves its metrics, in the format of Prometheus' `file_sd_configs`, and removes
 * what processes of this host left that are gone. `address` is a URL. Throws `invalid-config` if the
 * folder cannot be written.
 */
export function writeMetricsTarget(folder: string, address: string): MetricsTarget {
  const file = join(folder, `${hostname()}-${process.pid}.json`);
  const draft = `${file}.draft`;
  try {
    mkdirSync(folder, { recursive: true });
    removeLeftovers(folder);
    writeFileSync(draft, `${JSON.stringify([{ targets: [new URL(address).host] }])}\n`, { mode: 0o644 });
    // A scraper never reads half a file.
    renameSync(draft, file);
  } catch (cause) {
    throw new TriageError(
      'invalid-config',
      `FAULTLINE_METRICS_TARGETS: cannot write to ${folder}: ${getErrorMessage(cause)}. ` +
        'Let the user of the service write to it.',
      { cause },
    );
  }
  return { close: async () => rmSync(file, { force: true }) };
}

function removeLeftovers(folder: string): void {
  const prefix = `${hostname()}-`;
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(prefix)
      ? /^(\d{1,10})\.json(?:\.draft)?$/.exec(name.slice(prefix.length))?.[1]
      : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}
