import { z } from 'zod';
import { openTokens } from '../app/open-for-operators.ts';
import { AccessToken, checkNewToken, digestOfToken, makeToken, NewToken } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Role } from '../domain/review.ts';
import { visibleLine } from '../notifications/visible-text.ts';
import { type ServerOptions, serverOf } from './command-parts.ts';
import { adviseUrl, askServer, orNull, type Service } from './server-client.ts';
import { dataDirectory, operatorName, readStoreConfig } from './settings.ts';
import { print, say } from './terminal.ts';

export interface MakeTokenOptions extends ServerOptions {
  readonly name: string;
  readonly role: readonly Role[];
  /** Days. */
  readonly expires?: number;
  readonly repository?: readonly string[];
}

const Made = z.object({ token: z.string(), made: AccessToken });
type Made = z.infer<typeof Made>;

/** Where tokens are made and ended: a database, or a service that has it open. */
interface TokenClient {
  make(wanted: NewToken): Promise<Made>;
  list(): Promise<readonly AccessToken[]>;
  /** Null where there is none. */
  revoke(idOrName: string): Promise<AccessToken | null>;
}

/** `faultline token make`: the token alone goes to standard output, so that a script can keep it. */
export async function makeAccessToken(options: MakeTokenOptions): Promise<void> {
  const { name, role, expires = null, repository = null } = options;
  const wanted = NewToken.safeParse({ name, roles: [...new Set(role)], repositories: repository, expiresInDays: expires });
  if (!wanted.success) {
    const [issue] = wanted.error.issues;
    throw new TriageError('invalid-config', `Cannot create the token: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}.`);
  }
  const { token, made } = await withClient(options, (client) => client.make(wanted.data));
  if (options.json) return print(JSON.stringify({ ok: true, token, ...made }));
  say(`${lineOf(made)}\nThis token is shown only once:`);
  return print(token);
}

/** `faultline token list` */
export async function listTokens(options: ServerOptions): Promise<void> {
  const items = await withClient(options, (client) => client.list());
  if (options.json) return print(JSON.stringify({ ok: true, items }));
  return print(items.map(lineOf).join('\n') || 'There are no tokens. Create one with: faultline token make --name ann --role admin');
}

/** `faultline token revoke NAME|ID` */
export async function revokeToken(idOrName: string, options: ServerOptions): Promise<void> {
  const revoked = await withClient(options, (client) => client.revoke(idOrName));
  if (revoked === null) throw new TriageError('not-found', `There is no active token ${idOrName}. List tokens with: faultline token list`);
  return print(options.json ? JSON.stringify({ ok: true, revoked }) : `revoked  ${lineOf(revoked)}`);
}

function lineOf({ id, name, roles, repositories, createdBy, createdAt, expiresAt, lastUsedAt, revokedAt }: AccessToken): string {
  const over = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  const state =
    revokedAt !== null
      ? `revoked ${day(revokedAt)}`
      : expiresAt === null
        ? 'never expires'
        : `${over ? 'expired' : 'until'} ${day(expiresAt)}`;
  const used = lastUsedAt === null ? 'never used' : `used ${day(lastUsedAt)}`;
  const seen = repositories === null ? 'all repositories' : repositories.map(visibleLine).join(',');
  return [id, visibleLine(name), roles.join('+'), seen, state, used, `by ${visibleLine(createdBy)} ${day(createdAt)}`].join('  ');
}

function day(time: string): string {
  return time.slice(0, 10);
}

async function withClient<Result>(options: ServerOptions, work: (client: TokenClient) => Promise<Result>): Promise<Result> {
  if (options.url !== undefined || process.env.FAULTLINE_URL !== undefined) return work(serverClient(await serverOf(options)));
  const config = readStoreConfig(dataDirectory(options.data));
  const opened = await openTokens(config).catch(adviseUrl);
  try {
    return await work({
      make: async (wanted) => {
        const configured = config.auth.tokens.map(({ name }) => name);
        checkNewToken(wanted, configured);
        const token = makeToken();
        const made = await opened.tokens.keep({ ...wanted, digest: digestOfToken(token), createdBy: operatorName() });
        return { token, made };
      },
      list: () => opened.tokens.list(),
      revoke: (idOrName) => opened.tokens.revoke(idOrName, operatorName()),
    });
  } finally {
    await opened.close();
  }
}

function serverClient(server: Service): TokenClient {
  return {
    make: (wanted) => askServer(server, 'POST', '/api/tokens', Made, wanted),
    list: async () => (await askServer(server, 'GET', '/api/tokens', z.object({ items: z.array(AccessToken) }))).items,
    revoke: (idOrName) => orNull(askServer(server, 'DELETE', `/api/tokens/${encodeURIComponent(idOrName)}`, AccessToken)),
  };
}
