import { extname } from 'node:path';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { toText } from '../../log/decode/decode.ts';
import {
  type DocumentBlock,
  type DocumentFormat,
  FORMAT_BY_ENDING,
  type ReadDocument,
} from '../../ports/knowledge.ts';

interface Read {
  readonly title?: string | null;
  readonly blocks: readonly DocumentBlock[];
  readonly notes?: readonly string[];
}

/** Reads one file in this thread, without a time limit. Each parser is loaded when it is needed. */
export async function readDocument(name: string, bytes: Uint8Array): Promise<ReadDocument> {
  const format = detectFormat(name, bytes);
  const { title = null, blocks, notes = [] } = await readAs(format, name, bytes);
  if (blocks.length === 0) {
    throw new TriageError('invalid-input', `${name} contains no readable text. ${notes.join(' ')}`.trim());
  }
  return { format, title, blocks: [...blocks], notes: [...notes] };
}

async function readAs(format: DocumentFormat, name: string, bytes: Uint8Array): Promise<Read> {
  switch (format) {
    case 'pdf':
      return readPdf(name, bytes);
    case 'docx':
      return (await import('./office.ts')).readWord(name, bytes);
    case 'pptx':
      return (await import('./office.ts')).readSlides(name, bytes);
    case 'xlsx':
      return (await import('./office.ts')).readSheets(name, bytes);
    case 'html': {
      const { text, notes } = toText(name, bytes);
      return { ...(await import('./markup.ts')).readHtml(text), notes };
    }
    case 'markdown': {
      const { text, notes } = toText(name, bytes);
      return { ...(await import('./markup.ts')).readMarkdown(text), notes };
    }
    case 'csv': {
      const { text, notes } = toText(name, bytes);
      return { ...(await import('./office.ts')).readTable(name, text), notes };
    }
    case 'text': {
      const { text, notes } = toText(name, bytes);
      return { blocks: splitParagraphs(text), notes };
    }
  }
}

function splitParagraphs(text: string): DocumentBlock[] {
  return text
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]{0,200}\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => ({ text: paragraph, heading: null, place: {} }));
}

const MAX_PAGES = 2_000;

/** Reads the text of a PDF page by page. Pictures of text are not recognized. */
async function readPdf(
  name: string,
  bytes: Uint8Array,
): Promise<{ title: string | null; blocks: DocumentBlock[]; notes: string[] }> {
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf');
  try {
    const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
    if (pdf.numPages > MAX_PAGES)
      throw new TriageError('too-large', `${name} has ${pdf.numPages} pages; the limit is ${MAX_PAGES}.`);
    const { text } = await extractText(pdf, { mergePages: false });
    const { info } = await getMeta(pdf);
    const title: unknown = info.Title;
    const silent = text.filter((page) => page.trim() === '').length;
    const notes =
      silent === 0
        ? []
        : [`${silent} of ${text.length} pages contain no text; images of text are not recognized.`];
    return {
      title: typeof title === 'string' && title.trim() !== '' ? title.trim() : null,
      blocks: text.flatMap((page, index) =>
        listParagraphs(page).map((paragraph) => ({
          text: paragraph,
          heading: null,
          place: { page: index + 1 },
        })),
      ),
      notes,
    };
  } catch (error) {
    throw toTriageError(name, error);
  }
}

function listParagraphs(page: string): string[] {
  return page
    .split(/\n\s{0,200}\n/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

function toTriageError(name: string, error: unknown): TriageError {
  if (error instanceof TriageError) return error;
  if (error instanceof Error && error.name === 'PasswordException') {
    return new TriageError('invalid-input', `${name} is encrypted with a password. Save it without one.`);
  }
  return new TriageError(
    'invalid-input',
    `${name} is not a usable PDF: ${getErrorMessage(error).replace(/\.$/, '')}.`,
    { cause: error },
  );
}

const OFFICE: readonly DocumentFormat[] = ['docx', 'pptx', 'xlsx'];
/** The number of characters at the beginning in which the signature of a PDF must occur. */
const PDF_WITHIN = 1_024;
const SAMPLE = 8_192;

/**
 * Detects the format of a file by its bytes, or by its name if the bytes are inconclusive. Throws TriageError
 * `unsupported-type`.
 */
export function detectFormat(name: string, bytes: Uint8Array): DocumentFormat {
  const named = FORMAT_BY_ENDING[extname(name).toLowerCase()];
  const start = Buffer.from(bytes.subarray(0, SAMPLE)).toString('latin1');
  if (start.slice(0, PDF_WITHIN).includes('%PDF-')) return 'pdf';
  if (start.startsWith('PK\u0003\u0004')) {
    if (named !== undefined && OFFICE.includes(named)) return named;
    throw createUnsupportedError(name, 'is a zip archive, not a DOCX, PPTX or XLSX; unpack it first');
  }
  if (start.startsWith('\u00d0\u00cf\u0011\u00e0')) {
    throw createUnsupportedError(
      name,
      'is an old or password-protected Office file; save it as DOCX, PPTX or XLSX without a password',
    );
  }
  if (named === 'pdf' || (named !== undefined && OFFICE.includes(named))) {
    throw new TriageError(
      'invalid-input',
      `${name} is not a valid ${named.toUpperCase()} file; it may be damaged.`,
    );
  }
  if (isBinary(bytes)) throw createUnsupportedError(name, 'is not a readable document');
  return named ?? (/^\s{0,100}<(?:!doctype html|html)\b/i.test(start) ? 'html' : 'text');
}

/**
 * Checks for NUL bytes. UTF-16 text also has them, so a file that starts with a UTF-16 byte order mark is not
 * binary.
 */
function isBinary(bytes: Uint8Array): boolean {
  const marked = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return !marked && bytes.subarray(0, SAMPLE).includes(0);
}

function createUnsupportedError(name: string, why: string): TriageError {
  return new TriageError('unsupported-type', `${name} ${why}.`);
}
