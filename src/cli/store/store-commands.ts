import { z } from 'zod';
import { migrateDatabase, openTokens, openWork } from '../../app/open-for-operators.ts';
import type { App } from '../../app/served-app.ts';
import { createApp } from '../../app.ts';
import { AccessToken, checkNewToken, digestOfToken, makeToken, NewToken } from '../../domain/access.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Role } from '../../domain/review.ts';
import { formatCount } from '../../lib/text.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import type { MigrateOptions } from '../../ports/database.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import type { VectorMatch } from '../../ports/vector-index.ts';
import type { FailedWork, PendingWork, WorkStore } from '../../stores/work.ts';
import { resolveService, type ServerOptions } from '../command-parts.ts';
import { adviseUrl, askServer, askServerForAll, findOrNull, type Service } from '../server-client.ts';
import { type DataOptions, getDataDirectory, getOperatorName, readStoreConfig } from '../settings.ts';
import { formatJson, print, printResult, say } from '../terminal.ts';

const SHOWN = 5;
const SEARCHED = 50;

/** Runs `faultline migrate`: updates the schema of the database and reports the applied migrations. */
export async function runMigrate(options: DataOptions & MigrateOptions): Promise<void> {
  const { repair = false } = options;
  const result = await migrateDatabase(readStoreConfig(getDataDirectory(options.data)), { repair });
  const { applied, repaired } = result;
  const lines = [
    applied.length === 0
      ? 'The schema is up to date.'
      : `The schema is up to date. Applied: ${applied.join(', ')}.`,
  ];
  if (repaired?.length === 0) lines.push('It is what the migrations create; nothing had to be repaired.');
  if (repaired !== undefined && repaired.length > 0) lines.push(`Repaired: ${repaired.join(', ')}.`);
  await printResult(options, result, lines.join('\n'));
}

/** Runs `faultline knowledge load`: updates the index from the folder of documents. */
export async function runKnowledgeLoad(options: DataOptions): Promise<void> {
  const counts = await withApp(options, (app) => app.loadKnowledge());
  const text =
    `${formatCount(counts.changed, 'document')} loaded, ${counts.unchanged} unchanged, ${counts.removed} ` +
    'removed.';
  await printResult(options, counts, text);
}

/** Runs `faultline knowledge search WORDS`: shows the results that an analyst would get from the index. */
export async function runKnowledgeSearch(words: string, options: DataOptions): Promise<void> {
  const matches = await withApp(options, async (app) => {
    await app.loadKnowledge();
    return await app.vectorIndex.search('knowledge', { text: words, limit: SEARCHED });
  });
  const documents = keepBestOfEach(matches);
  const rows = documents.map(
    (match) => `${match.score.toFixed(2)}  ${match.id}  ${match.metadata.title ?? ''}`,
  );
  await printResult(options, { matches: documents }, rows.join('\n') || 'No matches.');
}

/** Keeps the best match of each document, which is indexed as a whole and by phrase. */
function keepBestOfEach(matches: readonly VectorMatch[]): VectorMatch[] {
  const seen = new Set<string>();
  return matches
    .map((match) => ({ ...match, id: match.id.replace(/\/.*/, '') }))
    .filter(({ id }) => !seen.has(id) && seen.add(id))
    .slice(0, SHOWN);
}

export interface ForgetOptions extends DataOptions {
  readonly repository: string;
  readonly olderThan?: number;
  readonly dryRun?: boolean;
}

export async function runDelete({
  repository,
  olderThan = 0,
  dryRun = false,
  ...options
}: ForgetOptions): Promise<void> {
  await withApp(options, async ({ retention }) => {
    if (dryRun) {
      const counts = await retention.count(repository, olderThan);
      const rows = Object.entries(counts).map(
        ([name, count]) => `${String(count).padStart(8)}  ${name.replace(/[A-Z]/, ' $&').toLowerCase()}`,
      );
      await printResult(options, { dryRun: true, ...counts }, ['Would be deleted:', ...rows].join('\n'));
      return;
    }
    const done = await retention.forget(repository, olderThan, new AbortController().signal);
    const text =
      `Deleted ${formatCount(done.builds, 'build')} ` +
      `and ${formatCount(done.libraryEntries, 'library entry', 'library entries')} ` +
      `of ${repository}.${formatLeftText(done.pending)}`;
    await printResult(options, done, text);
  });
}

