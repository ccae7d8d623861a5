import { readHtml } from './html.ts';
import type { ReadText } from './markdown.ts';
import { openOfficeZip } from './office-zip.ts';

/** Reads a Word document by way of the HTML that mammoth makes of it, which keeps headings, lists and tables. Pictures are left out. */
export async function readWord(name: string, bytes: Uint8Array): Promise<ReadText> {
  await openOfficeZip(name, bytes, 'word/document.xml');
  const { default: mammoth } = await import('mammoth');
  const noPicture = mammoth.images.imgElement(async () => ({ src: '' }));
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, { convertImage: noPicture });
  return readHtml(value);
}
