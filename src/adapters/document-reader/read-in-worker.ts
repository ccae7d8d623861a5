import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { readDocument } from './read-document.ts';

const File = z.object({ name: z.string(), bytes: z.instanceof(Uint8Array) });

/** The thread that reads one file. Errors are sent as data. */
try {
  const { name, bytes } = File.parse(workerData);
  parentPort?.postMessage({ document: await readDocument(name, bytes) });
} catch (error) {
  const code = error instanceof TriageError ? error.code : 'invalid-input';
  parentPort?.postMessage({ code, message: getErrorMessage(error) });
}
