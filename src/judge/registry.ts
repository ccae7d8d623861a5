/** Whether a line says that a registry answered and does not have that version or package. */
export function isPublishedVersionMissing(text: string): boolean {
  return MISSING.test(text) && !/E: Failed to fetch|\b50[0234]\b|\b429\b/.test(text);
}

const MISSING =
  /npm (?:ERR!|error) (?:code )?(?:E404|ETARGET|notarget)|No matching version found|is not in (?:this|the npm) registry|Could not find artifact|was not found in https?:\/\/|No matching distribution|Could not find a version that satisfies|unknown revision|NU110[0-3]|Couldn't find any versions for|not found: manifest unknown|manifest for \S{1,200} not found/i;

const REGISTRY =
  /registry\.|\/registry|repo1?\.maven|repo\.\w|npmjs|pypi|rubygems|crates\.io|proxy\.golang|packagist|nuget|ghcr\.io|docker\.io|gcr\.io|artifactory|nexus|pkg\.github\.com|clojars|npm (?:ERR!|error)|pip\b|Could not (?:transfer|GET|HEAD|resolve)|docker|helm|pull access/i;

/** The HTTP status that a registry answered with on this line, where it is one that decides between categories. */
export function registryStatus(text: string): number | null {
  if (!REGISTRY.test(text)) return null;
  const found =
    /\b(?:E|code |status(?: code)?:? |HTTP(?:\/\d(?:\.\d)?)? |error:? |Received status code )?(401|403|404|429|500|502|503|504)\b/i.exec(
      text,
    );
  return found?.[1] === undefined ? null : Number(found[1]);
}