export async function runRetain(options: DataOptions): Promise<void> {
  await withApp(options, async ({ retention }) => {
    const done = await retention.retain(new AbortController().signal);
    const text =
      `Deleted ${formatCount(done.builds, 'build')}, and the logs ` +
      `of ${formatCount(done.logs, 'other build')}.${formatLeftText(done.pending)}`;
    await printResult(options, done, text);
  });
}

function formatLeftText({ logs, vectors }: { readonly logs: number; readonly vectors: boolean }): string {
  const stores = [
    logs > 0 ? `the logs of ${formatCount(logs, 'build')} in the archive` : '',
    vectors ? 'entries in the vector index' : '',
  ];
  const rest = stores.filter((part) => part !== '');
  return rest.length === 0
    ? ''
    : ` A store is unavailable: a worker will delete ${rest.join(' and ')} once it is back.`;
}

/** Opens an installation while the work runs. */
export async function withApp<Result>(
  options: DataOptions,
  work: (app: App) => Promise<Result>,
): Promise<Result> {
  const app = await createApp(readStoreConfig(getDataDirectory(options.data)), silentLogger);
  try {
    return await work(app);
  } finally {
    await app.close({ drainMs: 0 });
  }
}

export interface WorkCommandOptions extends DataOptions {
  /** The maximum number of rows of each kind. */
  readonly limit?: number;
  readonly topic?: string;
}

const MAX_ROWS = 50;

/** Runs `faultline work list`: shows pending work, and work that failed permanently. */
export async function listWork({ limit = MAX_ROWS, topic, ...options }: WorkCommandOptions): Promise<void> {
  const known = await withWork(options, async (work) => ({
    pending: await work.pending(topic ?? null, limit),
    failed: await work.failed(topic ?? null, limit),
  }));
  const pending = formatSection(
    'Pending work, in processing order:',
    known.pending.map(formatPending),
    'No pending work.',
  );
  const failed = formatSection(
    'Work that failed permanently:',
    known.failed.map(formatFailed),
    'No work failed permanently.',
  );
  await printResult(options, known, [...pending, ...failed].join('\n'));
}

/** Runs `faultline work retry KEY`: requests work again that failed or waits for its next attempt. */
export async function retryWork(key: string, { topic, ...options }: WorkCommandOptions): Promise<void> {
  const items = await withWork(options, (work) => work.retry(key, topic ?? null));
  if (items.length === 0)
    throw new TriageError(
      'not-found',
      `There is no work ${key}; \`faultline work list\` shows what there is.`,
    );
  const sentences = items.map((item) => `${item.topic} ${key} ${RETRIED[item.outcome]}`);
  if (items.every(({ outcome }) => outcome === 'in-work'))
    throw new TriageError('conflict', sentences.join('\n'));
  await printResult(options, { key, items }, sentences.join('\n'));
}

const RETRIED = {
  pending: 'is pending again; a worker will pick it up within seconds.',
  'in-work': 'is being processed now; there is nothing to retry.',
  done: 'is done; there is nothing to retry.',
};

async function withWork<Result>(
  options: DataOptions,
  use: (work: WorkStore) => Promise<Result>,
): Promise<Result> {
  const opened = await openWork(readStoreConfig(getDataDirectory(options.data)));
  try {
    return await use(opened.work);
  } finally {
    await opened.close();
  }
}

function formatSection(title: string, rows: readonly string[], none: string): string[] {
  return rows.length === 0 ? [none] : [title, ...rows.map((row) => `  ${row}`)];
}

function formatPending({ topic, key, groupKey, attempts, retries, error, held, dueAt }: PendingWork): string {
  const tries = held ? attempts - 1 + retries : attempts + retries;
  const state = held ? 'running' : `due ${dueAt}`;
  const failed = tries > 0 ? formatCount(tries, 'failed attempt') : '';
  return formatRow(topic, key, groupKey ?? '', state, failed, error ?? '');
}

function formatFailed({ topic, key, groupKey, at, error }: FailedWork): string {
  return formatRow(topic, key, groupKey ?? '', at, error ?? '');
}

function formatRow(...cells: readonly string[]): string {
  return cells
    .filter((cell) => cell !== '')
    .map(toVisibleLine)
    .join('  ');
}

