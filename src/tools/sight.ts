import { isInScope } from '../domain/access.ts';
import type { TokenStore } from '../ports/access.ts';

/**
 * Which repositories the tools may look at for a build of this one, beside its own. What they find is stored with the answer, and read by
 * whoever may read the build.
 */
export type Sight = (repository: string) => Promise<(other: string) => boolean>;

/** Everything: where nobody is held to single repositories, as in a terminal. */
export const SEES_ALL: Sight = async () => () => true;

/** What every reader of the repository may see too: each token that is held to some repositories, and to this one among them. */
export function sightOfReaders(tokens: Pick<TokenStore, 'scopes'>): Sight {
  return async (repository) => {
    const readers = (await tokens.scopes()).filter((scope) => isInScope(scope, repository));
    return (other) => other === repository || readers.every((scope) => isInScope(scope, other));
  };
}
