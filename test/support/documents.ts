import { makeZip } from './make-zip.ts';

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function createRelations(targets: readonly (readonly [id: string, type: string, target: string])[]): string {
  const entries = targets.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  );
  return `${XML}<Relationships xmlns="${RELATIONSHIPS}">${entries.join('')}</Relationships>`;
}

function createContentTypes(overrides: Readonly<Record<string, string>>): string {
  const parts = Object.entries(overrides).map(
    ([part, type]) => `<Override PartName="${part}" ContentType="${type}"/>`,
  );
  return `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${parts.join('')}</Types>`;
}

/**
 * Creates a PDF with one line of text for each paragraph. An encrypted one names a security handler with an
 * unknown password.
 */
export function makePdf(
  pages: readonly (readonly string[])[],
  options: { title?: string; encrypted?: boolean } = {},
): Buffer {
  const objects: string[] = ['<< /Type /Catalog /Pages 2 0 R >>'];
  objects.push(
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ')}] >>`,
  );
  objects.push('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  for (const [index, lines] of pages.entries()) {
    const shown = lines
      .map((line, row) => `1 0 0 1 50 ${760 - row * 16} Tm (${line.replace(/[()\\]/g, '\\$&')}) Tj`)
      .join('\n');
    const stream = `BT /F1 11 Tf\n${shown}\nET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    );
  }
  objects.push(`<< /Title (${options.title ?? ''}) >>`);
  const info = objects.length;
  if (options.encrypted === true) {
    const key = 'ab'.repeat(32);
    objects.push(`<< /Filter /Standard /V 2 /R 3 /Length 128 /P -3904 /O <${key}> /U <${key}> >>`);
  }
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const encrypt =
    options.encrypted === true ? ` /Encrypt ${objects.length} 0 R /ID [<00112233> <00112233>]` : '';
  const start = body.length;
  body += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`;
  body += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${info} 0 R${encrypt} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(body, 'latin1');
}

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml';

/** Creates a DOCX document of paragraphs. A paragraph that begins with `#` is a heading. */
export function makeDocx(
  paragraphs: readonly string[],
  more: Readonly<Record<string, string | Buffer>> = {},
): Buffer {
  const body = paragraphs.map((paragraph) => {
    const level = /^#{1,6} /.exec(paragraph)?.[0].length ?? 0;
    const style = level === 0 ? '' : `<w:pPr><w:pStyle w:val="Heading${level - 1}"/></w:pPr>`;
    return `<w:p>${style}<w:r><w:t xml:space="preserve">${escapeText(paragraph.slice(level))}</w:t></w:r></w:p>`;
  });
  const styles = [1, 2, 3].map(
    (level) =>
      `<w:style w:type="paragraph" w:styleId="Heading${level}"><w:name w:val="heading ${level}"/></w:style>`,
  );
  return makeZip([
    {
      name: '[Content_Types].xml',
      content: createContentTypes({
        '/word/document.xml': `${WORD}.document.main+xml`,
        '/word/styles.xml': `${WORD}.styles+xml`,
      }),
    },
    { name: '_rels/.rels', content: createRelations([['rId1', 'officeDocument', 'word/document.xml']]) },
    { name: 'word/_rels/document.xml.rels', content: createRelations([['rId1', 'styles', 'styles.xml']]) },
    { name: 'word/styles.xml', content: `${XML}<w:styles ${W}>${styles.join('')}</w:styles>` },
    {
      name: 'word/document.xml',
      content: `${XML}<w:document ${W}><w:body>${body.join('')}</w:body></w:document>`,
    },
    ...Object.entries(more).map(([name, content]) => ({ name, content })),
  ]);
}

const A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"';
const P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"';
const R = `xmlns:r="${OFFICE}"`;

export interface TestSlide {
  readonly title: string;
  readonly lines: readonly string[];
  readonly notes?: string;
  readonly hidden?: boolean;
}

/** Creates a presentation whose files are not numbered in the order in which its slides are shown. */
export function makePptx(slides: readonly TestSlide[]): Buffer {
  const file = (index: number) => slides.length - index;
  const ids = slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`).join('');
  const shape = (text: readonly string[], type: string) =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody>${text.map((line) => `<a:p><a:r><a:t>${escapeText(line)}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`;
  const parts = slides.flatMap(({ title, lines, notes, hidden }, index) => [
    {
      name: `ppt/slides/slide${file(index)}.xml`,
      content: `${XML}<p:sld ${A} ${P} ${R}${hidden === true ? ' show="0"' : ''}><p:cSld><p:spTree>${shape([title], 'title')}${shape(lines, 'body')}</p:spTree></p:cSld></p:sld>`,
    },
    ...(notes === undefined
      ? []
      : [
          {
            name: `ppt/slides/_rels/slide${file(index)}.xml.rels`,
            content: createRelations([['rId1', 'notesSlide', `../notesSlides/notesSlide${file(index)}.xml`]]),
          },
          {
            name: `ppt/notesSlides/notesSlide${file(index)}.xml`,
            content: `${XML}<p:notes ${A} ${P}><p:cSld><p:spTree>${shape([notes], 'body')}</p:spTree></p:cSld></p:notes>`,
          },
        ]),
  ]);
  return makeZip([
    { name: '[Content_Types].xml', content: createContentTypes({}) },
    { name: '_rels/.rels', content: createRelations([['rId1', 'officeDocument', 'ppt/presentation.xml']]) },
    {
      name: 'ppt/presentation.xml',
      content: `${XML}<p:presentation ${P} ${R}><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
    },
    {
      name: 'ppt/_rels/presentation.xml.rels',
      content: createRelations(
        slides.map((_, index) => [`rId${index + 1}`, 'slide', `slides/slide${file(index)}.xml`] as const),
      ),
    },
    ...parts,
  ]);
}

/** Creates a workbook. Texts are written directly into cells, and numbers as numbers. */
export function makeXlsx(
  sheets: Readonly<Record<string, readonly (readonly (string | number | null)[])[]>>,
): Buffer {
  const S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const cell = (value: string | number | null, column: number, row: number) => {
    const at = `${String.fromCharCode(65 + column)}${row}`;
    if (value === null) return '';
    return typeof value === 'number'
      ? `<c r="${at}"><v>${value}</v></c>`
      : `<c r="${at}" t="inlineStr"><is><t>${escapeText(value)}</t></is></c>`;
  };
  const names = Object.keys(sheets);
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  return makeZip([
    {
      name: '[Content_Types].xml',
      content: createContentTypes({ '/xl/workbook.xml': `${type}.sheet.main+xml` }),
    },
    { name: '_rels/.rels', content: createRelations([['rId1', 'officeDocument', 'xl/workbook.xml']]) },
    {
      name: 'xl/workbook.xml',
      content: `${XML}<workbook ${S} ${R}><sheets>${names.map((name, index) => `<sheet name="${escapeText(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`).join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: createRelations(
        names.map(
          (_, index) => [`rId${index + 1}`, 'worksheet', `worksheets/sheet${index + 1}.xml`] as const,
        ),
      ),
    },
    ...Object.values(sheets).map((rows, index) => ({
      name: `xl/worksheets/sheet${index + 1}.xml`,
      content: `${XML}<worksheet ${S}><sheetData>${rows.map((row, at) => `<row r="${at + 1}">${row.map((value, column) => cell(value, column, at + 1)).join('')}</row>`).join('')}</sheetData></worksheet>`,
    })),
  ]);
}
