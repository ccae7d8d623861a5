import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { append } from '../../../../src/lib/collections.ts';
import { createGithubExample, signForGithub } from '../../../../test/support/webhook-senders.ts';
import type { AttackedService } from './service.ts';

/** A failed build with one log and one cause. */
export interface SentBuild {
  readonly repository?: string;
  readonly number: number | string;
  readonly log: string;
  readonly commit?: string;
  /** A test report that is sent with the log. */
  readonly report?: string;
  readonly artifact?: string;
}

export const LOG = `/srv/shop/src/cart.js:12
    return cart.discount.cents;
TypeError: Cannot read properties of undefined (reading 'discount')
    at total (/srv/shop/src/cart.js:12:15)
npm ERR! code ELIFECYCLE
`;

/** The response to an accepted upload. */
export const Uploaded = z.object({ buildId: z.string() });
const Built = z.object({
  triage: z.object({ state: z.string() }).nullable(),
  analyses: z.array(z.looseObject({ id: z.string(), category: z.string() })),
});
export type Built = z.infer<typeof Built>;

const Page = z.object({
  items: z.array(z.object({ id: z.string(), number: z.string() })),
  next: z.int().nullable(),
});

/** Returns the headers of a user with every role. */
export function createAuthorization({ token }: Pick<AttackedService, 'token'>): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
}

/** Creates the body of an upload. */
export function createUpload({
  repository = 'shop/api',
  number,
  log,
  commit,
  report,
  artifact,
}: SentBuild): string {
  const metadata = { repository, pipeline: 'ci', number, branch: 'main', status: 'failed', commit };
  const file = (name: string, text: string | undefined) => (text === undefined ? [] : [{ name, text }]);
  const files = {
    logs: file('test.log', log),
    reports: file('junit.xml', report),
    artifacts: file('server.log', artifact),
  };
  return JSON.stringify({ metadata, ...files });
}

/**
 * Uploads a build under its own key, so that a repetition creates no second build. Returns null if the
 * service was unavailable.
 */
export async function upload(service: AttackedService, build: SentBuild): Promise<Response | null> {
  const headers = { ...createAuthorization(service), 'idempotency-key': `build-${build.number}` };
  return await fetch(`${service.url}/api/builds`, {
    method: 'POST',
    headers,
    body: createUpload(build),
  }).catch(() => null);
}

/** Returns the id in the response to an accepted upload. */
export async function readAcceptedId(response: Response | null): Promise<string> {
  if (response?.status !== 202)
    throw new Error(`The upload was not accepted: ${response?.status} ${await response?.text()}`);
  return Uploaded.parse(await response.json()).buildId;
}

/** Returns the build once it is answered. Throws if that takes more than `minutes`. */
export async function waitForAnswers(service: AttackedService, buildId: string, minutes = 2): Promise<Built> {
  const until = performance.now() + minutes * 60_000;
  while (performance.now() < until) {
    const response = await fetch(`${service.url}/api/builds/${buildId}`, {
      headers: createAuthorization(service),
    });
    if (response.status !== 200)
      throw new Error(`The build ${buildId} was answered with ${response.status}: ${await response.text()}`);
    const built = Built.parse(await response.json());
    if (built.triage?.state === 'done') return built;
    await sleep(250);
  }
  throw new Error(`The build ${buildId} was not analysed within ${minutes} minutes.`);
}

/** The data of a run in a webhook of GitHub. */
export interface ToldRun {
  readonly id: number;
  readonly conclusion: 'failure' | 'success';
  readonly repository?: string;
}

/** Creates a signed delivery of GitHub with a new id. The pull request of the run has its number. */
export function createDelivery(
  { secret }: Pick<AttackedService, 'secret'>,
  { id, conclusion, repository = 'shop/api' }: ToldRun,
) {
  const run = {
    id,
    run_number: id,
    status: 'completed',
    conclusion,
    pull_requests: [{ number: id }],
    head_repository: null,
  };
  const body = JSON.stringify(
    createGithubExample('workflow_run', 'completed', {
      repository: { full_name: repository },
      workflow_run: run,
    }),
  );
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'workflow_run',
    'x-github-delivery': `run-${id}`,
    'x-hub-signature-256': signForGithub(body, secret),
  };
  return { headers, body };
}

/** Sends a webhook about a run. Returns the status of the response. */
export async function tell(service: AttackedService, run: ToldRun): Promise<number> {
  const response = await fetch(`${service.url}/webhooks/github`, {
    method: 'POST',
    ...createDelivery(service, run),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Lists every build that the service returns, with its number. */
export async function listBuilds(service: AttackedService): Promise<z.infer<typeof Page>['items']> {
  const items: z.infer<typeof Page>['items'] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const response = await fetch(`${service.url}/api/builds?limit=200&offset=${offset}`, {
      headers: createAuthorization(service),
    });
    const page = Page.parse(await response.json());
    append(items, page.items);
    offset = page.next;
  }
  return items;
}

/** Describes the builds, each of which has one cause, that have no answer or more than one. */
export async function listWronglyAnswered(
  service: AttackedService,
  buildIds: Iterable<string>,
  minutes = 5,
): Promise<string[]> {
  const until = performance.now() + minutes * 60_000;
  const wrong: string[] = [];
  for (const buildId of buildIds) {
    const left = Math.max(0.1, (until - performance.now()) / 60_000);
    const found = await waitForAnswers(service, buildId, left).catch((error: unknown) => String(error));
    if (typeof found === 'string') wrong.push(found);
    else if (found.analyses.length !== 1)
      wrong.push(`The build ${buildId} has ${found.analyses.length} answers.`);
  }
  return wrong;
}