export interface MakeTokenOptions extends ServerOptions {
  readonly name: string;
  readonly role: readonly Role[];
  /** The number of days. */
  readonly expires?: number;
  readonly repository?: readonly string[];
}

const Made = z.object({ token: z.string(), made: AccessToken });

/** Runs `faultline token make`. Only the token goes to standard output, so that a script can store it. */
export async function makeAccessToken(options: MakeTokenOptions): Promise<void> {
  const { name, role, expires = null, repository = null } = options;
  const wanted = NewToken.safeParse({
    name,
    roles: [...new Set(role)],
    repositories: repository,
    expiresInDays: expires,
  });
  if (!wanted.success) {
    const [issue] = wanted.error.issues;
    throw new TriageError(
      'invalid-config',
      `Cannot create the token: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}.`,
    );
  }
  const { token, made } = await withClient(options, (client) => client.make(wanted.data));
  if (options.json) return print(formatJson({ ok: true, token, ...made }));
  say(`${formatToken(made)}\nThis token is shown only once:`);
  return print(token);
}

export async function listTokens(options: ServerOptions): Promise<void> {
  const items = await withClient(options, (client) => client.list());
  return printResult(
    options,
    { items },
    items.map(formatToken).join('\n') ||
      'There are no tokens. Create one with: faultline token make --name ann --role admin',
  );
}

/** Runs `faultline token revoke NAME|ID`. */
export async function revokeToken(idOrName: string, options: ServerOptions): Promise<void> {
  const revoked = await withClient(options, (client) => client.revoke(idOrName));
  if (revoked === null)
    throw new TriageError(
      'not-found',
      `There is no active token ${idOrName}. List tokens with: faultline token list`,
    );
  return printResult(options, { revoked }, `revoked  ${formatToken(revoked)}`);
}

function formatToken({
  id,
  name,
  roles,
  repositories,
  createdBy,
  createdAt,
  expiresAt,
  lastUsedAt,
  revokedAt,
}: AccessToken): string {
  const over = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  const state =
    revokedAt !== null
      ? `revoked ${getDay(revokedAt)}`
      : expiresAt === null
        ? 'never expires'
        : `${over ? 'expired' : 'until'} ${getDay(expiresAt)}`;
  const used = lastUsedAt === null ? 'never used' : `used ${getDay(lastUsedAt)}`;
  const seen = repositories === null ? 'all repositories' : repositories.map(toVisibleLine).join(',');
  return [
    id,
    toVisibleLine(name),
    roles.join('+'),
    seen,
    state,
    used,
    `by ${toVisibleLine(createdBy)} ${getDay(createdAt)}`,
  ].join('  ');
}

function getDay(time: string): string {
  return time.slice(0, 10);
}

async function withClient<Result>(
  options: ServerOptions,
  work: (client: TokenClient) => Promise<Result>,
): Promise<Result> {
  if (options.url !== undefined || process.env.FAULTLINE_URL !== undefined)
    return work(createServerClient(await resolveService(options)));
  const config = readStoreConfig(getDataDirectory(options.data));
  const opened = await openTokens(config).catch(adviseUrl);
  try {
    return await work({
      make: async (wanted) => {
        const configured = config.auth.tokens.map(({ name }) => name);
        checkNewToken(wanted, configured);
        const token = makeToken();
        const made = await opened.tokens.keep({
          ...wanted,
          digest: digestOfToken(token),
          createdBy: getOperatorName(),
        });
        return { token, made };
      },
      list: () => opened.tokens.list(),
      revoke: (idOrName) => opened.tokens.revoke(idOrName, getOperatorName()),
    });
  } finally {
    await opened.close();
  }
}

type TokenClient = ReturnType<typeof createServerClient>;

/** Creates a client that manages the tokens of the service, which has opened the database. */
function createServerClient(server: Service) {
  return {
    make: (wanted: NewToken) => askServer(server, 'POST', '/api/tokens', Made, wanted),
    list: async () => await askServerForAll(server, '/api/tokens', AccessToken),
    /** Revokes a token. Returns null if there is no such token. */
    revoke: (idOrName: string) =>
      findOrNull(askServer(server, 'DELETE', `/api/tokens/${encodeURIComponent(idOrName)}`, AccessToken)),
  };
}
