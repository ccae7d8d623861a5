import type { Facts } from './facts.ts';

/**
 * Words of package managers for something that did not arrive, whether the build ended by it or went on with a warning. Metadata that one
 * of several repositories does not have is no such thing: the next repository is asked.
 */
const UNRESOLVED = [
  /\b(?:dependency|dependencies|artifacts?|plugins?) could not be (?:resolved|found|downloaded)/i,
  /could not (?:resolve|find|download) (?:dependency|dependencies|artifacts?|all (?:files|dependencies|artifacts))\b/i,
  /\b(?:unable|failed) to (?:resolve|download|fetch) (?:the )?(?:dependency|dependencies|artifacts?|packages?)\b/i,
  /no matching distribution found for\b/i,
];

/** Whether the build says that something it depends on could not be had. */
export function saysUnresolved(facts: Facts): boolean {
  return facts.all.some((fact) => UNRESOLVED.some((pattern) => pattern.test(fact.text)));
}
