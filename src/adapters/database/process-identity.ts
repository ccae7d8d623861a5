import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** When a process started, in words that differ for another process that got the same id later; null where none lives. */
export function processStart(pid: number): string | null {
  if (process.platform === 'linux') return linuxStart(pid);
  if (!isAlive(pid)) return null;
  if (process.platform === 'win32') return 'alive';
  const listing = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 5000 });
  return listing.status === 0 ? listing.stdout.trim() : 'alive';
}

/** Where process ids mean the same thing: one boot of one machine and, on Linux, one pid namespace (container). */
export function processSpace(): string {
  return [
    hostname(),
    readOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    readOr(() => readlinkSync('/proc/self/ns/pid')),
  ]
    .map((part) => part.trim())
    .join(' ');
}

/** Field 22 of /proc/PID/stat, clock ticks since boot; the name in field 2 may hold spaces and brackets. A zombie is dead. */
function linuxStart(pid: number): string | null {
  const stat = readOr(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  return startTicks === undefined || state === 'Z' || state === 'X' ? null : startTicks;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
