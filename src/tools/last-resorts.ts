import { z } from 'zod';
import type { FindingFrom } from '../domain/finding-data.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { takeFirstOfEach } from '../lib/collections.ts';
import { classifyRole, type LineRole } from '../log/line-roles.ts';
import type { Clues, ReviewerClient, WebSearch } from '../ports/toolbox.ts';
import { cleanText, formatFailureHeadline } from './findings.ts';
import { ANY_CATEGORY, defineTool, type Tool } from './tool.ts';

/**
 * The maximum length of a query. Search engines take one sentence, and a short query sends less of a private
 * log to a third party.
 */
const MAX_QUERY = 200;
/**
 * The time for which results are cached. Pages about an error change slowly, and a build that fails again
 * asks the same.
 */
const DAY_MS = 24 * 3_600_000;

const WebParameters = z.strictObject({
  query: z
    .string()
    .trim()
    .min(3)
    .max(500)
    .optional()
    .describe("Words of the error; by default the failure's own message"),
  limit: z.int().min(1).max(10).default(5),
});

/**
 * Creates the tool that searches the web. It is used only if everything else failed. The query is masked, and
 * at most 200 characters of it are sent.
 */
export function searchWeb(
  webSearch: WebSearch,
  mask: (text: string) => Promise<string> = async (text) => text,
): Tool {
  return defineTool({
    name: 'search_web',
    question: 'What do public pages say about this error?',
    serves: ANY_CATEGORY,
    investigator: 'documents',
    asks: 'web',
    costClass: 'high',
    usualLatencyMs: 2000,
    fallback: true,
    provider: `web-search:${webSearch.driver}`,
    parameters: WebParameters,
    cache: {
      ttlMs: DAY_MS,
      key: ({ query }, { subject }) => [webSearch.driver, query ?? formatFailureHeadline(subject)],
    },
    listFallbackFindings: nameDocumentation,
    findUnavailableReason: async () => (webSearch.configured ? null : 'no web search configured'),
    argumentsFrom(clues) {
      const query = findInformativeLine(clues);
      return query === null ? null : { query };
    },
    async run({ query, limit }, { subject, signal }) {
      // Text is masked before it is cut, because half a secret is not recognized.
      const words = cleanText(await mask(query ?? formatFailureHeadline(subject)))
        .replace(/\s+/g, ' ')
        .trim()
        .slice(0, MAX_QUERY)
        .toWellFormed();
      if (words === '') return [];
      const results = await webSearch.search(words, limit, signal);
      return results.map((result) => ({
        title: result.title,
        text: result.text,
        source: 'web',
        url: result.url,
      }));
    },
  });
}

const MAX_NAMED = 3;

type Documentation = readonly [name: RegExp, tool: string, url: string];

/** The official documentation of tools, by the names under which the reader knows them. */
const DOCUMENTATION: readonly Documentation[] = [
  [/^npm$/, 'npm', 'https://docs.npmjs.com/cli'],
  [/^yarn$/, 'Yarn', 'https://yarnpkg.com/getting-started'],
  [/^pnpm$/, 'pnpm', 'https://pnpm.io/motivation'],
  [/^jest$/, 'Jest', 'https://jestjs.io/docs/getting-started'],
  [/^vitest$/, 'Vitest', 'https://vitest.dev/guide/'],
  [/^mocha$/, 'Mocha', 'https://mochajs.org/'],
  [/^(?:tsc|typescript)$/, 'TypeScript', 'https://www.typescriptlang.org/docs/'],
  [/^eslint$/, 'ESLint', 'https://eslint.org/docs/latest/'],
  [/^(?:node|javascript)$/, 'Node.js', 'https://nodejs.org/docs/latest/api/'],
  [/^(?:maven|surefire)$/, 'Maven', 'https://maven.apache.org/guides/'],
  [/^junit$/, 'JUnit', 'https://docs.junit.org/'],
  [/^gradle$/, 'Gradle', 'https://docs.gradle.org/current/userguide/userguide.html'],
  [/^(?:javac?|jvm)$/, 'Java', 'https://docs.oracle.com/en/java/javase/'],
  [/^cargo$/, 'Cargo', 'https://doc.rust-lang.org/cargo/'],
  [/^(?:rustc?)$/, 'Rust', 'https://doc.rust-lang.org/'],
  [/^go\b/, 'Go', 'https://go.dev/doc/'],
  [/^(?:bundler|gem)$/, 'Bundler', 'https://bundler.io/docs.html'],
  [/^rspec$/, 'RSpec', 'https://rspec.info/documentation/'],
  [/^composer$/, 'Composer', 'https://getcomposer.org/doc/'],
  [/^poetry$/, 'Poetry', 'https://python-poetry.org/docs/'],
  [/^uv$/, 'uv', 'https://docs.astral.sh/uv/'],
  [/^pip$/, 'pip', 'https://pip.pypa.io/en/stable/'],
  [/^pytest$/, 'pytest', 'https://docs.pytest.org/'],
  [/^(?:python|unittest)$/, 'Python', 'https://docs.python.org/3/'],
  [/^tox$/, 'tox', 'https://tox.wiki/'],
  [/^docker/, 'Docker', 'https://docs.docker.com/'],
  [/^(?:dotnet|msbuild|nuget)$/, '.NET', 'https://learn.microsoft.com/dotnet/'],
  [/^(?:dart|flutter|pub)$/, 'Dart and Flutter', 'https://docs.flutter.dev/'],
  [/^(?:swift|swiftpm|xcodebuild)$/, 'Swift', 'https://www.swift.org/documentation/'],
  [/^make$/, 'GNU make', 'https://www.gnu.org/software/make/manual/'],
  [/^cmake$/, 'CMake', 'https://cmake.org/documentation/'],
  [/^terraform$/, 'Terraform', 'https://developer.hashicorp.com/terraform/docs'],
];

