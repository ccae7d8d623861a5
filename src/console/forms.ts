import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Far above what the fields of any form here take. */
const MAX_FORM_BYTES = 256 * 1024;

/** Bodies of forms as records of their fields; of a field that comes several times (check boxes), all its values. */
export function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    async (_request: unknown, body: string | Buffer) => fieldsOf(String(body)),
  );
}

/** `a=1&b=2&b=3` as `{ a: '1', b: ['2', '3'] }`; line ends as `\n`, as everywhere here. */
export function fieldsOf(body: string): Record<string, string | string[]> {
  const form = new URLSearchParams(body);
  const entries = [...new Set(form.keys())].map((name) => {
    const values = form.getAll(name).map((value) => value.replaceAll('\r\n', '\n'));
    return [name, values.length === 1 ? (values[0] ?? '') : values] as const;
  });
  // Without a prototype no field's name means anything.
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

/** The body of a form that was refused before it was read, as it came; empty where it is no form, or too large to be one of ours. */
export async function refusedForm(request: FastifyRequest): Promise<string> {
  if (!(request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded')) return '';
  if (typeof request.body === 'object' && request.body !== null) return '';
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request.raw) {
    if (!Buffer.isBuffer(piece)) return '';
    bytes += piece.length;
    if (bytes > MAX_FORM_BYTES) return '';
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
