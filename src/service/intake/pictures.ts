import type { SourceText } from '../../domain/build.ts';
import type { Stores } from '../../stores/stores.ts';

/**
 * Stores the pictures among the texts of a build, and returns the texts without them. Pictures are not
 * masked, because no program here recognizes secrets in pixels. Everyone who may see the build sees them.
 */
export async function keepPictures(
  { pictures }: { readonly pictures: Pick<Stores['pictures'], 'save'> },
  buildId: string,
  sources: readonly SourceText[],
): Promise<SourceText[]> {
  const texts: SourceText[] = [];
  for (const { picture, ...text } of sources) {
    if (picture !== undefined) await pictures.save(buildId, text.name, picture);
    texts.push(text);
  }
  return texts;
}