/**
 * Names the official documentation of the tools in a failed step, for a reader whom no search could help.
 * Nothing is asked and no page is read, and each finding says so.
 */
function nameDocumentation({ toolchains }: Pick<TriageSubject, 'toolchains'>): FindingFrom<'search_web'>[] {
  const named = toolchains.flatMap((name): Documentation[] => {
    const found = DOCUMENTATION.find(([pattern]) => pattern.test(name.toLowerCase()));
    return found === undefined ? [] : [found];
  });
  return takeFirstOfEach(named, ([, tool]) => tool)
    .slice(0, MAX_NAMED)
    .map(([, tool, url]) => ({
      title: `Documentation of ${tool}, named because the web could not be searched`,
      text: `The documentation of ${tool} is at ${url}. It was neither searched nor read.`,
      source: 'documentation',
      url,
      data: { named: tool },
    }));
}

const ReviewerParameters = z.strictObject({
  question: z
    .string()
    .trim()
    .min(10)
    .max(500)
    .describe(
      'One question that a person who knows this project can answer in a sentence, and no log, code ' +
        'or document can',
    ),
});

/** Creates the tool that asks a person. It is unavailable without a review queue (CLI, replay). */
export function askReviewer(reviewer: ReviewerClient | undefined): Tool {
  return defineTool({
    name: 'ask_reviewer',
    question:
      'What does a person who knows this project say about the one fact that decides, that nothing ' +
      'else can tell, and that is worth waiting hours for?',
    serves: ANY_CATEGORY,
    asks: 'people',
    precedence: 1,
    costClass: 'high',
    usualLatencyMs: 1000,
    provider: 'review-queue',
    parameters: ReviewerParameters,
    findUnavailableReason: async () =>
      reviewer === undefined ? 'No reviewer is available: this run has no review queue.' : null,
    async run({ question }, { subject, category }) {
      if (reviewer === undefined) return [];
      const asked = await reviewer.ask({ subject, category, text: question });
      return [
        {
          title: 'Asked a reviewer',
          text: asked.text,
          source: 'review-queue',
          data: { questionId: asked.id },
        },
      ];
    },
  });
}

const MAX_QUERY_LINE = 300;
const INFORMATIVE_ROLES: ReadonlySet<LineRole> = new Set(['cause', 'notice']);
/** A marker that a runner or a test tool puts before a message. */
const BEFORE_MESSAGE = /^(?:##\[error\]|::error[^:]{0,200}::|E {3,9})/;

/**
 * Returns the one line that best describes the error, for a web search. Returns null if there is none,
 * because how the step ended would find pages about any failure.
 */
function findInformativeLine({ subject, headline, decisive }: Clues): string | null {
  const [thrown] = subject.exceptions;
  const texts = [
    decisive,
    headline,
    subject.diagnostics[0]?.message,
    thrown === undefined ? undefined : `${thrown.type}: ${thrown.message}`,
  ];
  const all = texts.flatMap((text) => text?.split('\n') ?? []);
  const lines = all.map((line) => line.trim().replace(BEFORE_MESSAGE, '').trim());
  return lines.find((line) => INFORMATIVE_ROLES.has(classifyRole(line)))?.slice(0, MAX_QUERY_LINE) ?? null;
}
