import { type Collection, type Db, MongoClient, MongoError, MongoServerError } from 'mongodb';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { CircuitOpenError, createBreaker, limitTime } from '../../lib/resilience.ts';

/**
 * The number of milliseconds to wait for a server. It is short, because callers can continue without MongoDB.
 */
const SELECT_MS = 2_000;
const POOL = 20;

/** A text of a build: its name, its kind, and the valid generation of its parts. */
export interface SourceDocument {
  readonly buildId: string;
  readonly name: string;
  readonly kind: string;
  readonly lines: number;
  readonly bytes: number;
  readonly notes: readonly string[];
  readonly chunks: number;
  readonly generation: string;
  readonly storedAt: Date;
  readonly expiresAt?: Date;
}

/** A part of a compressed chunk of lines, far below the 16 MB that a document may have. */
export interface PieceDocument {
  readonly buildId: string;
  readonly name: string;
  readonly generation: string;
  readonly chunk: number;
  readonly part: number;
  /** The number of parts of this chunk. */
  readonly parts: number;
  readonly firstLine: number;
  readonly bytes: Buffer;
  readonly expiresAt?: Date;
}

/** A text that is being written, or whose writing was interrupted. */
interface DraftDocument {
  readonly generation: string;
  readonly buildId: string;
  readonly name: string;
  readonly startedAt: Date;
  /** The generation that was valid before. */
  readonly replaces?: string;
}

interface Collections {
  readonly sources: Collection<SourceDocument>;
  readonly pieces: Collection<PieceDocument>;
  readonly drafts: Collection<DraftDocument>;
}

export interface MongodbCollections {
  /**
   * Runs one operation within the time limit. Errors of the driver become a TriageError. Throws
   * `storage-failed` (retryable) immediately while a server that did not respond is paused.
   */
  within<Result>(work: (collections: Collections, signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Creates the indexes if necessary. */
  indexed(): Promise<void>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface Timing {
  /** The time limit of one operation in milliseconds. */
  readonly limitMs: number;
  /** The number of milliseconds for which an unresponsive server is not called. */
  readonly restMs: number;
}

/**
 * Opens the collections. The connection is made at the first use. Writes are acknowledged by a majority and
 * their journals.
 */
export function openCollections(
  url: string,
  database: string,
  { limitMs, restMs }: Timing,
): MongodbCollections {
  const connection = keepConnected(() => createClient(url, limitMs));
  const db = async () => (await connection.client()).db(database);
  const guard = createGuard(restMs);
  const within: MongodbCollections['within'] = (work) =>
    guard(() => callMongodb(async (signal) => work(getCollections(await db()), signal), limitMs));
  let made: Promise<void> | null = null;
  return {
    within,
    indexed: () => {
      made ??= makeIndexes(within).catch((error: unknown) => {
        made = null;
        throw error;
      });
      return made;
    },
    ping: async () =>
      void (await guard(() =>
        callMongodb(async (signal) => (await db()).command({ ping: 1 }, { signal }), limitMs),
      )),
    close: connection.close,
  };
}

function getCollections(db: Db): Collections {
  return {
    sources: db.collection<SourceDocument>('archive_sources'),
    pieces: db.collection<PieceDocument>('archive_pieces'),
    drafts: db.collection<DraftDocument>('archive_drafts'),
  };
}

async function makeIndexes(within: MongodbCollections['within']): Promise<void> {
  const piece = { buildId: 1, name: 1, generation: 1, chunk: 1, part: 1 } as const;
  await within(({ sources }) => sources.createIndex({ buildId: 1, name: 1 }, { unique: true }));
  await within(({ pieces }) => pieces.createIndex(piece, { unique: true }));
  await within(({ drafts }) => drafts.createIndex({ generation: 1 }, { unique: true }));
  await within(({ sources }) => sources.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 }));
  await within(({ pieces }) => pieces.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 }));
}

/**
 * Keeps a client connected. A client whose first connection failed stays closed, so a new client is created
 * at the next use.
 */
function keepConnected(create: () => MongoClient): {
  client(): Promise<MongoClient>;
  close(): Promise<void>;
} {
  // The client is created once here, so that an invalid URL is reported at startup.
  let next: MongoClient | null = create();
  let connected: Promise<MongoClient> | null = null;
  let isClosed = false;
  const connect = async (client: MongoClient) => {
    try {
      return await client.connect();
    } catch (error) {
      connected = null;
      await client.close();
      throw error;
    }
  };
  return {
    client: () => {
      if (isClosed) throw new TriageError('storage-failed', 'The archive in MongoDB is closed.');
      if (connected === null) {
        connected = connect(next ?? create());
        next = null;
      }
      return connected;
    },
    close: async () => {
      isClosed = true;
      await next?.close();
      await connected?.then(
        (client) => client.close(),
        () => undefined,
      );
    },
  };
}

