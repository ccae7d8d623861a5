import { cutAtWord } from '../lib/text.ts';
import { getProjectPath } from './paths.ts';

/** The maximum length of a title, in characters. */
export const MAX_TITLE = 80;

/** A path in a home folder, or in a folder where CI systems check out; without the position after it. */
const MACHINE_PATH = new RegExp(
  '(?:/(?:home|Users|root|builds|__w|github/workspace|private|var/(?:folders|lib/jenkins))' +
    String.raw`|\b[A-Za-z]:[\\/](?=\w))[\w.@+~\\/-]{1,400}`,
  'g',
);

/**
 * Replaces paths of a machine by the path in the project or, if that is unknown, by the name of the file:
 * "/home/runner/work/shop/shop/src/tax.ts:4" → "src/tax.ts:4".
 */
export function withoutMachinePaths(text: string): string {
  return text.replace(MACHINE_PATH, (path) => {
    const inProject = getProjectPath(path);
    const isAbsolute = /^[\\/]|^[A-Za-z]:/.test(inProject);
    return isAbsolute ? (inProject.split(/[\\/]/).findLast((part) => part !== '') ?? inProject) : inProject;
  });
}

/** Makes a title of a text: one line, no paths of a machine, at most 80 characters. */
export function shortenTitle(text: string): string {
  return cutAtWord(withoutMachinePaths(text.replace(/\s+/g, ' ').trim()), MAX_TITLE);
}
