import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { messageOf } from '../domain/errors.ts';
import { type Finding, ok, wrong } from '../ports/examination.ts';
import { probe } from './probe.ts';
import type { Change, Question, RestClient } from './rest-client.ts';

/** How a provider is connected: what people are told, and what can be done for them. */
export interface Connection {
  /** As people write it: "GitHub". */
  readonly label: string;
  /** The page of the documentation that says it all. */
  readonly page: `docs/start/${string}.md`;
  /** What the webhook is to send, as the provider calls it. */
  readonly events: readonly string[];
  readonly secretSetting: string;
  readonly tokenSetting: string;
  /** What the token must be allowed to do, and what for. */
  readonly rights: readonly { readonly right: string; readonly why: string }[];
  /** What to click, in order; the address and the secret are told beside it. */
  readonly clicks: readonly string[];
  /** A delivery that is believed and changes nothing. */
  greet(secret: string, nowMs: number): Greeting;
  readonly hooks: WebhookAccess;
}

export interface Greeting {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Whether webhooks can be looked at and made over the provider's API, with what is configured. */
export type WebhookAccess =
  | { readonly because: string }
  /** `of`: what a repository is called there: "owner/name". */
  | { readonly of: string; readonly open: (repository: string) => WebhookQuestions };

/** A host's webhooks of one repository. Each throws as a `RestClient` does. */
export interface WebhookQuestions {
  readonly client: RestClient;
  /** One for each thing that the token must be allowed to read. */
  readonly checks: readonly RightCheck[];
  list(signal: AbortSignal): Promise<readonly Hook[]>;
  /** What is posted to make one. */
  create(hook: NewHook, signal: AbortSignal): Posted | Promise<Posted>;
  /** "write webhooks": what the token must be allowed to do for that, for people. */
  readonly right: string;
  /** Where the host is asked to send an event of its own now; null: it cannot be asked. */
  readonly testOf: ((id: string) => string) | null;
  /** What the host says of the newest deliveries, newest first; null: it does not say. */
  readonly deliveries: ((id: string, signal: AbortSignal) => Promise<readonly HookDelivery[]>) | null;
}

type Posted = Pick<Change, 'path' | 'query' | 'body'>;

export interface RightCheck {
  readonly name: string;
  readonly path: string;
  readonly query?: Question['query'];
  /** What to do where it is refused. */
  readonly mend: string;
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
  /** Of our answer; null: none came. */
  readonly status: number | null;
}

/** Time limit of one question with all its tries, in milliseconds. */
export const CONNECT_MS = 30_000;

/** A list of webhooks of which only the newest page counts: nobody has more of one repository. */
export const HOOKS_PAGE = 100;

/** An id as a number or a text, as a text. */
export const HookId = z.union([z.int(), z.string()]).transform(String);
const Created = z.object({ id: HookId });

/** What the token may read, asked one by one. Never throws, except where the caller aborts. */
export async function checkRights({ client, checks }: WebhookQuestions, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, path, query, mend } of checks) {
    try {
      await client.bytes({ path, what: `the ${name}`, signal, ...(query === undefined ? {} : { query }) });
      findings.push(ok(name, 'can be read'));
    } catch (error) {
      signal.throwIfAborted();
      findings.push(wrong(name, messageOf(error), mend));
    }
  }
  return findings;
}

/** The webhook of that address: the one that is there, or a new one. */
export async function ensureHook(
  questions: WebhookQuestions,
  hook: NewHook,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const known = (await questions.list(signal)).find(({ address }) => address === hook.address);
  if (known !== undefined) return { id: known.id, isNew: false };
  const { client, right } = questions;
  const posted = await questions.create(hook, signal);
  const { id } = await client.send(Created, { method: 'POST', ...posted, what: 'a webhook', right, signal });
  return { id, isNew: true };
}

/** Asks the host to send an event of its own now; `false` where it cannot be asked. */
export async function requestTest({ client, right, testOf }: WebhookQuestions, id: string, signal: AbortSignal): Promise<boolean> {
  if (testOf === null) return false;
  await client.send(z.unknown(), { method: 'POST', path: testOf(id), what: 'a test delivery', right, signal });
  return true;
}

/** What an answer to a delivery says. */
const Answer = z.object({ ignored: z.string().optional(), error: z.object({ message: z.string() }).optional() });

/** Sends a signed delivery to the address that the provider is given, and says what came of it. Never throws. */
export async function sendGreeting(address: string, { headers, body }: Greeting, signal: AbortSignal): Promise<Finding> {
  const name = 'test delivery';
  try {
    const { status, json } = await probe({ url: address, headers: { 'content-type': 'application/json', ...headers }, body }, signal);
    const said = Answer.safeParse(json).data;
    if (status === 202) return ok(name, `accepted at ${address}: ${said?.ignored ?? 'stored'}`);
    const mend = `check that ${address} leads to Faultline, and that the service runs with the same webhook secret`;
    return wrong(name, `${address} returned ${status}${said?.error === undefined ? '' : `: ${said.error.message}`}`, mend);
  } catch (error) {
    return wrong(name, messageOf(error), `check that ${address} can be reached from here, and that the service is running`);
  }
}

/** An id for a delivery that no host has sent. */
export function greetingId(): string {
  return `connect-${randomUUID()}`;
}