function createClient(url: string, limitMs: number): MongoClient {
  try {
    return new MongoClient(url, {
      appName: 'faultline',
      serverSelectionTimeoutMS: Math.min(SELECT_MS, limitMs),
      connectTimeoutMS: Math.min(SELECT_MS, limitMs),
      socketTimeoutMS: limitMs,
      waitQueueTimeoutMS: limitMs,
      maxPoolSize: POOL,
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: limitMs },
      readPreference: 'primary',
      promoteBuffers: true,
    });
  } catch (cause) {
    throw new TriageError('invalid-config', 'FAULTLINE_MONGODB_URL is not a MongoDB URL.', { cause });
  }
}

/**
 * Creates a guard of calls. After a call that the server did not answer, every call fails for `restMs`. Then
 * one call in each such period may try, until the server answers; the others do not wait for it.
 */
function createGuard(restMs: number) {
  const circuit = createBreaker({
    opensAt: 1,
    weigh: (error) => (isAway(error) ? 1 : 0),
    restMs: () => restMs,
  });
  return async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const paused = () =>
      new TriageError('storage-failed', 'MongoDB did not respond recently and is paused.', {
        retryable: true,
      });
    if (circuit.state() === 'half-open') throw paused();
    try {
      return await circuit.run(call);
    } catch (error) {
      throw error instanceof CircuitOpenError ? paused() : error;
    }
  };
}

/** Returns true if the server does not respond. A refusal is a response. */
function isAway(error: unknown): boolean {
  if (!(error instanceof TriageError)) return false;
  return (
    error.code === 'upstream-auth' ||
    (error.code === 'storage-failed' && error.retryable && error.details.full !== true)
  );
}

/** Runs the work, and settles at the time limit at the latest. At the limit, the signal cancels the work. */
async function callMongodb<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  limitMs: number,
): Promise<Result> {
  const late = () =>
    new TriageError('storage-failed', `MongoDB did not answer within ${limitMs} ms.`, { retryable: true });
  try {
    return await limitTime({ limitMs, late }, work);
  } catch (error) {
    throw toArchiveError(error);
  }
}

/** OutOfDiskSpace: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
const OUT_OF_DISK_SPACE = 14031;
/** The error codes for refused credentials: Unauthorized, AuthenticationFailed, AtlasError. */
const REFUSED = new Set([13, 18, 8000]);
/**
 * Error codes of a server that stops, steps down or was too slow: WriteConcernFailed, WriteConcernTimeout,
 * shutdown, no primary, time limits.
 */
const PASSING = new Set([
  6, 7, 50, 64, 89, 91, 100, 189, 262, 9001, 10107, 11600, 11602, 13388, 13435, 13436,
]);

/**
 * Converts an error of the driver into a TriageError: `upstream-auth` if the server refuses the credentials,
 * or else `storage-failed`, with `details.full` if its disk is full. A TriageError is returned unchanged. No
 * message contains the URL, which may contain a password.
 */
function toArchiveError(error: unknown): TriageError {
  if (error instanceof TriageError) return error;
  if (error instanceof MongoServerError) return toServerError(error);
  if (error instanceof MongoError || isAbort(error)) {
    return new TriageError('storage-failed', `MongoDB is not responding: ${error.message}`, {
      retryable: true,
      cause: error,
    });
  }
  return new TriageError('internal', `The archive in MongoDB failed: ${getErrorMessage(error)}`, {
    cause: error,
  });
}

/** Returns true if another writer inserted the same document. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

function toServerError(error: MongoServerError): TriageError {
  const code = Number(error.code);
  const details = { state: code, full: code === OUT_OF_DISK_SPACE };
  if (REFUSED.has(code))
    return new TriageError('upstream-auth', 'MongoDB rejects the user in FAULTLINE_MONGODB_URL.', {
      cause: error,
      details,
    });
  if (details.full) {
    return new TriageError('storage-failed', 'The disk of MongoDB is full.', {
      retryable: true,
      cause: error,
      details,
    });
  }
  const retryable =
    PASSING.has(code) ||
    error.hasErrorLabel('RetryableWriteError') ||
    error.hasErrorLabel('TransientTransactionError');
  return new TriageError('storage-failed', `The MongoDB request failed: ${error.message}`, {
    retryable,
    cause: error,
    details,
  });
}

function isAbort(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
