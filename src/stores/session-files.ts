import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { AskSession, SESSION_VERSION } from '../domain/ask-session.ts';
import { TriageError } from '../domain/errors.ts';
import { parseJson } from '../lib/text.ts';

const MAX_BYTES = 32 * 1024 * 1024;
const ID = /^(?:ses|thr)_\w{1,60}$/;

/** The fields that every version has, by which another version is recognized. */
const Peek = z.object({
  format: z.literal('faultline-session'),
  version: z.unknown(),
  id: z.string(),
  target: z.object({ path: z.string() }).optional(),
});

export type SessionFiles = ReturnType<typeof createSessionFiles>;

/**
 * Creates the store of sessions in a folder: one JSON file each, which only its owner can read. A file that
 * cannot be continued is refused with `invalid-input`; what it says is data, never a path or a command.
 */
export function createSessionFiles(folder: string) {
  const getPath = (id: string) => {
    if (!ID.test(id))
      throw new TriageError('invalid-input', `${id.slice(0, 80)} is not the ID of a session.`);
    return join(folder, `${id}.json`);
  };
  return {
    getPath,
    /** Returns a session. Throws `not-found`, and `invalid-input` for a file of another version. */
    load: async (id: string): Promise<AskSession> => readSession(getPath(id)),
    /** Saves a session whole, or not at all. */
    save: async (session: AskSession): Promise<void> => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = getPath(session.id);
      // A random name, so that it cannot be a link to another file.
      const part = `${path}.${randomUUID()}.part`;
      try {
        await writeFile(part, JSON.stringify(session, null, 1), { mode: 0o600, flag: 'wx' });
        await rename(part, path);
      } finally {
        await rm(part, { force: true });
      }
    },
    /**
     * Lists the sessions about a path, the newest first. Skips those that cannot be continued, unless it is
     * the newest, whose error it throws: a person who resumes does not mean an older session.
     */
    list: async (path: string): Promise<AskSession[]> => {
      const names = await readdir(folder).catch(() => []);
      const files = names.filter((name) => ID.test(name.replace(/\.json$/, '')) && name.endsWith('.json'));
      const dated = await Promise.all(
        files.map(async (name) => ({
          name,
          at: (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? 0,
        })),
      );
      const sessions: AskSession[] = [];
      const paths: string[] = [];
      for (const { name } of dated.sort((left, right) => right.at - left.at))
        if ((await readPeek(join(folder, name)))?.target?.path === path) paths.push(join(folder, name));
      for (const [index, file] of paths.entries()) {
        const session = await readSession(file).catch((error: unknown) => {
          if (index === 0) throw error;
          return null;
        });
        if (session !== null) sessions.push(session);
      }
      return sessions;
    },
  };
}

async function readSession(path: string): Promise<AskSession> {
  const content = await readContent(path);
  const peeked = Peek.safeParse(content);
  if (!peeked.success)
    throw new TriageError(
      'invalid-input',
      `${path} is not a session of faultline ask. Start a new one without --resume.`,
    );
  if (peeked.data.version !== SESSION_VERSION)
    throw new TriageError(
      'invalid-input',
      `${path} has version ${JSON.stringify(peeked.data.version)?.slice(0, 20)} of the session format; ` +
        `this release reads version ${SESSION_VERSION}. Start a new session without --resume.`,
    );
  const session = AskSession.safeParse(content);
  if (session.success && session.data.id !== basename(path, '.json'))
    throw new TriageError('invalid-input', `${path} contains another session than its name says.`);
  if (session.success) return session.data;
  const [issue] = session.error.issues;
  throw new TriageError(
    'invalid-input',
    `${path} is damaged at ${issue?.path.join('.') ?? 'its beginning'}. ` +
      'Start a new session without --resume.',
  );
}

async function readPeek(path: string) {
  return Peek.safeParse(await readContent(path).catch(() => null)).data;
}

async function readContent(path: string): Promise<unknown> {
  const info = await stat(path).catch(() => null);
  if (info === null || !info.isFile())
    throw new TriageError('not-found', `There is no session file ${path}.`);
  if (info.size > MAX_BYTES) throw new TriageError('too-large', `${path} is larger than 32 MB.`);
  return parseJson(await readFile(path, 'utf8'));
}
