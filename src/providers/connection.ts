import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { getErrorMessage } from '../domain/errors.ts';
import { type Finding, ok, wrong } from '../ports/health.ts';
import { probe } from './check.ts';
import type { Change, RestClient, RestRequest } from './rest-client.ts';

/** The setup of a provider: instructions for people, and the steps that can be automated. */
export interface Connection {
  /** The display name: "GitHub". */
  readonly label: string;
  /** The page of the documentation with all details. */
  readonly page: `docs/start/${string}.md`;
  /** The events that the webhook must send, in the provider's terms. */
  readonly events: readonly string[];
  readonly secretSetting: string;
  readonly tokenSetting: string;
  /** The permissions that the token needs, with their purposes. */
  readonly rights: readonly { readonly right: string; readonly why: string }[];
  /** The steps in the provider's interface, in order. The URL and the secret are shown next to them. */
  readonly steps: readonly string[];
  /** Returns a test delivery that is accepted but has no effect. */
  createTestDelivery(secret: string, nowMs: number): TestDelivery;
  readonly hooks: WebhookAccess;
  /** The registration of an App of this installation's own; absent if the host has none. */
  readonly app?: AppRegistration;
  /** The OAuth application of this installation's own; absent if the host has no sign-in. */
  readonly oauth?: OAuthRegistration;
}

/**
 * An OAuth application at the host. With it the host signs people in by OpenID Connect, and a person can
 * grant the right to create a webhook.
 */
export interface OAuthRegistration {
  /** The URL of the host as an issuer of identities. */
  readonly issuer: string;
  /** The claim in which the host names the groups of a user. */
  readonly groupsClaim: string;
  /** An example of a group, in the host's form: "acme:ci". */
  readonly groupExample: string;
  /** The scopes of the application. */
  readonly scopes: readonly string[];
  /** The scope that a person grants to create a webhook. */
  readonly webhookScope: string;
  /** The pages on which it can be created by hand. */
  readonly pages: readonly { readonly words: string; readonly address: string }[];
  /** Creates it with the configured token. Throws as `RestClient` does. Null if there is no token. */
  readonly create:
    | ((application: NewApplication, signal: AbortSignal) => Promise<ApplicationCredentials>)
    | null;
  /** The permission that the token needs to create it, in words for people. */
  readonly right: string;
  /** Opens the webhooks of a repository with the access that a person granted. */
  openWebhooks(repository: string, token: string): RepositoryWebhooks;
}

export interface NewApplication {
  readonly name: string;
  /** The URLs to which the host may send people back. */
  readonly returnTo: readonly string[];
}

export interface ApplicationCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** An App that the host creates from a description, after a person confirmed it there. */
export interface AppRegistration {
  /** True if an App is configured. */
  readonly isConfigured: boolean;
  /** The permissions that the App gets, for people. */
  readonly permissions: readonly string[];
  /** Returns the address to which the browser posts the manifest. */
  describe(request: AppRequest): { readonly address: string; readonly manifest: object };
  /**
   * Exchanges the code that the host sent back for the App's credentials, once. Throws as `RestClient` does.
   */
  redeem(code: string, signal: AbortSignal): Promise<NewApp>;
}

interface AppRequest {
  readonly publicUrl: string;
  /** The URL of our webhook. */
  readonly webhook: string;
  /** The URL to which the host sends people back. */
  readonly returnTo: string;
  /** The organization that shall own the App; null for the person's own account. */
  readonly organization: string | null;
}

