import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOpenIdProvider } from '../../src/adapters/identity/openid.ts';
import { openConsole, type TestConsole } from '../support/console.ts';
import { CLIENT, type OpenIdIssuer, startOpenIdIssuer } from '../support/openid-provider.ts';

let issuer: OpenIdIssuer;
let console: TestConsole;
const headers = { host: 'localhost:4600' };

beforeAll(async () => {
  issuer = await startOpenIdIssuer();
  const roles = { reviewers: ['read', 'review'], '*': [] } as const;
  const signIn = createOpenIdProvider({
    issuer: issuer.url,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    groupsClaim: 'groups',
    roles,
  });
  console = await openConsole({ signIn });
});
beforeEach(() => {
  issuer.claims = { sub: 'u-1', email: 'ada@example.com', email_verified: true, groups: ['reviewers'] };
  issuer.forged = {};
  issuer.wrongKey = false;
});
afterAll(async () => {
  await console.close();
  await issuer.close();
});

const cookieOf = (answer: { headers: Record<string, unknown> }) =>
  [answer.headers['set-cookie']]
    .flat()
    .map((cookie) => String(cookie).split(';')[0])
    .join('; ');

/** To the issuer, and as far as back to us. */
async function signInThere() {
  const begun = await console.app.inject({ url: '/sign-in/openid?next=/builds', headers });
  expect(begun.statusCode).toBe(303);
  const there = await fetch(String(begun.headers.location), { redirect: 'manual' });
  return { cookie: cookieOf(begun), back: new URL(there.headers.get('location') ?? '') };
}

describe('signing in by OpenID Connect', () => {
  it('begins a session with the roles of the groups, and returns to the requested page', async () => {
    const { cookie, back } = await signInThere();
    const answer = await console.app.inject({
      url: back.pathname + back.search,
      headers: { ...headers, cookie },
    });
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe('/builds');
    const me = await console.app.inject({ url: '/me', headers: { ...headers, cookie: cookieOf(answer) } });
    expect(me.body).toContain('ada@example.com');
    expect(me.body).toContain('read, review');
  });

  it('distinguishes people whose long names have the same beginning', async () => {
    const names: string[] = [];
    for (const last of ['anna', 'ben']) {
      issuer.claims = {
        sub: `ou=people,dc=engineering,dc=branch-office,dc=example,dc=com,uid=${last}`,
        groups: ['reviewers'],
      };
      const { cookie, back } = await signInThere();
      const answer = await console.app.inject({
        url: back.pathname + back.search,
        headers: { ...headers, cookie },
      });
      const me = await console.app.inject({ url: '/me', headers: { ...headers, cookie: cookieOf(answer) } });
      names.push(/Signed in as <strong>([^<]+)</.exec(me.body)?.[1] ?? '');
    }
    expect(names.map((name) => name.length)).toEqual([64, 64]);
    expect(names[0]).not.toBe(names[1]);
  });

  it('is offered next to the token', async () => {
    const { body } = await console.app.inject({ url: '/sign-in?next=/builds', headers });
    expect(body).toContain(`Sign in with ${new URL(issuer.url).host}`);
  });

  it('refuses an answer that this browser did not request, and one that arrives twice', async () => {
    const { cookie, back } = await signInThere();
    expect((await console.app.inject({ url: back.pathname + back.search, headers })).statusCode).toBe(400);
    const wrongState = `${back.pathname}?code=${back.searchParams.get('code')}&state=other`;
    const wrong = await console.app.inject({ url: wrongState, headers: { ...headers, cookie } });
    expect(wrong.statusCode).toBe(401);
    expect(wrong.body).toContain('The sign-in failed');
    const url = back.pathname + back.search;
    const afterwards = await console.app.inject({ url, headers: { ...headers, cookie } });
    expect([afterwards.statusCode, afterwards.body]).toEqual([400, expect.stringContaining('is finished')]);
  });

  it('accepts an answer once, although the browser and the issuer would send it again', async () => {
    const { cookie, back } = await signInThere();
    const url = back.pathname + back.search;
    const answers = await Promise.all(
      [1, 2].map(async () => await console.app.inject({ url, headers: { ...headers, cookie } })),
    );
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 400]);
  });

  it('asks for groups only if the issuer says that it knows the scope and a role needs them', async () => {
    const scopesFor = async (known: readonly string[], group: string) => {
      const other = await startOpenIdIssuer({ metadata: () => ({ scopes_supported: known }) });
      const provider = createOpenIdProvider({
        issuer: other.url,
        clientId: CLIENT.id,
        clientSecret: CLIENT.secret,
        groupsClaim: 'groups',
        roles: { [group]: ['read'] },
      });
      const { address } = await provider.begin('http://localhost/back', AbortSignal.timeout(10_000));
      await other.close();
      return new URL(address).searchParams.get('scope');
    };
    expect(await scopesFor(['openid', 'groups'], 'team')).toBe('openid email profile groups');
    expect(await scopesFor(['openid', 'groups'], '*')).toBe('openid email profile');
    expect(await scopesFor(['openid'], 'team')).toBe('openid email profile');
  });

  it.each([{ iss: 'https://evil.example' }, { aud: 'somebody-else' }, { nonce: 'another' }, { exp: 1 }])(
    'refuses a token with %o',
    async (forged) => {
      issuer.forged = forged;
      const { cookie, back } = await signInThere();
      const answer = await console.app.inject({
        url: back.pathname + back.search,
        headers: { ...headers, cookie },
      });
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect([401, 500]).toContain(answer.statusCode);
    },
  );

  it('refuses a token that the issuer did not sign', async () => {
    issuer.wrongKey = true;
    const { cookie, back } = await signInThere();
    const answer = await console.app.inject({
      url: back.pathname + back.search,
      headers: { ...headers, cookie },
    });
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.statusCode).toBe(401);
    expect(answer.body).toContain('The sign-in failed');
  });

  it('informs a user who is known to the issuer but has no role here', async () => {
    issuer.claims = { ...issuer.claims, groups: ['others'] };
    const { cookie, back } = await signInThere();
    const answer = await console.app.inject({
      url: back.pathname + back.search,
      headers: { ...headers, cookie },
    });
    expect(answer.statusCode).toBe(403);
    expect(answer.body).toContain('none of their groups may use Faultline');
  });

  it('does not name a user by an unverified address', async () => {
    issuer.claims = { ...issuer.claims, email_verified: false };
    const { cookie, back } = await signInThere();
    const answer = await console.app.inject({
      url: back.pathname + back.search,
      headers: { ...headers, cookie },
    });
    const me = await console.app.inject({ url: '/me', headers: { ...headers, cookie: cookieOf(answer) } });
    expect(me.body).toContain('openid:u-1');
  });
});
