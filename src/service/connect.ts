import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { type Finding, note, ok, runCheck, wrong } from '../ports/health.ts';
import {
  type ApplicationCredentials,
  type Connection,
  checkRights,
  ensureHook,
  type NewApp,
  type NewApplication,
  type RepositoryWebhooks,
  requestTest,
  sendTestDelivery,
} from '../providers/connection.ts';
import type { Provider } from '../providers/provider.ts';

/** The providers for which an embedded installation creates a webhook secret if none is set. */
export const MADE_SECRETS: readonly string[] = ['github', 'jenkins'];

/** The parts of a provider that are needed to connect it. */
export type Connectable = Pick<Provider, 'name' | 'webhook' | 'connection' | 'checks' | 'rerun'>;

/** The actions to perform in addition to the checks. */
export interface ConnectRequest {
  /** The name of the repository on its host. If null, no repository is checked. */
  readonly repository: string | null;
  /** The URL of this service's webhook; null if unknown. */
  readonly address: string | null;
  /** The secret for creating the webhook and signing test deliveries; null if there is none yet. */
  readonly secret: string | null;
  readonly create: boolean;
  readonly test: boolean;
  /** Access that a person granted for this, instead of the configured token. */
  readonly grantedToken?: string;
}

/** Exchanges the code that a host sent back for the credentials of a new App. */
export async function requestNewApp(
  provider: Connectable,
  code: string,
  signal: AbortSignal,
): Promise<NewApp> {
  const { app } = await provider.connection();
  if (app === undefined) throw new TriageError('invalid-input', `${provider.name} has no Apps.`);
  return await app.redeem(code, signal);
}

/** Creates an OAuth application of this installation at a provider's host. */
export async function createOAuthApplication(
  provider: Connectable,
  application: NewApplication,
  signal: AbortSignal,
): Promise<ApplicationCredentials> {
  const { oauth, label, tokenSetting } = await provider.connection();
  if (oauth?.create == null)
    throw new TriageError(
      'invalid-input',
      `Set ${tokenSetting}, or create the application in ${label} by hand.`,
    );
  return await oauth.create(application, signal);
}

/** The number of attempts to read the result of a ping from a host, and the delay between them. */
const LOOKS = 5;
const LOOK_MS = 1_000;

/** Returns the URL of a provider's webhook below the URL of the service. */
export function getWebhookAddress({ webhook }: Connectable, publicUrl: string): string {
  return `${publicUrl.replace(/\/$/, '')}${webhook.path}`;
}

/**
 * Checks whether a provider can be reached and whether the token may read the repository, creates the
 * webhook, and sends a test delivery, as far as requested. Yields each finding as soon as it is known. Throws
 * only if the caller aborts.
 */
export async function* connect(
  provider: Connectable,
  request: ConnectRequest,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  const { repository, create } = request;
  const connection = await provider.connection();
  for (const check of provider.checks(repository === null ? [] : [repository])) yield* await runCheck(check);
  const webhooks = openWebhooks(connection, request);
  if ('because' in webhooks) {
    if (create)
      yield wrong(
        'webhook',
        `it cannot be created here: ${webhooks.because}`,
        `add it by hand, as ${connection.page} says`,
      );
    else
      yield note(
        'repository',
        `not checked: ${webhooks.because}`,
        'the first failed build will show whether it works',
      );
  } else {
    yield* await checkRights(webhooks, signal);
  }
  const id = 'because' in webhooks ? null : yield* resolveWebhook(webhooks, request, signal);
  if (!request.test) return;
  if (!('because' in webhooks) && id !== null) yield* listPinged(connection.label, webhooks, id, signal);
  yield await testDelivery(connection, request, signal);
}

function openWebhooks(
  { hooks, oauth }: Connection,
  { repository, grantedToken }: ConnectRequest,
): RepositoryWebhooks | { readonly because: string } {
  try {
    if (oauth !== undefined && grantedToken !== undefined && repository !== null)
      return oauth.openWebhooks(repository, grantedToken);
    if ('because' in hooks) return hooks;
    if (repository === null) return { because: `no repository was given (${hooks.nameFormat})` };
    return hooks.open(repository);
  } catch (error) {
    return { because: getErrorMessage(error) };
  }
}

/**
 * Finds the id of the webhook at our URL, and creates the webhook if requested. Returns null if there is
 * none.
 */
async function* resolveWebhook(
  webhooks: RepositoryWebhooks,
  request: ConnectRequest,
  signal: AbortSignal,
): AsyncGenerator<Finding, string | null> {
  const { address, secret, create } = request;
  const name = 'webhook';
  if (address === null) {
    if (create)
      yield wrong(
        name,
        'not created: the public address of the service is not set',
        'set FAULTLINE_PUBLIC_URL; in a terminal, --url does, too',
      );
    return null;
  }
  if (create && secret === null) {
    yield wrong(
      name,
      'not created: there is no secret',
      'set the secret named above; in a terminal, --new-secret makes one',
    );
    return null;
  }
  try {
    if (create && secret !== null) {
      const { id, isNew } = await ensureHook(webhooks, { address, secret }, signal);
      yield isNew
        ? ok(name, `created for ${address} (ID ${id})`)
        : note(
            name,
            `there is already one for ${address} (ID ${id}); it was not changed`,
            'check that its secret and events match those above',
          );
      return id;
    }
    return (await webhooks.list(signal)).find((hook) => hook.address === address)?.id ?? null;
  } catch (error) {
    signal.throwIfAborted();
    if (create)
      yield wrong(
        name,
        getErrorMessage(error),
        'give the token the permission named above, or add the webhook by hand',
      );
    return null;
  }
}

/** Requests the provider's own test delivery and reports its result, if the provider offers that. */
async function* listPinged(
  label: string,
  webhooks: RepositoryWebhooks,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  const name = 'ping';
  const { deliveries } = webhooks;
  const remedy = "check the webhook's page on the provider's site: it lists each delivery with its response";
  try {
    if (!(await requestTest(webhooks, id, signal))) return;
    for (let look = 0; deliveries !== null && look < LOOKS; look += 1) {
      const [newest] = await deliveries(id, signal);
      if (newest?.status != null) {
        const says = `${label} sent ${newest.event} and got ${newest.status}`;
        return yield newest.status < 300 ? ok(name, says) : wrong(name, says, remedy);
      }
      await sleep(LOOK_MS, undefined, { signal });
    }
    yield note(name, `requested from ${label}`, remedy);
  } catch (error) {
    signal.throwIfAborted();
    yield note(name, getErrorMessage(error), remedy);
  }
}

async function testDelivery(
  connection: Connection,
  { address, secret }: ConnectRequest,
  signal: AbortSignal,
): Promise<Finding> {
  const name = 'test delivery';
  if (address === null)
    return wrong(
      name,
      'not sent: the public address of the service is not set',
      'set FAULTLINE_PUBLIC_URL; in a terminal, --url does, too',
    );
  if (secret === null)
    return wrong(name, 'not sent: there is no secret to sign it with', `set ${connection.secretSetting}`);
  return await sendTestDelivery(address, connection.createTestDelivery(secret, Date.now()), signal);
}

/** Finds the provider with this name. Throws `invalid-input` with the available names. */
export function findProvider(providers: readonly Connectable[], name: string): Connectable {
  const found = providers.find((provider) => provider.name === name);
  if (found !== undefined) return found;
  const names = providers.map((provider) => provider.name).join(', ');
  throw new TriageError('invalid-input', `${name} is not a provider. Use one of ${names}.`);
}