/** An App that was just created. */
export interface NewApp {
  readonly name: string;
  /** The page on which it is installed on repositories. */
  readonly installAt: string;
  /** Its credentials, by setting. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface TestDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The access to webhooks over the provider's API, or the reason why the configuration does not allow it. */
export type WebhookAccess =
  | { readonly because: string }
  /** The host's form of a repository name, "owner/name", and the function that opens its webhooks. */
  | { readonly nameFormat: string; readonly open: (repository: string) => RepositoryWebhooks };

/** The webhooks of one repository at its host. Methods throw as `RestClient` does. */
export interface RepositoryWebhooks {
  readonly client: RestClient;
  /** One check for each thing that the token must be allowed to read. */
  readonly checks: readonly RightCheck[];
  list(signal: AbortSignal): Promise<readonly Hook[]>;
  /** Returns the request that creates a webhook. */
  create(hook: NewHook, signal: AbortSignal): Posted | Promise<Posted>;
  /** The right that the token needs to manage webhooks, in words for people: "write webhooks". */
  readonly right: string;
  /** The path that makes the host send a test event now; null if the host has none. */
  readonly buildTestPath: ((id: string) => string) | null;
  /** The newest deliveries according to the host, newest first; null if the host does not report them. */
  readonly deliveries: ((id: string, signal: AbortSignal) => Promise<readonly HookDelivery[]>) | null;
}

type Posted = Pick<Change, 'path' | 'query' | 'body'>;

export interface RightCheck {
  readonly name: string;
  readonly path: string;
  readonly query?: RestRequest['query'];
  /** The remedy if the request is refused. */
  readonly remedy: string;
}

export interface Hook {
  readonly id: string;
  readonly address: string;
}

export interface NewHook {
  readonly address: string;
  readonly secret: string;
}

export interface HookDelivery {
  readonly event: string;
  /** The HTTP status of our response; null if there was none. */
  readonly status: number | null;
}

/** The time limit of one request with all its attempts, in milliseconds. */
export const CONNECT_MS = 30_000;

/** The size of the only page of webhooks that is read. No repository has more webhooks. */
export const HOOKS_PAGE = 100;

/** An id as text, which hosts send as a number or a text. */
export const HookId = z.union([z.int(), z.string()]).transform(String);
const Created = z.object({ id: HookId });

/** Checks each permission of the token with one request. Never throws, unless the caller aborts. */
export async function checkRights(
  { client, checks }: RepositoryWebhooks,
  signal: AbortSignal,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, path, query, remedy } of checks) {
    try {
      await client.bytes({ path, what: `the ${name}`, signal, ...(query === undefined ? {} : { query }) });
      findings.push(ok(name, 'can be read'));
    } catch (error) {
      signal.throwIfAborted();
      findings.push(wrong(name, getErrorMessage(error), remedy));
    }
  }
  return findings;
}

/** Returns the webhook with this address, or creates it. */
export async function ensureHook(
  webhooks: RepositoryWebhooks,
  hook: NewHook,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const known = (await webhooks.list(signal)).find(({ address }) => address === hook.address);
  if (known !== undefined) return { id: known.id, isNew: false };
  const { client, right } = webhooks;
  const posted = await webhooks.create(hook, signal);
  const { id } = await client.send(Created, { method: 'POST', ...posted, what: 'a webhook', right, signal });
  return { id, isNew: true };
}

/** Asks the host to send a test event now. Returns `false` if the host has none. */
export async function requestTest(
  { client, right, buildTestPath }: RepositoryWebhooks,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (buildTestPath === null) return false;
  await client.send(z.unknown(), {
    method: 'POST',
    path: buildTestPath(id),
    what: 'a test delivery',
    right,
    signal,
  });
  return true;
}

/** The content of our response to a delivery. */
const Answer = z.object({
  ignored: z.string().optional(),
  error: z.object({ message: z.string() }).optional(),
});

/** Sends a signed delivery to the URL that the provider is given, and describes the result. Never throws. */
export async function sendTestDelivery(
  address: string,
  { headers, body }: TestDelivery,
  signal: AbortSignal,
): Promise<Finding> {
  const name = 'test delivery';
  try {
    const { status, json } = await probe(
      { url: address, headers: { 'content-type': 'application/json', ...headers }, body },
      signal,
    );
    const reply = Answer.safeParse(json).data;
    if (status === 202) return ok(name, `accepted at ${address}: ${reply?.ignored ?? 'stored'}`);
    const remedy = `check that ${address} leads to Faultline, and that the service runs with the same webhook secret`;
    return wrong(
      name,
      `${address} returned ${status}${reply?.error === undefined ? '' : `: ${reply.error.message}`}`,
      remedy,
    );
  } catch (error) {
    return wrong(
      name,
      getErrorMessage(error),
      `check that ${address} can be reached from here, and that the service is running`,
    );
  }
}

/** Creates an id for a delivery that no host has sent. */
export function createTestDeliveryId(): string {
  return `connect-${randomUUID()}`;
}
