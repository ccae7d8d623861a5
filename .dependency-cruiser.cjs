/** Who may import whom: the table of docs/explanation/architecture.md, checked by machine. `scripts/check` also fails when fewer modules are read than there are files. */
const only = (name, from, allowed, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from },
  to: { path: '^(src|graphs|prompts|test|scripts)/', pathNot: [from, ...allowed] },
});
const vendor = (name, modules, owners) => ({
  name,
  severity: 'error',
  comment: 'A vendor package sits behind one owner.',
  from: { path: '^(src|graphs|prompts)/', pathNot: owners },
  to: { path: `^node_modules/(${modules})(/|$)` },
});
const WORDS = '^src/(domain|ports|lib)/';
const READ = '^src/(domain|ports|lib|log)/';
/** The stores over SQL, whose types are inferred from what makes them; `stores-are-known-by-type` keeps it at that. */
const STORES = '^src/stores/[^/]+\\.ts$';
/** The worker and what wakes it; its drivers are the app's to pick. */
const WORK = '^src/work/[^/]+\\.ts$';

const TOOL_BASE =
  'tool|own-lines|parent-document|retrieval-parameters|findings|repository|attribute-changes|left-uses|code-chunks|all-tools|toolbox|resilience|result-cache|knowledge-base|knowledge-service|explore-tools|globs|code/[a-z-]+|documents/[a-z-]+';

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        path: '^(src|graphs|prompts)/',
        pathNot: ['^src/cli/main\\.ts$', '^src/console/browser/mcp-answer\\.js$'],
      },
      to: {},
    },
    only('domain-imports-lib', '^src/domain/', ['^src/lib/']),
    only('lib-imports-nothing', '^src/lib/', []),
    only('git-imports-domain', '^src/git/', ['^src/(domain|lib)/']),
    only('ports-import-domain', '^src/ports/', ['^src/(domain|lib)/']),
    only('log-imports-domain', '^src/log/', ['^src/(domain|lib)/']),
    only('config-stands-alone', '^src/config/', [
      '^src/domain/(build|errors)\\.ts$',
      '^src/(channels|providers)/registry\\.ts$',
    ]),
    only('graphs-see-domain-and-ports', '^graphs/', [WORDS]),
    only('prompts-see-domain-and-ports', '^prompts/', [WORDS]),
    only('tools-see', '^src/tools/', [READ]),
    only('experiments-see', '^src/experiments/', [READ, '^src/git/']),
    only('judge-sees', '^src/judge/', [READ]),
    only('models-see', '^src/models/', [READ, '^src/judge/', '^prompts/']),
    only('stores-see', '^src/stores/', [READ]),
    only('adapters-see', '^src/adapters/', [READ]),
    only('notifications-see', '^src/notifications/', [READ]),
    only('channels-see', '^src/channels/', [
      READ,
      STORES,
      '^src/config/variable\\.ts$',
      '^src/notifications/',
    ]),
    only('providers-see', '^src/providers/', [
      READ,
      '^src/config/variable\\.ts$',
      '^src/channels/channel\\.ts$',
      '^src/(git|notifications)/',
    ]),
    only('work-sees', '^src/work/', [READ, STORES]),
    only('service-runs-the-graph', '^src/service/', [
      READ,
      STORES,
      WORK,
      '^src/(channels|notifications)/',
      '^src/providers/[^/]+\\.ts$',
      '^graphs/',
    ]),
    only('console-sees', '^src/console/', [READ, STORES, WORK, '^src/(service|channels|notifications)/']),
    only('mcp-sees', '^src/mcp/', [READ, STORES, '^src/(service|notifications)/']),
    only('api-sees', '^src/api/', [
      READ,
      STORES,
      WORK,
      '^src/(service|channels|notifications|console|mcp|config)/',
      '^src/app(\\.ts$|/)',
      '^src/providers/[^/]+\\.ts$',
    ]),
    only(
      'replay-drives-triage',
      '^src/replay/(?!commands/)',
      [READ, STORES, '^src/service/', '^graphs/', '^src/tools/all-tools\\.ts$'],
      'Figures by source read from the row of each tool which source it asks.',
    ),
    only('action-sees', '^action/', [
      '^src/(domain|ports|lib|log|config|service|notifications|app|providers|experiments)/',
    ]),
    only('app-composes', '^src/app(\\.ts$|/)', [
      '^src/(domain|ports|lib|log|judge|models|config|tools|stores|adapters|work)/',
      '^src/(providers|service|channels|notifications)/',
      '^graphs/',
      '^prompts/',
    ]),
    {
      name: 'api-knows-the-app-by-type',
      severity: 'error',
      from: { path: '^src/api/' },
      to: { path: '^src/app(\\.ts$|/)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'replay-stands-apart',
      severity: 'error',
      comment: 'No service replays, and no type of a service is defined by what replays it.',
      from: { path: '^(src|graphs|prompts|action)/', pathNot: ['^src/replay/', '^src/cli/'] },
      to: { path: '^src/replay/' },
    },
    {
      name: 'replay-loads-lazily',
      severity: 'error',
      comment:
        'The command line knows the options of the commands of replay, and loads the rest when it is called.',
      from: { path: '^src/cli/' },
      to: { path: '^src/replay/(?!commands/programs\\.ts$)', dependencyTypesNot: ['dynamic-import'] },
    },
    {
      name: 'prompts-only-for-graphs-and-analysts',
      severity: 'error',
      from: { path: '^src/models/', pathNot: '^src/models/analyst/' },
      to: { path: '^prompts/' },
    },
    {
      name: 'one-node-one-file',
      severity: 'error',
      from: { path: '^graphs/[^/]+/nodes/([^/]+)\\.ts$' },
      to: { path: '^graphs/[^/]+/nodes/', pathNot: '^graphs/[^/]+/nodes/$1\\.ts$' },
    },
    {
      name: 'tools-do-not-call-tools',
      severity: 'error',
      comment: 'Tools share what the modules named here hold, and nothing else of each other.',
      from: { path: '^src/tools/', pathNot: `^src/tools/(${TOOL_BASE})\\.ts$` },
      to: { path: '^src/tools/', pathNot: `^src/tools/(${TOOL_BASE})\\.ts$` },
    },
    {
      name: 'drivers-do-not-call-drivers',
      severity: 'error',
      from: { path: '^src/(adapters|models|stores|work)/([^/]+)/' },
      to: { path: '^src/(adapters|models|stores|work)/[^/]+/', pathNot: ['^src/$1/$2/'] },
    },
    {
      name: 'providers-do-not-know-each-other',
      severity: 'error',
      comment: 'What two of them need lies beside their folders.',
      from: { path: '^src/providers/([^/]+)/' },
      to: { path: '^src/providers/[^/]+/', pathNot: ['^src/providers/$1/'] },
    },
    {
      name: 'only-the-registry-picks-providers',
      severity: 'error',
      comment: 'Clones are no provider: they stand beside one.',
      from: { path: '^(src|graphs|prompts)/', pathNot: ['^src/providers/'] },
      to: { path: '^src/providers/[^/]+/', pathNot: ['^src/providers/git/'] },
    },
    {
      name: 'providers-load-lazily',
      severity: 'error',
      comment: 'Whoever reads the configuration would load every library, whatever is configured.',
      from: { path: ['^src/providers/[^/]+/(provider|webhook)\\.ts$', '^src/app(\\.ts$|/)'] },
      to: {
        path: '^src/providers/[^/]+/',
        pathNot: ['^src/providers/[^/]+/(provider|webhook)\\.ts$'],
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'channels-load-lazily',
      severity: 'error',
      comment: 'Whoever reads the configuration would load every library, whatever is configured.',
      from: { path: '^src/channels/' },
      to: {
        path: '^src/channels/(slack/client|smtp)\\.ts$',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'only-app-picks-drivers',
      severity: 'error',
      from: {
        path: '^(src|graphs|prompts)/',
        pathNot: ['^src/app(\\.ts$|/)', '^src/(adapters|models|stores|work)/'],
      },
      to: { path: '^src/(adapters|models|stores|work)/', pathNot: [STORES, WORK] },
    },
    {
      name: 'stores-are-known-by-type',
      severity: 'error',
      comment: 'Only the composition root opens them; everybody else is handed them.',
      from: { path: '^(src|graphs|prompts)/', pathNot: ['^src/app(\\.ts$|/)', '^src/stores/'] },
      to: { path: STORES, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'drivers-load-lazily',
      severity: 'error',
      comment: 'A static import would load every vendor whatever is configured.',
      from: { path: '^src/app(\\.ts$|/)' },
      to: {
        path: '^src/(adapters|models|stores/[^/]+|work/[^/]+)/',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'nothing-imports-cli',
      severity: 'error',
      from: { pathNot: '^(src/cli|src/replay/commands|test)/' },
      to: { path: ['^src/cli/', '^src/replay/commands/'] },
    },
    { name: 'nothing-imports-test', severity: 'error', from: { pathNot: '^test/' }, to: { path: '^test/' } },
    vendor('langgraph-in-graphs', '@langchain/langgraph[^/]*', [
      '^graphs/',
      '^src/stores/checkpointer\\.ts$',
    ]),
    vendor('langchain-in-model-adapters', '@langchain/(core|openai)', ['^src/models/']),
    vendor('fastify-in-api-and-pages', 'fastify[^/]*|@fastify/[^/]+|@scalar/[^/]+', [
      '^src/(api|console|mcp)/',
    ]),
    vendor('services-in-adapters', 'pg|@electric-sql/[^/]+|mongodb|@pinecone-database/[^/]+', [
      '^src/stores/',
    ]),
    vendor('queue-in-work', 'bullmq|ioredis', ['^src/work/drivers/']),
    vendor('octokit-in-github', '@octokit/[^/]+', ['^src/providers/github/']),
    vendor('agents-protocol-in-mcp', '@modelcontextprotocol/[^/]+', ['^src/mcp/']),
    vendor('openid-in-identity', 'openid-client', ['^src/adapters/identity/']),
    vendor('cookies-in-api', 'cookie', ['^src/api/']),
    vendor('slack-in-its-client', '@slack/[^/]+', ['^src/channels/slack/client\\.ts$']),
    vendor('mail-in-its-client', 'nodemailer', ['^src/channels/smtp\\.ts$']),
    vendor('parsers-in-log', 'gpt-tokenizer|saxes|tar|yauzl', ['^src/log/']),
    vendor('cockatiel-in-resilience', 'cockatiel', ['^src/lib/resilience\\.ts$']),
    vendor('patterns-of-people', 're2js', [
      '^src/tools/',
      '^src/log/rule-pattern',
      '^src/providers/git/folder',
    ]),
    vendor('command-line-in-cli', 'commander|close-with-grace', ['^src/cli/', '^src/replay/commands/']),
    vendor('document-parsers-in-reader', 'unpdf|mammoth|read-excel-file', ['^src/adapters/document-reader/']),
    vendor('html-parser-behind-one-walk', 'parse5', ['^src/adapters/html\\.ts$']),
    vendor('pino-in-logger', 'pino', ['^src/adapters/logger/']),
    vendor('opentelemetry-in-tracer', '@opentelemetry/[^/]+', ['^src/adapters/tracer/']),
    vendor('prometheus-in-metrics', 'prom-client', ['^src/adapters/metrics/']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true, // sees `import type` too
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      conditionNames: ['import', 'require', 'node', 'default'],
      exportsFields: ['exports'],
    },
  },
};
