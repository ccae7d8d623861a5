import type { FetchFunction } from '@slack/web-api';

/** Slack's answers to what is asked here are some kilobytes; fifty messages of a channel are more. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** A fetch for Slack's client: ends with the caller's signal, follows no redirect, since a token goes with it, and reads no endless answer. */
export function boundedFetch(signal: AbortSignal): FetchFunction {
  return async (input, init) => {
    const both = init?.signal === undefined ? signal : AbortSignal.any([signal, init.signal]);
    const response = await fetch(input, { ...init, signal: both, redirect: 'error' });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ANSWER_BYTES) throw new Error('The answer is larger than 4 MB.');
      chunks.push(chunk);
    }
    const { status, statusText, headers } = response;
    return new Response(status === 204 || status === 304 ? null : Buffer.concat(chunks), { status, statusText, headers });
  };
}
