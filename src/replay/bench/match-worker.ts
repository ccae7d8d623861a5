import { parentPort, workerData } from 'node:worker_threads';
import { openFileBytes } from '../../log/file-bytes.ts';
import { piecesOf } from './match.ts';

/** Counts the lines of one part of a file that hold a literal; told to begin, so that starting a thread is not timed. */
const { path, literals, part, parts } = workerData as { path: string; literals: readonly string[]; part: number; parts: number };
const count = piecesOf(literals);
parentPort?.on('message', () => {
  const file = openFileBytes(path);
  try {
    parentPort?.postMessage(count(file, part, parts));
  } finally {
    file.close();
  }
});
parentPort?.postMessage('ready');
