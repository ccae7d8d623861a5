import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Build } from '../domain/build.ts';
import type { TriageJob } from '../domain/triage.ts';
import { findBuild } from '../service/answers/views.ts';
import { toOneLine } from './shapes.ts';
import type { InstallationDeps } from './tool.ts';

/**
 * The extension with which a call returns a task, whose result the client fetches later:
 * https://github.com/modelcontextprotocol/ext-tasks. It belongs to the protocol of 2026-07-28.
 */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The tool whose call becomes a task while its build is being analyzed. */
const TOOL = 'get_failure';
/** The suggested time between two requests for the state of a task, in milliseconds. */
const POLL_MS = 2_000;

/** The state of a task. Its ID is that of the build, so no process keeps anything for it. */
interface TaskState {
  readonly taskId: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Null, because a task lasts as long as its build. */
  readonly ttlMs: null;
  readonly pollIntervalMs: number;
}

interface OpenedTask extends TaskState {
  readonly [key: string]: unknown;
  readonly resultType: 'task';
  readonly status: 'working';
  readonly statusMessage: string;
  /** Empty. The protocol's own server accepts no result of a tool without it. */
  readonly content: [];
}

/** Calls `get_failure` and returns its result, which may be a tool error. */
type GetFailure = (buildId: string, signal: AbortSignal) => Promise<Record<string, unknown>>;

const Task = z.object({ taskId: z.string().min(1).max(300) });
const Arguments = z.object({ id: z.string().min(1).max(300) });

/** Registers the methods of tasks on a server. All require that the client declares the extension. */
export function serveTasks(server: Server, deps: InstallationDeps, getFailure: GetFailure): void {
  server.setRequestHandler('tasks/get', { params: Task }, async ({ taskId }, context) => {
    requireExtension(context);
    const { build, job } = await findTask(taskId, deps);
    const state = toState(build, job);
    if (isAtWork(job)) return { ...state, status: 'working', statusMessage: describeWork(job) };
    return { ...state, status: 'completed', result: await getFailure(build.id, context.mcpReq.signal) };
  });
  // An analysis belongs to everyone who may see the build, so a client that no longer waits does not stop it.
  for (const method of ['tasks/cancel', 'tasks/update'])
    server.setRequestHandler(method, { params: Task }, async ({ taskId }, context) => {
      requireExtension(context);
      await findTask(taskId, deps);
      return {};
    });
}

/**
 * Returns a task for a call whose build is being analyzed. Returns null if it is not, or if the client does
 * not declare the extension; then the tool answers by itself.
 */
export async function openTask(
  name: string,
  args: unknown,
  context: ServerContext,
  { stores }: InstallationDeps,
): Promise<OpenedTask | null> {
  const id = Arguments.safeParse(args).data?.id;
  // The ID of an analysis names one that has ended.
  const isBuild = id?.startsWith('bld_') === true || id?.includes(':') === true;
  if (name !== TOOL || id === undefined || !isBuild || !declaresExtension(context)) return null;
  const build = await findBuild(stores.builds, id, {}).catch(() => null);
  const job = build === null ? null : await stores.triages.findByBuild(build.id);
  if (build === null || job === null || !isAtWork(job)) return null;
  if ((await stores.analyses.listByBuild(build.id)).length > 0) return null;
  const state = toState(build, job);
  return { resultType: 'task', content: [], ...state, status: 'working', statusMessage: describeWork(job) };
}

/** Finds the build and the job of a task. Throws ProtocolError if there is none for this client. */
async function findTask(taskId: string, { stores }: InstallationDeps) {
  const build = taskId.startsWith('bld_') ? await stores.builds.find(taskId) : null;
  const job = build === null ? null : await stores.triages.findByBuild(build.id);
  if (build !== null && job !== null) return { build, job };
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no task ${toOneLine(taskId, 100)}.`);
}

function toState({ id }: Build, { createdAt, updatedAt }: TriageJob): TaskState {
  return { taskId: id, createdAt, lastUpdatedAt: updatedAt, ttlMs: null, pollIntervalMs: POLL_MS };
}

function isAtWork({ state }: TriageJob): boolean {
  return state === 'queued' || state === 'running';
}

function describeWork({ state }: TriageJob): string {
  return state === 'queued' ? 'The analysis waits for a worker.' : 'The build is being analyzed.';
}

function requireExtension(context: ServerContext): void {
  if (!declaresExtension(context))
    throw new MissingRequiredClientCapabilityError({
      requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
    });
}

function declaresExtension({ mcpReq }: ServerContext): boolean {
  const declared = Envelope.safeParse(mcpReq.envelope).data?.[CLIENT_CAPABILITIES_META_KEY].extensions;
  return declared?.[TASKS_EXTENSION] !== undefined;
}

const Envelope = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({ extensions: z.record(z.string(), z.unknown()).optional() }),
});
