import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LoopbackServer, sendJson, startLoopback } from './loopback-server.ts';

export interface JenkinsState {
  /** The console output by the path of a build, such as `/jenkins/job/shop/812/`. */
  readonly consoles: Map<string, string | Buffer>;
  /**
   * The test report by the path of a build. The server sends all of its fields, as Jenkins does without
   * `tree`.
   */
  readonly reports: Map<string, unknown>;
  /** The archived files of a build, by its path and their paths. */
  readonly artifacts: Map<string, Readonly<Record<string, string | Buffer>>>;
  /** Answers a request instead of Jenkins if it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
}

export interface JenkinsApi extends LoopbackServer {
  readonly state: JenkinsState;
}

/** Starts a server with the part of Jenkins' API that the build source uses, over real HTTP. */
export async function startJenkinsApi(): Promise<JenkinsApi> {
  const state: JenkinsState = {
    consoles: new Map(),
    reports: new Map(),
    artifacts: new Map(),
    intercept: null,
  };
  const server = await startLoopback((request, response) => {
    if (state.intercept?.(request, response) === true) return;
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const [, build = '', asked] = /^(.*\/)(consoleText|testReport\/api\/json)$/.exec(pathname) ?? [];
    const console = asked === 'consoleText' ? state.consoles.get(build) : undefined;
    const report = asked === 'consoleText' ? undefined : state.reports.get(build);
    const [, owner = '', file] = /^(.*?\/\d+\/)(api\/json|artifact\/.+)$/.exec(pathname) ?? [];
    const files = asked === undefined ? state.artifacts.get(owner) : undefined;
    const content = files?.[decodeURIComponent((file ?? '').slice('artifact/'.length))];
    if (files !== undefined && file === 'api/json') {
      sendJson(response, 200, {
        _class: 'hudson.model.FreeStyleBuild',
        artifacts: Object.keys(files).map(listArtifacts),
      });
    } else if (content !== undefined) response.writeHead(200).end(content);
    else if (console !== undefined)
      response.writeHead(200, { 'content-type': 'text/plain;charset=utf-8' }).end(console);
    else if (report !== undefined) sendJson(response, 200, report);
    else
      response
        .writeHead(404, { 'content-type': 'text/html;charset=utf-8' })
        .end('<html><body>Not found</body></html>');
  });
  return { ...server, state };
}

function listArtifacts(relativePath: string) {
  return { displayPath: relativePath, fileName: relativePath.split('/').at(-1), relativePath };
}
