import { posix } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import { createAllowance, listZip } from '../../log/decode/archive-members.ts';
import { readXml } from '../../log/reports/xml.ts';
import type { DocumentBlock } from '../../ports/knowledge.ts';
import { type ReadText, readHtml } from './markup.ts';

/**
 * Converts the document to HTML with mammoth, which keeps headings, lists and tables. Images are left out.
 */
export async function readWord(name: string, bytes: Uint8Array): Promise<ReadText> {
  await openOfficeZip(name, bytes, 'word/document.xml');
  const { default: mammoth } = await import('mammoth');
  const noPicture = mammoth.images.imgElement(async () => ({ src: '' }));
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, { convertImage: noPicture });
  return readHtml(value);
}

const PRESENTATION = 'ppt/presentation.xml';

/**
 * Reads the slides of a presentation in the order in which they are shown, with the speaker's notes. Hidden
 * slides are left out.
 */
export async function readSlides(
  name: string,
  bytes: Uint8Array,
): Promise<{ blocks: DocumentBlock[]; notes: string[] }> {
  const zip = await openOfficeZip(name, bytes, PRESENTATION);
  const blocks: DocumentBlock[] = [];
  let hidden = 0;
  for (const [index, path] of listSlidePaths(zip).entries()) {
    const slide = readShapes(zip.part(path) ?? '');
    if (slide.hidden) {
      hidden += 1;
      continue;
    }
    const place = { slide: index + 1 };
    for (const { text, title } of slide.shapes) blocks.push({ text, heading: title ? 2 : null, place });
    const notes = readRelations(zip, path).find(({ target }) => target.includes('/notesSlides/'));
    const noted = readShapes(notes === undefined ? '' : (zip.part(notes.target) ?? '')).shapes.filter(
      ({ text }) => !/^\d{1,4}$/.test(text),
    );
    for (const { text } of noted) blocks.push({ text: `Notes: ${text}`, heading: null, place });
  }
  return {
    blocks,
    notes: hidden === 0 ? [] : [`${hidden} hidden ${hidden === 1 ? 'slide is' : 'slides are'} skipped.`],
  };
}

function listSlidePaths(zip: OfficeZip): string[] {
  const targets = new Map(readRelations(zip, PRESENTATION).map(({ id, target }) => [id, target]));
  const paths: string[] = [];
  readXml(zip.part(PRESENTATION) ?? '', {
    open: (name, attributes) => {
      // If there are both `id` and `r:id`, the latter is used, because it comes last.
      const target = name === 'sldId' ? targets.get(attributes.id ?? '') : undefined;
      if (target !== undefined) paths.push(target);
    },
    text: () => undefined,
    close: () => undefined,
  });
  return paths;
}

function readRelations(zip: OfficeZip, path: string): { id: string; target: string }[] {
  const { dir, base } = posix.parse(path);
  const xml = zip.part(`${dir}/_rels/${base}.rels`);
  const relations: { id: string; target: string }[] = [];
  if (xml === null) return relations;
  readXml(xml, {
    open: (name, { Id: id, Target: target }) => {
      if (name !== 'Relationship' || id === undefined || target === undefined) return;
      relations.push({ id, target: target.startsWith('/') ? target.slice(1) : posix.join(dir, target) });
    },
    text: () => undefined,
    close: () => undefined,
  });
  return relations;
}

interface Shape {
  readonly text: string;
  readonly title: boolean;
}

function readShapes(xml: string): { shapes: Shape[]; hidden: boolean } {
  const shapes: Shape[] = [];
  let hidden = false;
  let text = '';
  let title = false;
  let inText = false;
  const flush = () => {
    const trimmed = text.trim();
    if (trimmed !== '') shapes.push({ text: trimmed, title });
    text = '';
    title = false;
  };
  if (xml === '') return { shapes, hidden };
  readXml(xml, {
    open: (name, attributes) => {
      if (name === 'sld') hidden = attributes.show === '0' || attributes.show === 'false';
      if (name === 'sp' || name === 'graphicFrame') flush();
      if (name === 'ph') title = attributes.type === 'title' || attributes.type === 'ctrTitle';
      if (name === 'br') text += '\n';
      inText = name === 't';
    },
    text: (content) => {
      if (inText) text += content;
    },
    close: (name) => {
      inText = false;
      if (name === 'p') text += '\n';
      if (name === 'sp' || name === 'graphicFrame') flush();
    },
  });
  flush();
  return { shapes, hidden };
}

