import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson } from './loopback-server.ts';

interface Installation {
  readonly id: number;
  permissions: Record<string, string>;
  suspended: boolean;
}

interface IssuedToken {
  readonly token: string;
  readonly installation: number;
  readonly permissions: Readonly<Record<string, string>>;
  /** The names of the repositories without their owner. Null for all of the installation. */
  readonly repositories: readonly string[] | null;
  readonly endsAt: number;
  revoked: boolean;
}

/** A GitHub App and its installations. A test may change it at any time. */
export interface TestGithubApp {
  readonly id: string;
  readonly privateKey: string;
  publicKey: KeyObject;
  /** The installation of each repository, by `owner/name`. */
  readonly installations: Map<string, Installation>;
  /** The number and current name of each renamed repository, by its old `owner/name`. */
  readonly renamed: Map<string, { readonly number: number; readonly name: string }>;
  readonly issued: IssuedToken[];
}

const HOUR_MS = 3_600_000;
const ALL = { actions: 'read', contents: 'write', metadata: 'read', pull_requests: 'read', issues: 'write' };

export function createTestGithubApp(): TestGithubApp {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  // GitHub uses the PKCS#1 format.
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  return { id: '4711', privateKey: pem, publicKey, installations: new Map(), renamed: new Map(), issued: [] };
}

/** Installs the App on a repository. It is granted more than Faultline needs. */
export function install(
  app: TestGithubApp,
  repository: string,
  id = 7,
  permissions: Record<string, string> = ALL,
): Installation {
  const installation = { id, permissions, suspended: false };
  app.installations.set(repository, installation);
  return installation;
}

/**
 * Answers the App's own endpoints. Refuses tokens that the App did not create for the requested resource.
 * Returns true if it answered.
 */
export function answerForApp(
  app: TestGithubApp,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { pathname } = new URL(request.url ?? '', 'http://x');
  const [, name] = /^\/repos\/([^/]+\/[^/]+)\/installation$/.exec(pathname) ?? [];
  const [, number] = /^\/repositories\/(\d+)\/installation$/.exec(pathname) ?? [];
  const [, minting] = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(pathname) ?? [];
  const isOwn =
    pathname === '/app' || pathname === '/app/installations' || (name ?? number ?? minting) !== undefined;
  if (!isOwn) return refuseToken(app, request, response, pathname);
  const wrong = findTokenError(app, request.headers.authorization ?? '');
  if (wrong !== null) sendJson(response, 401, { message: wrong });
  else if (minting !== undefined) void createToken(app, Number(minting), request, response);
  else if (pathname === '/app') sendJson(response, 200, createAppReply(app));
  else if (pathname === '/app/installations')
    sendJson(response, 200, installOnce(app).map(createInstallationReply));
  else find(app, name, Number(number), request, response);
  return true;
}

/** Returns what is wrong with the App's JWT, or null. */
function findTokenError(app: TestGithubApp, authorization: string): string | null {
  const [, header = '', payload = '', signature = ''] =
    /^bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/i.exec(authorization) ?? [];
  if (signature === '') return 'A JSON web token could not be decoded';
  const { alg } = decodeText(header);
  const { iss, iat, exp } = decodeText(payload);
  const isSigned = verify(
    'RSA-SHA256',
    Buffer.from(`${header}.${payload}`),
    app.publicKey,
    Buffer.from(signature, 'base64url'),
  );
  if (alg !== 'RS256' || !isSigned) return 'A JSON web token could not be decoded';
  const now = Date.now() / 1000;
  if (String(iss) !== app.id) return "'Issuer' claim ('iss') must be the App's";
  if (typeof iat !== 'number' || iat > now)
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  if (typeof exp !== 'number' || exp <= now)
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  return exp - iat > 600 || exp - now > 600
    ? "'Expiration time' claim ('exp') is too far in the future"
    : null;
}

function decodeText(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}

