import type { Category } from '../../../../src/domain/category.ts';
import { RETRIEVAL_CASES, type RetrievalCase } from '../../../../test/support/retrieval/cases.ts';
import { makeDocuments, toEntry } from '../../../../test/support/retrieval/documents.ts';
import { endLog, type LoopCase, type TeamDocument, type Truth } from './case.ts';

/*
 * Creates failures that a team's document describes, or that a person decided in another repository. Another
 * document is about another error of the same tool.
 */

const CATEGORIES: Readonly<Record<string, readonly [Category, ...Category[]]>> = {
  'vaultctl-lease': ['CONFIG_ERROR', 'INFRA_ERROR'],
  'spindle-lost': ['INFRA_ERROR'],
  'ledger-db-refused': ['INFRA_ERROR'],
  'npm-ui-kit-401': ['CONFIG_ERROR', 'DEPENDENCY_ERROR'],
  'posting-locked': ['CODE_ERROR', 'INFRA_ERROR'],
  'registry-denied': ['CONFIG_ERROR'],
  'feature-partition': ['CODE_ERROR', 'INFRA_ERROR', 'CONFIG_ERROR'],
  'terraform-lock': ['INFRA_ERROR', 'CONFIG_ERROR'],
  'duplicate-flag': ['CODE_ERROR', 'CONFIG_ERROR'],
  'linker-mold': ['CONFIG_ERROR'],
  'price-engine': ['DEPENDENCY_ERROR'],
  'kelp-calibration': ['CONFIG_ERROR', 'CODE_ERROR'],
  'tariff-stale': ['TEST_FAILURE'],
  'profile-expired': ['CONFIG_ERROR'],
  'helm-in-progress': ['INFRA_ERROR', 'CONFIG_ERROR'],
  'point-proto': ['CODE_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR'],
  'rack-thermal': ['INFRA_ERROR'],
  'catalog-checksum': ['CONFIG_ERROR', 'CODE_ERROR', 'INFRA_ERROR'],
};

/** Checks whether an error was decided by a person, as one third is. The others are in a document. */
export function createKnownCases(): LoopCase[] {
  return RETRIEVAL_CASES.map((retrievalCase, at) =>
    at % 3 === 2 ? createDecidedCase(retrievalCase) : createDocumentedCase(retrievalCase),
  );
}

function createDocumentedCase(retrievalCase: RetrievalCase): LoopCase {
  const truth = tellTruth(
    retrievalCase,
    'search_knowledge',
    'a document of the team names the error, its cause and its fix',
  );
  const near = rename(
    makeDocuments('markdown', [toEntry(retrievalCase, 'another error')]),
    `near-${retrievalCase.name}`,
  );
  const right = rename(makeDocuments('markdown', [toEntry(retrievalCase, 'quoted')]), retrievalCase.name);
  return createCase(retrievalCase, retrievalCase.log, { past: [], documents: right.concat(near), truth });
}

function createDecidedCase(retrievalCase: RetrievalCase): LoopCase {
  const truth = tellTruth(
    retrievalCase,
    'search_error_library',
    'a person decided the same failure of another repository',
  );
  const [category] = truth.categories;
  const decided = { category, rootCause: retrievalCase.cause, fix: retrievalCase.fix };
  const past = [
    {
      status: 'failed',
      repository: `decided/${retrievalCase.name}`,
      log: endLog(retrievalCase.log),
      decided,
    } as const,
  ];
  return createCase(retrievalCase, retrievalCase.again, { past, documents: [], truth });
}

function createCase(
  { name }: RetrievalCase,
  lines: readonly string[],
  more: Pick<LoopCase, 'past' | 'documents' | 'truth'>,
): LoopCase {
  const log = endLog(['$ make check'].concat(lines));
  return { name, project: name, repository: `known/${name}`, log, clone: null, commit: null, ...more };
}

function tellTruth({ name, cause, fix }: RetrievalCase, tool: string, because: string): Truth {
  const withoutStop = cause.replace(/\.$/, '');
  return {
    categories: CATEGORIES[name] ?? ['CODE_ERROR'],
    cause: [[withoutStop]],
    beyondLog: [[withoutStop]],
    suspect: null,
    fix: [[fix.replace(/\.$/, '')]],
    settledBy: [tool],
    proof: withoutStop,
    because,
  };
}

function rename(documents: readonly TeamDocument[], name: string): TeamDocument[] {
  return documents.map(({ bytes }) => ({ source: `${name}.md`, bytes }));
}
