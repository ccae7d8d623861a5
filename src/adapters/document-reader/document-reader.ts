import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { type DocumentReader, ReadDocument } from '../../ports/knowledge.ts';
import { detectFormat, readDocument } from './read-document.ts';

export interface DocumentReaderOptions {
  /** The maximum size of the file, in bytes. */
  readonly maxBytes?: number;
  /** The time limit for one file, in milliseconds. */
  readonly timeoutMs?: number;
}

const MAX_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
/** The memory limit of a parser, in megabytes. Only a document made to break the parser needs more. */
const MAX_HEAP_MB = 768;

const Reply = z.union([
  z.object({ document: ReadDocument }),
  z.object({
    code: z.enum(['too-large', 'unsupported-type', 'invalid-input']).catch('invalid-input'),
    message: z.string(),
  }),
]);

/**
 * Reads Markdown, HTML, PDF, DOCX, PPTX, XLSX and plain text. Files that need a parser are read in a separate
 * thread with a time and memory limit, so that a file that breaks or blocks the parser does not affect the
 * service.
 */
export function createDocumentReader({
  maxBytes = MAX_BYTES,
  timeoutMs = TIMEOUT_MS,
}: DocumentReaderOptions = {}): DocumentReader {
  return {
    async read({ name, bytes }, signal) {
      if (signal?.aborted) throw createCancelledError(signal);
      if (bytes.length > maxBytes) {
        throw new TriageError('too-large', `${name} has ${bytes.length} bytes; the limit is ${maxBytes}.`, {
          details: { maxBytes },
        });
      }
      const format = detectFormat(name, bytes);
      if (format === 'markdown' || format === 'text') return readDocument(name, bytes);
      const reply = Reply.parse(
        await readInThread({ name, bytes: new Uint8Array(bytes) }, timeoutMs, signal),
      );
      if ('document' in reply) return reply.document;
      const { code, message } = reply;
      throw new TriageError(
        code,
        message.startsWith(name) || message.includes(`"`) ? message : `${name} cannot be read: ${message}`,
      );
    },
  };
}

function readInThread(
  file: { name: string; bytes: Uint8Array },
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(`./read-in-worker${extname(import.meta.url)}`, import.meta.url), {
      workerData: file,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      stdout: true,
      stderr: true,
    });
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      void worker.terminate();
      settle();
    };
    const stop = () => end(() => reject(createCancelledError(signal)));
    const late = new TriageError('timeout', `${file.name} was not read within ${timeoutMs / 1000} s.`);
    const timer = setTimeout(() => end(() => reject(late)), timeoutMs);
    signal?.addEventListener('abort', stop);
    worker.once('message', (message) => end(() => resolve(message)));
    worker.once('error', (error) => {
      const why = `${file.name} cannot be read: its parser gave up (${getErrorMessage(error)}).`;
      end(() => reject(new TriageError('invalid-input', why, { cause: error })));
    });
  });
}

function createCancelledError(signal: AbortSignal | undefined): TriageError {
  return new TriageError('cancelled', 'Reading the document was canceled.', { cause: signal?.reason });
}
