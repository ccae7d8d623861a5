import { parentPort, workerData } from 'node:worker_threads';
import { openFileBytes, toLogBytes } from '../../../src/log/lines/bytes.ts';
import { generateLog } from './bench-logs.ts';
import { scanPieces } from './match.ts';

/**
 * Counts the lines of a part of a file that contain a literal. It waits for a message before it begins, so
 * that starting and warming up the thread is not timed.
 */
const { path, literals, part, parts } = workerData as {
  path: string;
  literals: readonly string[];
  part: number;
  parts: number;
};
const WARM_UP = 8_000_000;
const count = scanPieces(literals);
parentPort?.on('message', () => {
  const file = openFileBytes(path);
  try {
    parentPort?.postMessage(count(file, part, parts));
  } finally {
    file.close();
  }
});
count(toLogBytes(generateLog(WARM_UP)), 0, 1);
parentPort?.postMessage('ready');
