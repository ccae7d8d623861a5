import { createHash } from 'node:crypto';
import * as client from 'openid-client';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import type { Principal, Role } from '../../domain/review.ts';
import type { SignInProvider } from '../../ports/access.ts';

export interface OpenIdOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly groupsClaim: string;
  /** Maps groups to roles. "*" is everybody. */
  readonly roles: Readonly<Record<string, readonly Role[]>>;
}

/** The time limit of one call to the issuer, in seconds. */
const TIME_LIMIT_S = 10;
const MAX_NAME = 64;

const Secrets = z.object({ verifier: z.string(), state: z.string(), nonce: z.string() });

const Claims = z.object({
  sub: z.string().min(1),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
});

/**
 * Creates a sign-in provider for the authorization code flow with PKCE, state and nonce, based on
 * openid-client. The issuer's metadata is discovered on first use, and again after a failure.
 */
export function createOpenIdProvider(options: OpenIdOptions): SignInProvider {
  let known: Promise<client.Configuration> | null = null;
  const configuration = async () => {
    known ??= discover(options);
    try {
      return await known;
    } catch (error) {
      known = null;
      throw createUpstreamError(error);
    }
  };
  const exchange = async (callback: string, query: string, secrets: string) => {
    const { verifier, state, nonce } = readSecrets(secrets);
    const answered = new URL(callback);
    answered.search = query;
    const checks = {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    };
    return await client
      .authorizationCodeGrant(await configuration(), answered, checks)
      .catch((error: unknown) => {
        throw toSignInError(error);
      });
  };
  return {
    name: new URL(options.issuer).host,
    issuer: options.issuer,
    begin: async (callback, _signal, more) => {
      const secrets = {
        verifier: client.randomPKCECodeVerifier(),
        state: client.randomState(),
        nonce: client.randomNonce(),
      };
      const found = await configuration();
      const address = client.buildAuthorizationUrl(found, {
        redirect_uri: callback,
        scope: chooseScopes(found, options, more),
        code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
        state: secrets.state,
        nonce: secrets.nonce,
      });
      return { address: address.href, secrets: JSON.stringify(secrets) };
    },
    finish: async (callback, query, secrets) =>
      toPrincipal((await exchange(callback, query, secrets)).claims(), options),
    redeem: async (callback, query, secrets) => {
      const { access_token: token } = await exchange(callback, query, secrets);
      const found = await configuration();
      const end = async () => {
        if (found.serverMetadata().revocation_endpoint === undefined) return;
        await client.tokenRevocation(found, token).catch(() => undefined);
      };
      return { token, end };
    },
  };
}

/**
 * Returns the scopes to ask for. Some issuers name groups only if they are asked for them, and say so in
 * their metadata; others refuse a scope that they do not know.
 */
function chooseScopes(
  found: client.Configuration,
  { roles }: OpenIdOptions,
  more: string | undefined,
): string {
  const areGroupsNeeded = Object.keys(roles).some((group) => group !== '*');
  const isGroupsKnown = found.serverMetadata().scopes_supported?.includes('groups') === true;
  const groups = areGroupsNeeded && isGroupsKnown ? ['groups'] : [];
  return ['openid', 'email', 'profile', ...groups, ...(more === undefined ? [] : [more])].join(' ');
}

async function discover({ issuer, clientId, clientSecret }: OpenIdOptions): Promise<client.Configuration> {
  const address = new URL(issuer);
  const isPlain = address.protocol === 'http:';
  const found = await client.discovery(
    address,
    clientId,
    undefined,
    clientSecret === null ? client.None() : client.ClientSecretPost(clientSecret),
    {
      timeout: TIME_LIMIT_S,
      // By default the library relies on TLS and does not verify the signature of an ID token.
      // An operator who configures http:// has an issuer on the same machine or accepts the risk.
      execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
    },
  );
  found.timeout = TIME_LIMIT_S;
  return found;
}

function readSecrets(text: string): z.infer<typeof Secrets> {
  try {
    return Secrets.parse(JSON.parse(text));
  } catch {
    throw new TriageError(
      'unauthenticated',
      'This sign-in was started in another browser or has expired. Start again.',
    );
  }
}

function toPrincipal(claims: unknown, { groupsClaim, roles }: OpenIdOptions): Principal {
  const { sub, email, email_verified } = Claims.parse(claims);
  const listed: unknown = Reflect.get(Object(claims), groupsClaim);
  const groups = ['*', ...[listed].flat().filter((group) => typeof group === 'string')];
  const granted = [
    ...new Set(groups.flatMap((group) => (Object.hasOwn(roles, group) ? (roles[group] ?? []) : []))),
  ];
  // A name that people choose themselves could be the name of someone else.
  const name = email !== undefined && email_verified === true ? email : `openid:${sub}`;
  if (granted.length === 0)
    throw new TriageError(
      'forbidden',
      `${name} is signed in, but none of their groups may use Faultline. ` +
        'FAULTLINE_OIDC_ROLES lists the groups that may.',
    );
  return { name: nameOfLength(name), roles: granted, repositories: null };
}

/**
 * Shortens a long name and appends a digest, so that two long names with the same beginning stay different.
 * Decisions, and the right to undo them, are tied to the name.
 */
function nameOfLength(name: string): string {
  if (name.length <= MAX_NAME) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, MAX_NAME - 17).toWellFormed()}~${digest}`;
}

/**
 * Converts an error of the sign-in. An invalid response from the issuer or the browser is `unauthenticated`;
 * any other error is a failure of the issuer.
 */
function toSignInError(error: unknown): TriageError {
  if (
    error instanceof client.AuthorizationResponseError ||
    error instanceof client.ResponseBodyError ||
    isMismatch(error)
  ) {
    return new TriageError('unauthenticated', `The sign-in failed: ${getErrorMessage(error)}. Start again.`, {
      cause: error,
    });
  }
  return createUpstreamError(error);
}

function isMismatch(error: unknown): boolean {
  return (
    error instanceof client.ClientError &&
    error.code !== 'OAUTH_TIMEOUT' &&
    error.code !== 'OAUTH_RESPONSE_IS_NOT_CONFORM'
  );
}

function createUpstreamError(error: unknown): TriageError {
  return new TriageError(
    'upstream-failed',
    `The OpenID Connect issuer returned an unexpected response: ${getErrorMessage(error)}`,
    {
      retryable: true,
      cause: error,
    },
  );
}
