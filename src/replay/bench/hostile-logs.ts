import { closeSync, openSync, writeSync } from 'node:fs';

/** A log made to be slow or to break a reader. */
export interface HostileLog {
  readonly name: string;
  /** A stretch that is written again and again. */
  readonly stretch: string;
}

const BAIT = [
  'error',
  'Exceptio',
  'Traceback (most recent call las',
  'FAILE',
  '--- FAI',
  'npm ERR',
  'AssertionErro',
  'token',
  'password=',
  'eyJ',
  '-----BEGIN ',
];

/** Shapes of hostile logs. None holds a failure. */
export const HOSTILE_LOGS: readonly HostileLog[] = [
  { name: 'one line', stretch: 'all of this is one single line of output without any end ' },
  { name: 'nested escapes', stretch: `${'\u001b[1m\u001b[31m\u001b[4m'.repeat(8)}\u001b]0;title\u001b]8;;${'\u001b['.repeat(20)}x\n` },
  { name: 'near-miss bait', stretch: `${BAIT.join(' ')} ${'a'.repeat(200)}${'::'.repeat(40)} ${'at '.repeat(30)}(${'('.repeat(30)}\n` },
  { name: 'only carriage returns', stretch: 'downloading 12% of everything there is\r' },
  { name: 'identical lines', stretch: 'ERROR: the same thing happened again\n' },
];

/** Writes about `bytes` of one of them. */
export function writeHostileLog(path: string, log: HostileLog, bytes: number): void {
  const piece = log.stretch.repeat(Math.max(1, Math.ceil(65_536 / log.stretch.length)));
  const file = openSync(path, 'w');
  try {
    for (let written = 0; written < bytes; ) written += writeSync(file, piece);
  } finally {
    closeSync(file);
  }
}
