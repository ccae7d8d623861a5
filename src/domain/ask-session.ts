import { z } from 'zod';
import { Turn } from './conversation.ts';

/** The version of the format of session files. A file of another version is refused. */
export const SESSION_VERSION = 1;

/** A conversation in a terminal, as its file keeps it. */
export const AskSession = z.object({
  format: z.literal('faultline-session'),
  version: z.literal(SESSION_VERSION),
  id: z.string(),
  /** The subject of the session. */
  target: z.object({
    kind: z.enum(['repository', 'documents', 'log']),
    /** The path of the folder or file. */
    path: z.string(),
    /** A hash of the log, by which a changed log is noticed; null for folders, which may change. */
    hash: z.string().nullable(),
  }),
  startedAt: z.iso.datetime(),
  /** A line for each answer: the question, what was found, and in which files. */
  learned: z.array(z.string()),
  /** The technology stack of a repository, a line each. */
  stack: z.array(z.string()),
  turns: z.array(Turn),
});
export type AskSession = z.infer<typeof AskSession>;

/** A conversation about a repository that the service keeps. */
export const RepositoryThread = z.object({
  id: z.string(),
  /** `owner/name`. */
  repository: z.string(),
  /** The first question, shortened. */
  title: z.string(),
  startedBy: z.string(),
  startedAt: z.iso.datetime(),
  lastAskedAt: z.iso.datetime(),
  /** The number of questions that were answered. */
  turns: z.int(),
});
export type RepositoryThread = z.infer<typeof RepositoryThread>;