function installOnce(app: TestGithubApp): Installation[] {
  return [
    ...new Map(
      [...app.installations.values()].map((installation) => [installation.id, installation]),
    ).values(),
  ];
}

function createAppReply(app: TestGithubApp) {
  return {
    id: Number(app.id),
    slug: 'faultline-test',
    name: 'Faultline Test',
    html_url: 'https://github.com/apps/faultline-test',
    permissions: installOnce(app)[0]?.permissions ?? ALL,
    installations_count: installOnce(app).length,
  };
}

function createInstallationReply({ id, permissions, suspended }: Installation) {
  return {
    id,
    app_id: 4711,
    permissions,
    repository_selection: 'selected',
    suspended_at: suspended ? '2026-01-01T00:00:00Z' : null,
  };
}

function find(
  app: TestGithubApp,
  name: string | undefined,
  number: number,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const moved = app.renamed.get(name ?? '');
  if (moved !== undefined) {
    // Below where the API lies, as seen from outside.
    const location = new URL(`/repositories/${moved.number}/installation`, `http://${request.headers.host}`)
      .href;
    return void response.writeHead(301, { location }).end();
  }
  const now = name ?? [...app.renamed.values()].find((one) => one.number === number)?.name ?? '';
  const found = app.installations.get(now);
  if (found === undefined) sendJson(response, 404, { message: 'Not Found', status: '404' });
  else sendJson(response, 200, createInstallationReply(found));
}

async function createToken(
  app: TestGithubApp,
  id: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const {
    permissions,
    repositories,
    repository_ids: numbers,
  } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
  const found = installOnce(app).find((installation) => installation.id === id);
  if (found === undefined) return sendJson(response, 404, { message: 'Not Found' });
  if (found.suspended) return sendJson(response, 403, { message: 'This installation has been suspended' });
  const names: string[] | null = numbers === undefined ? (repositories ?? null) : toNames(app, numbers);
  const own = [...app.installations]
    .filter(([, installation]) => installation.id === id)
    .map(([name]) => name.split('/')[1] ?? '');
  const isOurs = names === null || names.every((name) => own.includes(name));
  const isGranted = Object.keys(permissions ?? {}).every((right) => found.permissions[right] !== undefined);
  if (!isOurs || !isGranted)
    return sendJson(response, 422, {
      message: 'There is at least one repository or permission that does not exist',
    });
  const endsAt = Date.now() + HOUR_MS;
  const token = `ghs_ofTheApp${String(app.issued.length + 1).padStart(28, '0')}`;
  app.issued.push({ token, installation: id, permissions, repositories: names, endsAt, revoked: false });
  const reply = {
    token,
    expires_at: new Date(endsAt).toISOString(),
    permissions,
    repository_selection: 'selected',
  };
  sendJson(response, 201, reply, { date: new Date(Date.now()).toUTCString() });
}

function toNames(app: TestGithubApp, numbers: readonly number[]): string[] {
  return [...app.renamed.values()]
    .filter(({ number }) => numbers.includes(number))
    .map(({ name }) => name.split('/')[1] ?? '');
}

function refuseToken(
  app: TestGithubApp,
  request: IncomingMessage,
  response: ServerResponse,
  pathname: string,
): boolean {
  const { authorization } = request.headers;
  // Tokens of others do not belong to this App.
  if (authorization?.startsWith('token ghs_ofTheApp') !== true) return false;
  const issued = app.issued.find(({ token }) => authorization === `token ${token}`);
  if (issued === undefined || issued.revoked || issued.endsAt <= Date.now()) {
    sendJson(response, 401, { message: 'Bad credentials' });
    return true;
  }
  const [, repository] = /^\/repos\/[^/]+\/([^/]+)/.exec(pathname) ?? [];
  if (repository === undefined || issued.repositories === null || issued.repositories.includes(repository))
    return false;
  sendJson(response, 404, { message: 'Not Found' });
  return true;
}
