import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDocx, makePdf, makePptx, makeXlsx } from './documents.ts';
import { makeZip } from './make-zip.ts';

/** A question about a folder, the words that answer it, and the document that says them. */
export interface DocumentQuestion {
  readonly question: string;
  readonly value: string;
  readonly path: string;
  /** The form of the reference from the document with the question's words to the one with the answer. */
  readonly form: string;
  readonly format: string;
}

type Writer = (title: string, lines: readonly string[]) => Buffer;

/** The seven formats, each with its ending. */
const FORMATS: readonly (readonly [string, Writer])[] = [
  ['pdf', (title, lines) => makePdf([[title, ...lines]], { title })],
  ['docx', (title, lines) => makeDocx([`# ${title}`, ...lines])],
  ['xlsx', (title, lines) => makeXlsx({ Terms: [[title], ...lines.map((line) => [line])] })],
  ['pptx', (title, lines) => makePptx([{ title, lines }])],
  [
    'html',
    (title, lines) =>
      Buffer.from(
        `<!doctype html><title>${title}</title><h1>${title}</h1>${lines.map((line) => `<p>${line}</p>`).join('')}`,
      ),
  ],
  ['md', (title, lines) => Buffer.from(`# ${title}\n\n${lines.join('\n\n')}\n`)],
  [
    'zip',
    (title, lines) =>
      makeZip([{ name: `inside/${toStem(title)}.md`, content: `# ${title}\n\n${lines.join('\n\n')}\n` }]),
  ],
];

/** The forms in which people refer to another document. */
const FORMS: readonly (readonly [string, (target: Target) => string])[] = [
  ['As stated in', ({ title }) => `as stated in ${title}`],
  ['per Document:', ({ title }) => `per Document: ${title}`],
  ['[Doc #12]', ({ number }) => `[Doc #${number}]`],
  ['See Exhibit', ({ exhibit }) => `see Exhibit ${exhibit}`],
  ['Refer to', ({ title }) => `refer to the ${title}`],
  ['path', ({ path }) => `kept in ${path}`],
];

interface Target {
  readonly title: string;
  readonly number: number;
  readonly exhibit: string;
  readonly path: string;
}

const NOUNS = [
  'penalty',
  'deposit',
  'warranty period',
  'notice period',
  'discount',
  'storage fee',
  'interest rate',
];
const OWNERS = ['Halden', 'Brisk', 'Corvo', 'Dunmore', 'Eskdale', 'Falkirk', 'Gresham'];

/** Writes documents for every form in every format and returns the questions: 6 forms times 7 formats. */
export async function writeDocumentQuestions(folder: string): Promise<DocumentQuestion[]> {
  const questions: DocumentQuestion[] = [];
  let number = 100;
  for (const [formAt, [form, refer]] of FORMS.entries()) {
    for (const [formatAt, [format, write]] of FORMATS.entries()) {
      number += 1;
      const noun = NOUNS[formatAt] ?? '';
      const owner = `${OWNERS[formAt] ?? ''} ${OWNERS[formatAt] ?? ''} ${number}`;
      const exhibit = `${String.fromCharCode(65 + formatAt)}`;
      const title = createTitle(form, formatAt, number, exhibit);
      const file = `${toStem(title)}.${format}`;
      const path = format === 'zip' ? `${file}/inside/${toStem(title)}.md` : file;
      const value = `${number * 7} units`;
      const target = { title, number, exhibit, path };
      await writeDocument(
        folder,
        `agreement-${number}.md`,
        Buffer.from(
          `# Agreement with ${owner}\n\nIt begins in spring.\n\nThe ${noun} of ${owner} is ${refer(target)}.\n`,
        ),
      );
      await writeDocument(
        folder,
        file,
        write(title, ['General terms.', `The ${noun} is ${value}.`, 'Other terms follow.']),
      );
      questions.push({ question: `What is the ${noun} of ${owner}?`, value, path, form, format });
    }
  }
  return questions;
}

function createTitle(form: string, at: number, number: number, exhibit: string): string {
  if (form === '[Doc #12]') return `Doc ${number} Conditions`;
  if (form === 'See Exhibit') return `Exhibit ${exhibit}`;
  const place = ['Harbor', 'Meadow', 'Quarry', 'Ridge', 'Summit', 'Thicket', 'Valley'][at] ?? '';
  return `${place} Handbook ${toWord(number)}`;
}

function toWord(number: number): string {
  return [...String(number)]
    .map((digit) => ['Zed', 'One', 'Two', 'Tri', 'Four', 'Five', 'Six', 'Sept', 'Oct', 'Nine'][Number(digit)])
    .join('');
}

function toStem(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

async function writeDocument(folder: string, path: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), bytes);
}
