import { createHmac, randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import { createGithubExample } from '../../../test/support/webhook-senders.ts';

const CONNECTIONS = 32;
/** The number of runs in webhooks, each with its own body. The id of a delivery is never reused. */
const RUNS = 2_000;

export interface Load {
  readonly accepted: number;
  readonly refused: number;
  /** The number of broken sockets and missing responses. */
  readonly lost: number;
  readonly perSecond: number;
  /** Milliseconds since the time at which the request should have been sent. */
  readonly p50: number;
  readonly p99: number;
}

export interface Target {
  readonly url: string;
  readonly seconds: number;
  /** The number of requests per second. If absent, as many as are answered. */
  readonly rate?: number;
}

/** Creates a sender of signed deliveries with real `workflow_job` bodies, as GitHub sends them. */
export function createSender(secret: string): {
  readonly bytes: number;
  send(target: Target): Promise<Load>;
} {
  const bodies = Array.from({ length: RUNS }, (_, index) => {
    const job = { id: 90_000_000 + index, run_id: 30_000_000 + index, conclusion: 'failure' };
    return JSON.stringify(createGithubExample('workflow_job', 'completed', { workflow_job: job }, 1));
  });
  const signed = bodies.map((body) => ({
    body,
    signature: `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  }));
  let next = 0;
  const setupRequest = (request: autocannon.Request): autocannon.Request => {
    const { body, signature } = signed[next++ % RUNS] ?? { body: '', signature: '' };
    const headers = {
      ...request.headers,
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': signature,
    };
    return { ...request, body, headers };
  };
  return {
    bytes: Buffer.byteLength(bodies[0] ?? ''),
    send: async ({ url, seconds, rate }) => {
      const headers = { 'content-type': 'application/json', 'x-github-event': 'workflow_job' };
      const result = await autocannon({
        url,
        connections: CONNECTIONS,
        duration: seconds,
        ...(rate === undefined ? {} : { overallRate: rate }),
        requests: [{ method: 'POST', path: '/webhooks/github', headers, setupRequest }],
      });
      const { '2xx': accepted, non2xx: refused, errors, latency, duration } = result;
      return {
        accepted,
        refused,
        lost: errors,
        perSecond: accepted / duration,
        p50: latency.p50,
        p99: latency.p99,
      };
    },
  };
}