const MAX_ROWS = 20_000;
const MAX_CELL = 2_000;

/** Reads the sheets of a workbook row by row. Empty rows are left out but counted. */
export async function readSheets(
  name: string,
  bytes: Uint8Array,
): Promise<{ blocks: DocumentBlock[]; notes: string[] }> {
  await openOfficeZip(name, bytes, 'xl/workbook.xml');
  const { default: readWorkbook } = await import('read-excel-file/node');
  const blocks: DocumentBlock[] = [];
  for (const { sheet, data } of await readWorkbook(Buffer.from(bytes))) {
    for (const [index, row] of data.entries()) {
      const text = formatRowText(row);
      if (text === '') continue;
      if (blocks.length >= MAX_ROWS) return { blocks, notes: [`Only the first ${MAX_ROWS} rows are read.`] };
      blocks.push({ text, heading: null, place: { sheet, row: index + 1 } });
    }
  }
  return { blocks, notes: [] };
}

/** Reads a table of comma-, semicolon- or tab-separated values (RFC 4180) row by row, like a sheet. */
export function readTable(name: string, text: string): { blocks: DocumentBlock[] } {
  const blocks: DocumentBlock[] = [];
  for (const [index, row] of splitRows(text).entries()) {
    const cells = formatRowText(row);
    if (cells !== '' && blocks.length < MAX_ROWS)
      blocks.push({ text: cells, heading: null, place: { sheet: posix.basename(name), row: index + 1 } });
  }
  return { blocks };
}

/** Splits a table into rows of cells. A quoted cell may contain separators, line ends and doubled quotes. */
function splitRows(text: string): string[][] {
  const [first = ''] = text.split('\n', 1);
  const count = (separator: string) => first.split(separator).length;
  const [separator = ','] = [',', ';', '\t'].toSorted((left, right) => count(right) - count(left));
  const rows: string[][] = [[]];
  let cell = '';
  let isQuoted = false;
  const endCell = () => {
    rows.at(-1)?.push(cell);
    cell = '';
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (isQuoted && character === '"' && text[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else if (character === '"' && (isQuoted || cell === '')) isQuoted = !isQuoted;
    else if (!isQuoted && character === separator) endCell();
    else if (!isQuoted && character === '\n') {
      endCell();
      rows.push([]);
    } else cell += character;
  }
  endCell();
  return rows;
}

function formatRowText(row: readonly unknown[]): string {
  const cells = row.map(formatCellText);
  while (cells.at(-1) === '') cells.pop();
  return cells.join(' | ');
}

function formatCellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$/, '');
  return String(value).replace(/\s+/g, ' ').trim().slice(0, MAX_CELL);
}

/** An unpacked Office file. */
export interface OfficeZip {
  readonly paths: readonly string[];
  /** Returns the text of a part, or null if the part does not exist. */
  part(path: string): string | null;
}

const MAX_UNPACKED = 128 * 1024 * 1024;
const MAX_PARTS = 5_000;

/**
 * Unpacks the whole archive once, so that no parser gets an archive that grows without limit. Throws
 * TriageError `too-large` for such an archive, and `invalid-input` if it is broken, encrypted, or lacks
 * `main`.
 */
export async function openOfficeZip(name: string, bytes: Uint8Array, main: string): Promise<OfficeZip> {
  const parts = new Map<string, Uint8Array>();
  for (const member of await listZip(name, bytes, createAllowance(MAX_UNPACKED, MAX_PARTS))) {
    const content = await member.read();
    // Images count toward the limit, but their content is not kept.
    if (/\.(?:xml|rels)$/i.test(member.path)) parts.set(member.path, content);
  }
  if (!parts.has(main))
    throw new TriageError(
      'invalid-input',
      `${name} contains no ${main}; it is damaged, or another kind of file.`,
    );
  return {
    paths: [...parts.keys()],
    part: (path) => {
      const content = parts.get(path);
      return content === undefined ? null : new TextDecoder().decode(content);
    },
  };
}
