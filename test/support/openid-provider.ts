import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LoopbackServer, sendJson, startLoopback } from './loopback-server.ts';

/**
 * An OpenID Connect issuer over real HTTP: discovery, keys, authorization that signs everybody in, and tokens
 * with PKCE.
 */
export interface OpenIdIssuer {
  readonly url: string;
  /** The claims of the next person who signs in, in addition to those of the protocol. */
  claims: Record<string, unknown>;
  /** The claims of the protocol to override with wrong values. */
  forged: Record<string, unknown>;
  /** True to sign with a key that the issuer does not publish. */
  wrongKey: boolean;
  /** The clients by id, with their secrets. */
  readonly clients: Map<string, string>;
  /** The scopes that were granted, by access token. A revoked token is gone. */
  readonly granted: Map<string, string>;
  close(): Promise<void>;
}

export const CLIENT = { id: 'faultline-client', secret: 'a-client-secret-of-tests' } as const;

/** Starts an issuer. `metadata` is added to its own; `answerMore` answers requests that it does not know. */
export async function startOpenIdIssuer({
  metadata = () => ({}),
  answerMore = () => false,
}: {
  readonly metadata?: (url: string) => object;
  readonly answerMore?: (request: IncomingMessage, response: ServerResponse) => boolean;
} = {}): Promise<OpenIdIssuer> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const codes = new Map<
    string,
    { readonly nonce: string; readonly challenge: string; readonly redirect: string; readonly scope: string }
  >();
  const issuer: Omit<OpenIdIssuer, 'url' | 'close'> = {
    claims: {},
    forged: {},
    wrongKey: false,
    clients: new Map([[CLIENT.id, CLIENT.secret]]),
    granted: new Map(),
  };
  let server: LoopbackServer;

  const authorize = (query: URLSearchParams, response: ServerResponse) => {
    const code = createHash('sha256').update(query.toString()).digest('hex');
    const redirect = query.get('redirect_uri') ?? '';
    codes.set(code, {
      nonce: query.get('nonce') ?? '',
      challenge: query.get('code_challenge') ?? '',
      redirect,
      scope: query.get('scope') ?? '',
    });
    const back = new URL(redirect);
    back.search = new URLSearchParams({ code, state: query.get('state') ?? '' }).toString();
    response.writeHead(302, { location: back.href }).end();
  };

  const tokens = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const form = new URLSearchParams(body);
    const begun = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const id = form.get('client_id') ?? '';
    const known = issuer.clients.has(id) && issuer.clients.get(id) === form.get('client_secret');
    if (
      begun === undefined ||
      begun.challenge !== challenge ||
      begun.redirect !== form.get('redirect_uri') ||
      !known
    ) {
      return sendJson(response, 400, { error: 'invalid_grant' });
    }
    const now = Math.floor(Date.now() / 1000);
    const standard = { iss: server.url, aud: id, iat: now, exp: now + 300, nonce: begun.nonce };
    const idToken = jwt({ ...standard, ...issuer.claims, ...issuer.forged });
    const token = `granted-${randomUUID()}`;
    issuer.granted.set(token, begun.scope);
    sendJson(response, 200, {
      access_token: token,
      token_type: 'Bearer',
      expires_in: 300,
      id_token: idToken,
    });
  };

  const revoke = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    issuer.granted.delete(new URLSearchParams(body).get('token') ?? '');
    sendJson(response, 200, {});
  };

  const jwt = (claims: object) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${part(claims)}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), issuer.wrongKey ? other.privateKey : privateKey).toString('base64url')}`;
  };

  server = await startLoopback((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://issuer');
    if (pathname === '/.well-known/openid-configuration')
      return sendJson(response, 200, { ...createDiscovery(server.url), ...metadata(server.url) });
    if (pathname === '/keys')
      return sendJson(response, 200, {
        keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }],
      });
    if (pathname === '/authorize') return authorize(searchParams, response);
    if (pathname === '/token') return void tokens(request, response);
    if (pathname === '/revoke') return void revoke(request, response);
    if (answerMore(request, response)) return;
    sendJson(response, 404, {});
  });
  return Object.assign(issuer, { url: server.url, close: server.close });
}

function createDiscovery(url: string): object {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
  };
}
