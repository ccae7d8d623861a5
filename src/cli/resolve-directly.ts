import { registerHooks } from 'node:module';
import { extname } from 'node:path';

/** The folder of the program: the checkout, or dist/ of the package. */
const PROGRAM = new URL('../..', import.meta.url).href;
const EXTENSION = extname(import.meta.url);
const FORMAT = EXTENSION === '.ts' ? 'module-typescript' : 'module';
const PACKAGES = '/node_modules/';

/**
 * Resolves the relative imports between modules of this program, and between those of LangChain, without a
 * look at the file system. Node 24 parses the `exports` of a package.json again for each module of the
 * package; for the 250 modules of @langchain/core that was a third of the time to load the program, and 70 MB
 * of memory. Everything else is resolved as usual. This module does its work when imported.
 */
registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL, conditions } = context;
    if (parentURL !== undefined && specifier.startsWith('.') && conditions.includes('import')) {
      const format = findFormat(specifier, parentURL);
      if (format !== null) return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
    }
    return nextResolve(specifier, context);
  },
});

function findFormat(specifier: string, parent: string): string | null {
  // The innermost package decides: one that is installed inside a package of LangChain is not LangChain's.
  const isLangChain = parent.startsWith(`${PACKAGES}@langchain/`, parent.lastIndexOf(PACKAGES));
  if (isLangChain && specifier.endsWith('.js')) return 'module';
  const isOwn = parent.startsWith(PROGRAM) && !parent.includes(PACKAGES, PROGRAM.length - 1);
  return isOwn && specifier.endsWith(EXTENSION) ? FORMAT : null;
}
