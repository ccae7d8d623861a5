/** Names, in a reply made here, the code of the TriageError it stands for. */
export const REFUSAL_HEADER = 'x-faultline-refusal';

const MAX_HOPS = 3;
/** Never tried again by the client, unlike an error thrown from here. */
const FINAL_STATUS = 422;
const BODILESS: readonly number[] = [204, 205, 304];

/**
 * A fetch for calls that carry a token: follows redirects (a renamed repository) on the same host only, and reads no more
 * than `maxBytes`. What it refuses is answered as a reply with `REFUSAL_HEADER`. Who asks for `redirect: 'manual'` gets the first
 * reply as it comes, to look after by itself.
 */
export function createGuardedFetch(maxBytes: number): typeof fetch {
  return async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : input);
    if (init?.redirect === 'manual') return fetchOnce(url, init);
    const { origin } = url;
    for (let hops = 0; hops <= MAX_HOPS; hops += 1) {
      const response = await fetchOnce(url, init);
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null) return readBounded(response, url, maxBytes);
      await response.body?.cancel();
      url = new URL(location, url);
      if (url.origin !== origin) return refusal('upstream-failed', `it redirects to another host (${url.host}), which is not followed`);
      if ((init?.method ?? 'GET') !== 'GET') return refusal('upstream-failed', 'a query was redirected to another address');
    }
    return refusal('upstream-failed', `it was redirected more than ${MAX_HOPS} times`);
  };
}

async function fetchOnce(url: URL, init: RequestInit | undefined): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: 'manual' });
  } catch (error) {
    // Under this name the client does not try again; a time limit has another.
    if (init?.signal?.aborted === true) throw new DOMException('The call was stopped.', 'AbortError');
    throw error;
  }
}

async function readBounded(response: Response, url: URL, maxBytes: number): Promise<Response> {
  const headers = new Headers(response.headers);
  // The body is decoded by now, and nobody but us may refuse.
  for (const name of [REFUSAL_HEADER, 'content-encoding', 'content-length']) headers.delete(name);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop ends the connection.
    if (bytes > maxBytes) return refusal('too-large', `the response is larger than ${Math.round(maxBytes / 1024 / 1024)} MB`);
    chunks.push(chunk);
  }
  const body = BODILESS.includes(response.status) ? null : Buffer.concat(chunks);
  const read = new Response(body, { status: response.status, statusText: response.statusText, headers });
  // Where it came from at last: a renamed repository is known by it.
  return Object.defineProperty(read, 'url', { value: url.href });
}

function refusal(code: 'upstream-failed' | 'too-large', message: string): Response {
  return new Response(JSON.stringify({ message }), {
    status: FINAL_STATUS,
    headers: { 'content-type': 'application/json', [REFUSAL_HEADER]: code },
  });
}
