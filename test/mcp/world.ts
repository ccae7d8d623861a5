import type { FailureRow } from '../../src/domain/failure.ts';
import { answer, listAllTools } from '../../src/mcp/server.ts';
import type { Decide, InstallationDeps, McpTool } from '../../src/mcp/tool.ts';
import { type Logger, silentLogger } from '../../src/ports/telemetry.ts';
import type { Stores } from '../../src/stores/stores.ts';
import { FAILS, NO_HISTORY } from '../notifications/sample-situation.ts';
import { createFakeTokens, createStoresWith } from '../support/fake-tokens.ts';
import { sampleAnalysis, sampleBuild, sampleFailure, sampleReview } from '../support/sample-analysis.ts';

type Given = Parameters<typeof createStoresWith>[0];

/** One failed build with its answer, whose stores can be changed one method at a time. */
export function createInstallation(
  change: { readonly [Name in keyof Given]?: Partial<Given[Name]> } = {},
): InstallationDeps {
  const never = async () => Promise.reject(new Error('not asked here'));
  const store = <Store extends object>(methods: Partial<Store>): Store =>
    new Proxy({} as Store, { get: (_, name) => Reflect.get(methods, name) ?? never });
  const stores = createStoresWith({
    builds: store<Stores['builds']>({
      find: async (id) => (id === 'bld_1' ? sampleBuild() : null),
      list: async () => [sampleBuild()],
      ...change.builds,
    }),
    triages: store<Stores['triages']>({ findByBuild: async () => null, ...change.triages }),
    analyses: store<Stores['analyses']>({
      find: async (id) => (id === 'ana_9f2c' ? sampleAnalysis() : null),
      listByBuild: async () => [sampleAnalysis()],
      heads: async () => [],
      ...change.analyses,
    }),
    failures: store<Stores['failures']>({
      search: async () => [createFailureRow()],
      histories: async () =>
        new Map([
          [sampleAnalysis().fingerprint, { ...NO_HISTORY, defaultBranch: FAILS, seenElsewhere: true }],
        ]),
      groupsOfBuild: async () => [
        { fingerprint: sampleFailure().fingerprint, generic: false, failures: [sampleFailure()] },
      ],
      ...change.failures,
    }),
    history: store<Stores['history']>({
      similarFailures: async () => [{ ...createFailureRow(), score: 0.8 }],
      ...change.history,
    }),
    library: store<Stores['library']>({ recall: async () => null, ...change.library }),
    reviews: store<Stores['reviews']>({
      find: async (id) => (id === 'rev_1' ? sampleReview() : null),
      findByAnalysis: async () => sampleReview(),
      ...change.reviews,
    }),
    flakiness: store<Stores['flakiness']>({ list: async () => [], ...change.flakiness }),
  });
  const log = Array.from({ length: 2000 }, (_, index) => `line number ${index + 1}`);
  return {
    stores,
    publicUrl: 'https://faultline.shop.example',
    archive: {
      list: async () => [{ name: 'build.log', kind: 'log', lines: log.length, bytes: 1, notes: [] }],
      lines: async (_build, name, from, to) =>
        name === 'build.log' ? { lineStart: from, lines: log.slice(from - 1, to) } : null,
    },
  };
}

/** Adds tokens to the stores of an installation, so that an HTTP server can be built on them. */
export function addTokens(
  { builds, triages, analyses, failures, history, library, reviews, flakiness }: InstallationDeps['stores'],
  tokens = createFakeTokens(),
): Stores {
  const listed = { builds, triages, analyses, failures, history, library, reviews, flakiness };
  return createStoresWith({ ...(listed as Given), tokens });
}

export function createFailureRow(change: Partial<FailureRow> = {}): FailureRow {
  const { repository, pipeline, number, branch, commit } = sampleBuild();
  const where = { repository, pipeline, number, branch, commit };
  return {
    failure: sampleFailure(),
    ...where,
    category: 'TEST_FAILURE',
    analysisId: 'ana_9f2c',
    seenAt: '2026-10-12T14:01:02.000Z',
    ...change,
  };
}

/** Calls a tool as the server does. */
export async function ask(
  deps: InstallationDeps,
  name: string,
  args: Record<string, unknown> = {},
  { decide, logger = silentLogger }: { readonly decide?: Decide; readonly logger?: Logger } = {},
): Promise<{
  readonly text: string;
  readonly failed: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}> {
  const feedback =
    decide === undefined
      ? {}
      : { feedback: { decide, openReview: async () => sampleReview(), reviewer: 'ada' } };
  const tool = findTool(listAllTools({ installation: deps, ...feedback, logger }), name);
  const {
    content,
    isError,
    structuredContent = {},
  } = await answer(tool, args, new AbortController().signal, logger);
  return {
    text: content.map(({ text }) => text).join('\n'),
    failed: isError === true,
    data: structuredContent,
  };
}

function findTool(tools: readonly McpTool[], name: string): McpTool {
  const tool = tools.find((mcpTool) => mcpTool.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  return tool;
}
