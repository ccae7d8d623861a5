import { posix } from 'node:path';
import { readXml } from '../../log/reports/xml.ts';
import type { DocumentBlock } from '../../ports/knowledge.ts';
import { type OfficeZip, openOfficeZip } from './office-zip.ts';

const PRESENTATION = 'ppt/presentation.xml';

/** Reads the slides of a presentation in the order in which they are shown, with what the speaker noted. Hidden slides are left out. */
export async function readSlides(name: string, bytes: Uint8Array): Promise<{ blocks: DocumentBlock[]; notes: string[] }> {
  const zip = await openOfficeZip(name, bytes, PRESENTATION);
  const blocks: DocumentBlock[] = [];
  let hidden = 0;
  for (const [index, path] of slidePaths(zip).entries()) {
    const slide = readShapes(zip.part(path) ?? '');
    if (slide.hidden) {
      hidden += 1;
      continue;
    }
    const place = { slide: index + 1 };
    for (const { text, title } of slide.shapes) blocks.push({ text, heading: title ? 2 : null, place });
    const notes = relationsOf(zip, path).find(({ target }) => target.includes('/notesSlides/'));
    const noted = readShapes(notes === undefined ? '' : (zip.part(notes.target) ?? '')).shapes.filter(
      ({ text }) => !/^\d{1,4}$/.test(text),
    );
    for (const { text } of noted) blocks.push({ text: `Notes: ${text}`, heading: null, place });
  }
  return { blocks, notes: hidden === 0 ? [] : [`${hidden} hidden ${hidden === 1 ? 'slide is' : 'slides are'} skipped.`] };
}

function slidePaths(zip: OfficeZip): string[] {
  const targets = new Map(relationsOf(zip, PRESENTATION).map(({ id, target }) => [id, target]));
  const paths: string[] = [];
  readXml(zip.part(PRESENTATION) ?? '', {
    open: (name, attributes) => {
      // Of `id` and `r:id` the latter stays: it comes last.
      const target = name === 'sldId' ? targets.get(attributes.id ?? '') : undefined;
      if (target !== undefined) paths.push(target);
    },
    text: () => undefined,
    close: () => undefined,
  });
  return paths;
}

function relationsOf(zip: OfficeZip, path: string): { id: string; target: string }[] {
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
    const said = text.trim();
    if (said !== '') shapes.push({ text: said, title });
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
    text: (said) => {
      if (inText) text += said;
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
