import { TriageError } from '../domain/errors.ts';

const MAX_OFFSET = 1_000_000;

/** Where a cut answer goes on: opaque to whoever gets it, and good for the same tool only. */
export function cursorOf(tool: string, offset: number): string {
  return Buffer.from(`${tool}.${offset}`).toString('base64url');
}

/** The offset of a cursor, or 0 without one. Throws `invalid-input` for what is no cursor of this tool. */
export function offsetOf(tool: string, cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [name, digits] = Buffer.from(cursor, 'base64url').toString().split('.');
  const offset = /^\d{1,7}$/.test(digits ?? '') ? Number(digits) : Number.NaN;
  if (name === tool && offset <= MAX_OFFSET) return offset;
  throw new TriageError('invalid-input', `This cursor does not belong to ${tool}. Omit it to start over.`);
}
