import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { isAlive } from '../../lib/is-alive.ts';

/** The file of a process, `HOST-PID.json`, in a folder that a scraper watches. */
export interface MetricsTarget {
  /** Deletes the file. */
  close(): Promise<void>;
}

/**
 * Writes the URL of this process's metrics, in the format of Prometheus' `file_sd_configs`, and deletes the
 * files of ended processes on this host. Throws `invalid-config` if the folder is not writable.
 */
export function writeMetricsTarget(folder: string, address: string): MetricsTarget {
  const file = join(folder, `${hostname()}-${process.pid}.json`);
  const draft = `${file}.draft`;
  try {
    mkdirSync(folder, { recursive: true });
    removeLeftovers(folder);
    writeFileSync(draft, `${JSON.stringify([{ targets: [new URL(address).host] }])}\n`, { mode: 0o644 });
    // Renaming prevents a scraper from reading an incomplete file.
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
