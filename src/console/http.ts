import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { readBytes } from '../lib/http-body.ts';
import { type Html, html } from './html.ts';

/**
 * The Content Security Policy. It forbids loading from other hosts, framing, and sending data away. Only one
 * named policy may turn text into markup (Trusted Types).
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types faultline',
].join('; ');

/**
 * Sets the security headers of every response of the console. Forms may be sent to the console, and to
 * `formOrigin`, an origin.
 */
export function protect(reply: FastifyReply, formOrigin = ''): void {
  reply
    .header(
      'content-security-policy',
      `${CONTENT_SECURITY_POLICY}; form-action 'self'${formOrigin === '' ? '' : ` ${formOrigin}`}`,
    )
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'same-origin')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('permissions-policy', 'camera=(), microphone=(), geolocation=()');
}

/** The interval between heartbeats in milliseconds. Proxies close connections that are silent for long. */
const HEARTBEAT_MS = 15_000;
/** The delay in milliseconds before a browser reconnects after a broken connection. */
const RETRY_MS = 3_000;

/**
 * Sends one event. Text with several lines becomes several data lines. If events have ids, a reader that
 * reconnects continues after the last one.
 */
export type Emit = (event: string, text: string, id?: string) => void;

/** Sends server-sent events until `work` ends. If the reader disconnects, the signal is aborted. */
export function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (emit: Emit, signal: AbortSignal) => Promise<void>,
): FastifyReply {
  const stream = new PassThrough();
  const gone = new AbortController();
  const write = (text: string) => void (stream.writable && stream.write(text));
  const emit: Emit = (event, text, id) => {
    const data = text.split('\n').map((line) => `data: ${line}\n`);
    write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\n${data.join('')}\n`);
  };
  const heartbeat = setInterval(() => write(': still here\n\n'), HEARTBEAT_MS);
  stream.on('error', () => undefined); // a broken connection is the reader going away
  stream.on('close', () => {
    clearInterval(heartbeat);
    gone.abort();
  });
  write(`retry: ${RETRY_MS}\n\n`);
  protect(reply);
  reply.header('content-type', 'text/event-stream; charset=utf-8').header('x-accel-buffering', 'no');
  work(emit, gone.signal)
    .catch((error: unknown) => {
      if (!gone.signal.aborted) request.log.warn({ error }, 'an event stream was interrupted');
    })
    .finally(() => stream.end());
  return reply.send(stream);
}

/** Renders a notice of query fields that the page does not have and of values that are not valid. */
export function misreadBanner(request: FastifyRequest, schema: z.ZodObject): Html {
  const known = Object.keys(schema.shape);
  const [read, usual] = [request.query, schema.parse({})].map(
    (fields) => new Map(Object.entries(Object(fields))),
  );
  const parts = [...new URLSearchParams(request.url.split('?')[1] ?? '')].flatMap(([name, value]) => {
    const [misread, given] = [`${name}=${value}`.slice(0, 100), value.trim()];
    if (!known.includes(name)) return [`${misread} (this page has ${known.join(', ')})`];
    const isLeftOut =
      given !== '' &&
      String(read?.get(name)) === String(usual?.get(name)) &&
      String(read?.get(name)) !== given;
    return isLeftOut ? [misread] : [];
  });
  return html`${
    parts.length > 0 &&
    html`<div class="banner" role="note"><p>Ignored, because this page does not understand it:
      ${parts.join('; ')}.</p></div>`
  }`;
}

/** The id in an address. */
export const IdParams = z.object({ id: z.string().min(1).max(300) });

/** The number of rows of a list that are skipped. */
export const Offset = z.coerce.number().int().min(0).max(1_000_000).catch(0).default(0);

/** Words in a query. Text that is too long counts as empty. */
export const Words = z.string().trim().max(300).catch('').default('');

/** Words in a query. An empty field counts as absent. */
export const WordsOrNone = Words.transform((text) => (text === '' ? undefined : text));

/** The earliest and latest valid day. Databases do not accept dates that are much farther away. */
const [FIRST_DAY, LAST_DAY] = ['2000-01-01', '2099-12-31'];

/** A UTC day in a query, `2026-03-01`. Other text is ignored. */
export const Day = z.iso
  .date()
  .refine((day) => day >= FIRST_DAY && day <= LAST_DAY)
  .optional()
  .catch(undefined);

/** The maximum size of a form's body in bytes. Routes with larger forms set their own. */
const MAX_FORM_BYTES = 256 * 1024;
/** The maximum size in bytes of a form that is kept while its sender signs in. */
export const MAX_HELD_BYTES = 200_000;

/**
 * Parses the bodies of forms. A field that occurs several times, such as a check box, becomes a list of its
 * values.
 */
export function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    async (_request: unknown, body: string | Buffer) => parseFields(String(body)),
  );
}

/** Parses `a=1&b=2&b=3` into `{ a: '1', b: ['2', '3'] }`. Line ends become `\n`. */
export function parseFields(body: string): Record<string, string | string[]> {
  const form = new URLSearchParams(body);
  const entries = [...new Set(form.keys())].map((name) => {
    const values = form.getAll(name).map((value) => value.replaceAll('\r\n', '\n'));
    return [name, values.length === 1 ? (values[0] ?? '') : values] as const;
  });
  // The object has no prototype, so no name of a field has a special meaning.
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

/**
 * Reads the unparsed body of a form that was refused before it was read. Returns an empty string if it is not
 * a form, or if it is too large to be kept.
 */
export async function readRefusedForm(request: FastifyRequest): Promise<string> {
  if (!(request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded')) return '';
  if (typeof request.body === 'object' && request.body !== null) return '';
  if (Number(request.headers['content-length'] ?? 0) > MAX_HELD_BYTES) return '';
  return (await readBytes(request.raw, MAX_HELD_BYTES))?.toString('utf8') ?? '';
}
