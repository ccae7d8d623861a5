import { TriageError } from '../../domain/errors.ts';
import { toText } from '../../log/decode/decode-text.ts';
import type { DocumentBlock, DocumentFormat, ReadDocument } from '../../ports/knowledge.ts';
import { formatOf } from './format.ts';

interface Read {
  readonly title?: string | null;
  readonly blocks: readonly DocumentBlock[];
  readonly notes?: readonly string[];
}

/** Reads one file in this thread, without a limit of time. Each parser is loaded when it is needed. */
export async function readDocument(name: string, bytes: Uint8Array): Promise<ReadDocument> {
  const format = formatOf(name, bytes);
  const { title = null, blocks, notes = [] } = await readAs(format, name, bytes);
  if (blocks.length === 0) {
    throw new TriageError('invalid-input', `${name} contains no readable text. ${notes.join(' ')}`.trim());
  }
  return { format, title, blocks: [...blocks], notes: [...notes] };
}

async function readAs(format: DocumentFormat, name: string, bytes: Uint8Array): Promise<Read> {
  switch (format) {
    case 'pdf':
      return (await import('./pdf.ts')).readPdf(name, bytes);
    case 'docx':
      return (await import('./word.ts')).readWord(name, bytes);
    case 'pptx':
      return (await import('./slides.ts')).readSlides(name, bytes);
    case 'xlsx':
      return (await import('./sheets.ts')).readSheets(name, bytes);
    case 'html': {
      const { text, notes } = toText(name, bytes);
      return { ...(await import('./html.ts')).readHtml(text), notes };
    }
    case 'markdown': {
      const { text, notes } = toText(name, bytes);
      return { ...(await import('./markdown.ts')).readMarkdown(text), notes };
    }
    case 'text': {
      const { text, notes } = toText(name, bytes);
      return { blocks: paragraphs(text), notes };
    }
  }
}

function paragraphs(text: string): DocumentBlock[] {
  return text
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]{0,200}\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => ({ text: paragraph, heading: null, place: {} }));
}
