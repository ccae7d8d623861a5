import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { sendJson } from './loopback-server.ts';

export interface FakeComment {
  readonly id: number;
  readonly pullRequest: number;
  body: string;
  readonly login: string;
}

export interface FakeCheck {
  readonly id: number;
  readonly sha: string;
  readonly externalId: string;
  readonly slug: string;
  status: string;
  conclusion: string | null;
  output: Record<string, unknown>;
  /** The annotations in the order of the requests that added them. */
  readonly annotations: Annotation[][];
}

const Annotation = z.object({
  path: z.string(),
  start_line: z.int(),
  end_line: z.int(),
  annotation_level: z.enum(['notice', 'warning', 'failure']),
  title: z.string().max(255),
  message: z.string(),
  raw_details: z.string().optional(),
});
type Annotation = z.infer<typeof Annotation>;

/** A fake GitHub that stores what is written to it, and refuses what GitHub refuses. */
export interface FakeGithub {
  /** The login under which texts are stored. That of an App ends with `[bot]`. */
  login: string;
  readonly comments: FakeComment[];
  readonly checks: FakeCheck[];
  readonly statuses: Record<string, unknown>[];
  /** The files of every pull request. */
  files: string[];
  /** Every call that wrote something: "POST comment". */
  readonly writes: string[];
  /** Answers a request instead of the fake if it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  ids: number;
}

export function createFakeGithub(login = 'faultline-bot'): FakeGithub {
  return { login, comments: [], checks: [], statuses: [], files: [], writes: [], intercept: null, ids: 100 };
}

const CommentBody = z.object({ body: z.string().max(65_536) });
const CheckBody = z.object({
  name: z.string().optional(),
  head_sha: z.string().optional(),
  external_id: z.string().optional(),
  status: z.enum(['queued', 'in_progress', 'completed']),
  conclusion: z.string().optional(),
  output: z.object({
    title: z.string(),
    summary: z.string().max(65_535),
    text: z.string().max(65_535),
    annotations: z.array(Annotation).max(50).optional(),
  }),
});

/** Answers a request. Returns true if it did. */
export function answerForFake(
  client: FakeGithub,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
  const route = `${request.method} ${pathname.replace(/^\/repos\/[^/]+\/[^/]+/, '')}`;
  const ofOne =
    /^(?:GET|POST|PATCH|DELETE) (\/graphql|\/issues\/comments\/\d+|\/issues\/\d+\/comments|\/check-runs(?:\/\d+)?|\/statuses\/\w+|\/pulls\/\d+\/files|\/commits\/\w+\/check-runs)$/;
  if (!ofOne.test(route)) return false;
  if (client.intercept?.(request, response) === true) return true;
  const page = <Item>(items: readonly Item[]) => {
    const size = Number(searchParams.get('per_page') ?? 30);
    const at = Number(searchParams.get('page') ?? 1) - 1;
    return items.slice(at * size, (at + 1) * size);
  };
  const id = Number(/\/(\d+)(?:\/\w+)?$/.exec(pathname)?.[1] ?? 0);
  void readBody(request).then((body) => {
    if (route.endsWith('/graphql')) sendJson(response, 200, { data: { viewer: { login: client.login } } });
    else if (route.endsWith('/files'))
      sendJson(response, 200, page(client.files.map((filename) => ({ filename }))));
    else if (route.includes('/issues/')) answerComments(client, { route, id, page }, body, response);
    else if (route.includes('/statuses/')) keepStatus(client, body, response);
    else answerChecks(client, { route, id, sha: pathname.split('/').at(-2) ?? '' }, body, response);
  });
  return true;
}

interface Asked {
  readonly route: string;
  readonly id: number;
}

function answerComments(
  client: FakeGithub,
  { route, id, page }: Asked & { readonly page: <Item>(items: readonly Item[]) => Item[] },
  body: unknown,
  response: ServerResponse,
): void {
  const shown = ({ id: number, body: text, login }: FakeComment) => ({
    id: number,
    body: text,
    user: { login },
  });
  if (route.startsWith('GET'))
    return void sendJson(
      response,
      200,
      page(client.comments.filter((comment) => comment.pullRequest === id)).map(shown),
    );
  const [verb = ''] = route.split(' ');
  client.writes.push(`${verb} comment`);
  if (verb === 'POST') {
    const comment = {
      id: ++client.ids,
      pullRequest: id,
      body: CommentBody.parse(body).body,
      login: client.login,
    };
    client.comments.push(comment);
    return void sendJson(response, 201, shown(comment));
  }
  const index = client.comments.findIndex((comment) => comment.id === id);
  const found = client.comments[index];
  if (found === undefined) return void sendJson(response, 404, { message: 'Not Found' });
  if (found.login !== client.login)
    return void sendJson(response, 403, { message: 'Resource not accessible' });
  if (verb === 'DELETE') {
    client.comments.splice(index, 1);
    return void response.writeHead(204).end();
  }
  found.body = CommentBody.parse(body).body;
  sendJson(response, 200, shown(found));
}

function answerChecks(
  client: FakeGithub,
  { route, id, sha }: Asked & { readonly sha: string },
  body: unknown,
  response: ServerResponse,
): void {
  if (route.startsWith('GET')) {
    const found = client.checks.filter((fakeCheck) => fakeCheck.sha === sha).map(checkReply);
    return void sendJson(response, 200, { total_count: found.length, check_runs: found });
  }
  const read = CheckBody.safeParse(body);
  if (!read.success) return void sendJson(response, 422, { message: z.prettifyError(read.error) });
  const { head_sha, external_id, status, conclusion, output } = read.data;
  const [verb = ''] = route.split(' ');
  client.writes.push(`${verb} check`);
  let check = client.checks.find((fakeCheck) => fakeCheck.id === id);
  if (verb === 'POST') {
    const slug = client.login.replace('[bot]', '');
    check = {
      id: ++client.ids,
      sha: head_sha ?? '',
      externalId: external_id ?? '',
      slug,
      status,
      conclusion: null,
      output: {},
      annotations: [],
    };
    client.checks.push(check);
  }
  if (check === undefined) return void sendJson(response, 404, { message: 'Not Found' });
  const { annotations, ...said } = output;
  Object.assign(check, { status, conclusion: conclusion ?? null, output: said });
  if (annotations !== undefined) check.annotations.push(annotations);
  sendJson(response, verb === 'POST' ? 201 : 200, checkReply(check));
}

function checkReply({ id, externalId, slug, status, conclusion, annotations }: FakeCheck) {
  return {
    id,
    external_id: externalId,
    app: { slug },
    status,
    conclusion,
    output: { annotations_count: annotations.flat().length },
  };
}

function keepStatus(client: FakeGithub, body: unknown, response: ServerResponse): void {
  const status = z.record(z.string(), z.unknown()).parse(body);
  client.writes.push('POST status');
  client.statuses.push(status);
  sendJson(response, 201, { id: ++client.ids, ...status });
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text === '' ? null : JSON.parse(text);
}
