import { extname } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import { type DocumentFormat, FORMAT_BY_ENDING } from '../../ports/knowledge.ts';

const OFFICE: readonly DocumentFormat[] = ['docx', 'pptx', 'xlsx'];
/** A PDF may have something before it. */
const PDF_WITHIN = 1_024;
const SAMPLE = 8_192;

/** What a file is: by its bytes, and by its name where bytes do not tell. Throws TriageError `unsupported-type`. */
export function formatOf(name: string, bytes: Uint8Array): DocumentFormat {
  const named = FORMAT_BY_ENDING[extname(name).toLowerCase()];
  const start = Buffer.from(bytes.subarray(0, SAMPLE)).toString('latin1');
  if (start.slice(0, PDF_WITHIN).includes('%PDF-')) return 'pdf';
  if (start.startsWith('PK\u0003\u0004')) {
    if (named !== undefined && OFFICE.includes(named)) return named;
    throw unsupported(name, 'is a zip archive, not a DOCX, PPTX or XLSX; unpack it first');
  }
  if (start.startsWith('\u00d0\u00cf\u0011\u00e0')) {
    throw unsupported(name, 'is an old or password-protected Office file; save it as DOCX, PPTX or XLSX without a password');
  }
  if (named === 'pdf' || (named !== undefined && OFFICE.includes(named))) {
    throw new TriageError('invalid-input', `${name} is not a valid ${named.toUpperCase()} file; it may be damaged.`);
  }
  if (isBinary(bytes)) throw unsupported(name, 'is not a readable document');
  return named ?? (/^\s{0,100}<(?:!doctype html|html)\b/i.test(start) ? 'html' : 'text');
}

/** Text in UTF-16 has NULs, and a mark. */
function isBinary(bytes: Uint8Array): boolean {
  const marked = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return !marked && bytes.subarray(0, SAMPLE).includes(0);
}

function unsupported(name: string, why: string): TriageError {
  return new TriageError('unsupported-type', `${name} ${why}.`);
}
