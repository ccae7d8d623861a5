import type { SourceText } from '../../domain/build.ts';
import type { Stores } from '../../stores/stores.ts';

/**
 * Stores the pictures that came with the texts of a build, and returns the texts without them. A picture is
 * not masked, because no program here reads its pixels for secrets: all who may see the build see it.
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
