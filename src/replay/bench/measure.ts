import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';

/** The middle of the values; of an even number the lower one. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
}

/** What a process took: wall-clock milliseconds and the peak of its resident memory in bytes (null where the system does not tell). */
export interface ProcessCost {
  readonly milliseconds: number;
  readonly peakBytes: number | null;
}

const LOOK_EVERY = 20;

/** How `faultline read` ends where no line says that something failed (see src/cli/exit-codes.ts). */
const NO_FAILURE = 5;

/** Runs this very Node with the arguments given and watches its memory. Throws where it ends badly. */
export async function costOf(args: readonly string[]): Promise<ProcessCost> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  let peakBytes: number | null = null;
  const look = setInterval(() => {
    peakBytes = peakOf(child.pid) ?? peakBytes;
  }, LOOK_EVERY);
  try {
    const [code] = await once(child, 'exit');
    if (code !== 0 && code !== NO_FAILURE) throw new Error(`node ${args.slice(1).join(' ')} ended with ${code}`);
  } finally {
    clearInterval(look);
  }
  return { milliseconds: performance.now() - startedAt, peakBytes };
}

/** Linux keeps the highest resident memory of a process ("high water mark"). */
function peakOf(pid: number | undefined): number | null {
  try {
    const kilobytes = /VmHWM:\s{1,20}(\d{1,12}) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
}
