import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LoopbackServer, sendJson, startLoopback } from './loopback-server.ts';

export interface JenkinsState {
  /** Path of a build, `/jenkins/job/shop/812/` → its console. */
  readonly consoles: Map<string, string | Buffer>;
  /** Path of a build → its test report, of which the server sends all fields, as Jenkins does without `tree`. */
  readonly reports: Map<string, unknown>;
  /** Answers in place of Jenkins where it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
}

export interface JenkinsApi extends LoopbackServer {
  readonly state: JenkinsState;
}

/** The two addresses of a Jenkins build that the build source uses, over real HTTP. */
export async function startJenkinsApi(): Promise<JenkinsApi> {
  const state: JenkinsState = { consoles: new Map(), reports: new Map(), intercept: null };
  const server = await startLoopback((request, response) => {
    if (state.intercept?.(request, response) === true) return;
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const [, build = '', asked] = /^(.*\/)(consoleText|testReport\/api\/json)$/.exec(pathname) ?? [];
    const console = asked === 'consoleText' ? state.consoles.get(build) : undefined;
    const report = asked === 'consoleText' ? undefined : state.reports.get(build);
    if (console !== undefined) response.writeHead(200, { 'content-type': 'text/plain;charset=utf-8' }).end(console);
    else if (report !== undefined) sendJson(response, 200, report);
    else response.writeHead(404, { 'content-type': 'text/html;charset=utf-8' }).end('<html><body>Not found</body></html>');
  });
  return { ...server, state };
}
