import { messageOf, TriageError } from '../../domain/errors.ts';
import type { DocumentBlock } from '../../ports/knowledge.ts';

const MAX_PAGES = 2_000;

/** Reads the text of a PDF page by page. Pictures of text are not recognised. */
export async function readPdf(
  name: string,
  bytes: Uint8Array,
): Promise<{ title: string | null; blocks: DocumentBlock[]; notes: string[] }> {
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf');
  try {
    const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
    if (pdf.numPages > MAX_PAGES) throw new TriageError('too-large', `${name} has ${pdf.numPages} pages; the limit is ${MAX_PAGES}.`);
    const { text } = await extractText(pdf, { mergePages: false });
    const { info } = await getMeta(pdf);
    const title: unknown = info.Title;
    const silent = text.filter((page) => page.trim() === '').length;
    const notes = silent === 0 ? [] : [`${silent} of ${text.length} pages contain no text; images of text are not recognized.`];
    return {
      title: typeof title === 'string' && title.trim() !== '' ? title.trim() : null,
      blocks: text.flatMap((page, index) => paragraphs(page).map((said) => ({ text: said, heading: null, place: { page: index + 1 } }))),
      notes,
    };
  } catch (error) {
    throw asTriageError(name, error);
  }
}

function paragraphs(page: string): string[] {
  return page
    .split(/\n\s{0,200}\n/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

function asTriageError(name: string, error: unknown): TriageError {
  if (error instanceof TriageError) return error;
  if (error instanceof Error && error.name === 'PasswordException') {
    return new TriageError('invalid-input', `${name} is encrypted with a password. Save it without one.`);
  }
  return new TriageError('invalid-input', `${name} is not a usable PDF: ${messageOf(error).replace(/\.$/, '')}.`, { cause: error });
}
