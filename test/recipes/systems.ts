import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { HostileValues } from './hostile-values.ts';
import { listBlocks, readScriptBelow } from './read-docs.ts';
import { expandVariables, preparePipelines, type Step } from './substitution/prepare.ts';

/** Where a recipe runs, and what it may not give away. */
export interface Place {
  readonly url: string;
  readonly token: string;
}

/** A command that a system starts for a recipe, after all its own substitutions. */
export interface Command {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** One build: its commands, in their order. */
export interface PreparedBuild {
  readonly commands: readonly Command[];
  /** What the system itself writes into the log. */
  readonly printed?: string;
  /** Answers of the system's own API. */
  readonly pages?: ReadonlyMap<string, string>;
  /** The branch that must arrive; null: none, since the system put the token into its name. */
  readonly branch: string | null;
}

/** A CI system with a recipe in the documentation, and how it hands values to it. */
export interface CiSystem {
  readonly name: string;
  prepare(values: readonly HostileValues[], place: Place): Promise<PreparedBuild[]>;
}

/** Recipes of the documentation that run a command, by the page and the language of their blocks. */
const [, , tests = '', teamcity = '', cdevents = ''] = listBlocks('start/any-ci.md', 'sh');
const [woodpecker = '', drone = ''] = listBlocks('start/any-ci.md', 'yaml');
const [buildbot = ''] = listBlocks('start/any-ci.md', 'python');
const [gitlab = ''] = listBlocks('start/gitlab.md', 'yaml');

/** What is in the checkout of every build. */
export const CHECKOUT: Readonly<Record<string, string>> = {
  'ci/test': tests,
  'test.log': 'FAIL cart\n',
  'reports/junit.xml':
    '<testsuite name="cart"><testcase name="totals"><failure message="10.21"/></testcase></testsuite>',
};

const COMMIT = 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b';
const URL = 'https://ci.example.com/shop/api/812';
/** Of Buildbot's secret provider; the placeholders of the documentation name the same address. */
const DOCUMENTED_URL = 'https://faultline.example';
const TEAMCITY_LOGIN = { user: 'TeamCityBuildId=4711', password: 'teamcity-password-6Yp1' };

/** A name without what JSON strings cannot hold as it is: the scripts leave these out. */
function withoutControls(text: string): string {
  return text.replace(/[\u0000-\u001f]/g, '');
}

export const SYSTEMS: readonly CiSystem[] = [
  {
    name: 'Woodpecker',
    prepare: (values, place) =>
      preparePipelineBuilds(woodpecker, place, values, ({ branch, tag, title, author }) => ({
        CI_REPO: 'shop/api',
        CI_WORKFLOW_NAME: 'ci',
        CI_PIPELINE_NUMBER: '812',
        CI_PIPELINE_URL: URL,
        CI_COMMIT_SHA: COMMIT,
        CI_COMMIT_REF: `refs/heads/${branch}`,
        CI_COMMIT_BRANCH: branch,
        CI_COMMIT_SOURCE_BRANCH: branch,
        CI_COMMIT_TAG: tag,
        CI_COMMIT_AUTHOR: author,
        CI_COMMIT_MESSAGE: title,
        CI_COMMIT_PULL_REQUEST: '7',
        CI_COMMIT_PULL_REQUEST_TITLE: title,
      })),
  },
  {
    name: 'Drone',
    prepare: (values, place) =>
      preparePipelineBuilds(drone, place, values, ({ branch, tag, title, author }) => ({
        DRONE_REPO: 'shop/api',
        DRONE_STAGE_NAME: 'ci',
        DRONE_BUILD_NUMBER: '812',
        DRONE_BUILD_LINK: URL,
        DRONE_COMMIT_SHA: COMMIT,
        DRONE_COMMIT_REF: `refs/heads/${branch}`,
        DRONE_BRANCH: branch,
        DRONE_SOURCE_BRANCH: branch,
        DRONE_TAG: tag,
        DRONE_COMMIT_AUTHOR: author,
        DRONE_COMMIT_MESSAGE: title,
        DRONE_PULL_REQUEST: '7',
        DRONE_PULL_REQUEST_TITLE: title,
      })),
  },
  { name: 'GitLab', prepare: prepareGitlab },
  { name: 'Buildbot', prepare: async (values, place) => prepareBuildbot(values, place) },
  {
    name: 'TeamCity',
    prepare: async (values, place) => values.map((value) => prepareTeamcity(value, place)),
  },
  {
    name: 'CDEvents',
    prepare: async (values, place) => values.map((value) => prepareCdevents(value, place)),
  },
];

/** Woodpecker and Drone: the text of the pipeline is replaced, then parsed; steps get the variables, and the secrets that they name. */
async function preparePipelineBuilds(
  pipeline: string,
  { url, token }: Place,
  values: readonly HostileValues[],
  nameVariables: (values: HostileValues) => Record<string, string>,
): Promise<PreparedBuild[]> {
  const variables = values.map(nameVariables);
  const prepared = await preparePipelines(pipeline, variables);
  return prepared.map(({ steps, refused }, at) => ({
    commands: steps.map((step) =>
      toCommand(step, { ...variables[at], ...readEnvironment(step, { url, token }) }),
    ),
    printed: refused,
    branch: withoutControls(values[at]?.branch ?? ''),
  }));
}

function readEnvironment({ environment }: Step, { url, token }: Place): Record<string, string> {
  const entries = Object.entries(environment ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      value === DOCUMENTED_URL ? url : typeof value === 'string' ? value : token,
    ]),
  );
}

/** Commands run in one shell that ends with the first that fails. */
function toCommand({ commands }: Step, env: Record<string, string>): Command {
  return { argv: ['sh', '-e', '-c', commands.join('\n')], env };
}

async function prepareGitlab(
  values: readonly HostileValues[],
  { url, token }: Place,
): Promise<PreparedBuild[]> {
  const expanded = await expandVariables(
    values.map(({ branch, tag, title, author }) => ({
      FAULTLINE_URL: url,
      FAULTLINE_TOKEN: token,
      CI_JOB_STATUS: 'failed',
      CI_PROJECT_PATH: 'shop/api',
      CI_PROJECT_NAME: 'api',
      CI_JOB_NAME: 'test',
      CI_JOB_ID: '4711',
      CI_JOB_URL: URL,
      CI_COMMIT_SHA: COMMIT,
      CI_COMMIT_REF_NAME: branch,
      CI_COMMIT_TAG: tag,
      CI_COMMIT_TITLE: title,
      CI_COMMIT_MESSAGE: title,
      CI_COMMIT_AUTHOR: author,
      CI_MERGE_REQUEST_IID: '7',
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: branch,
      CI_MERGE_REQUEST_TITLE: title,
      GITLAB_USER_LOGIN: author,
    })),
  );
  const script = readScriptBelow(gitlab, 'after_script');
  return expanded.map((env) => {
    const branch = env.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME ?? '';
    return {
      commands: [{ argv: ['sh', '-c', script], env }],
      branch: branch.includes(token) ? null : withoutControls(branch),
    };
  });
}

/**
 * Buildbot: the master fills in properties and secrets (`substitution/render.py`); the worker replaces `${NAME}` in values of `env` with its own
 * variables, and prints the whole environment unless told otherwise (buildbot_worker/runprocess.py). A token that the step does not name would
 * have to be in the worker's environment.
 */
function prepareBuildbot(values: readonly HostileValues[], { url, token }: Place): PreparedBuild[] {
  const builds = values.map(({ branch, tag, author }) => ({
    project: 'shop/api',
    buildername: 'ci',
    buildnumber: 812,
    branch,
    got_revision: COMMIT,
    owner: author,
    tag,
  }));
  const input = JSON.stringify({
    recipe: buildbot.replaceAll(DOCUMENTED_URL, url),
    secrets: { 'faultline-token': token },
    builds,
  });
  const rendered: { command: string[]; env: Record<string, string>; logEnviron?: boolean }[] = JSON.parse(
    execFileSync('python3', [join(import.meta.dirname, 'substitution/render.py')], {
      input,
      encoding: 'utf8',
    }),
  );
  return rendered.map((step, at) => {
    const worker: Record<string, string> =
      'FAULTLINE_TOKEN' in step.env ? { LANG: 'C.UTF-8' } : { FAULTLINE_TOKEN: token, FAULTLINE_URL: url };
    const own = Object.entries(step.env).map(([name, value]) => [
      name,
      value.replace(/\$\{([0-9a-zA-Z_]*)\}/g, (_, other: string) => worker[other] ?? ''),
    ]);
    const env = { ...worker, ...Object.fromEntries(own) };
    return {
      commands: [{ argv: step.command, env }],
      printed: JSON.stringify([step.command, worker, step.logEnviron === false ? {} : env]),
      branch: withoutControls(values[at]?.branch ?? ''),
    };
  });
}

/** TeamCity: `%name%` is replaced in scripts, and so are the references in what is put in; `%%` is one percent sign. */
function prepareTeamcity(
  { branch, tag, title, author }: HostileValues,
  { url, token }: Place,
): PreparedBuild {
  const parameters = new Map([
    ['system.teamcity.auth.userId', TEAMCITY_LOGIN.user],
    ['system.teamcity.auth.password', TEAMCITY_LOGIN.password],
    ['teamcity.serverUrl', url],
    ['teamcity.build.id', '4711'],
    ['teamcity.build.branch', branch],
    ['teamcity.pullRequest.title', title],
    ['teamcity.build.triggeredBy', author],
    ['system.teamcity.projectName', 'shop'],
    ['system.teamcity.buildConfName', 'ci'],
    ['build.number', tag],
    ['build.vcs.number', COMMIT],
    ['env.FAULTLINE_TOKEN', token],
  ]);
  const pages = new Map([
    ['/app/rest/builds/id:4711/status', 'FAILURE'],
    ['/app/rest/builds/id:4711/branchName', branch],
    ['/app/rest/builds/id:4711/number', tag],
    ['/downloadBuildLog.html?buildId=4711', 'FAIL cart\n'],
  ]);
  const env = {
    FAULTLINE_URL: url,
    FAULTLINE_TOKEN: token,
    TEAMCITY_PROJECT_NAME: 'shop',
    TEAMCITY_BUILDCONF_NAME: 'ci',
    BUILD_NUMBER: tag,
    BUILD_VCS_NUMBER: COMMIT,
  };
  const script = fillParameters(teamcity, parameters, 0);
  return { commands: [{ argv: ['sh', '-c', script], env }], pages, branch: withoutControls(branch) };
}

function fillParameters(text: string, parameters: ReadonlyMap<string, string>, depth: number): string {
  return text.replace(/%([\w.]*)%/g, (whole, name: string) => {
    if (name === '') return '%';
    const value = parameters.get(name);
    return value === undefined || depth > 3 ? whole : fillParameters(value, parameters, depth + 1);
  });
}

/** An event as a receiver gets it, on standard input: nothing is replaced. */
function prepareCdevents(
  { branch, tag, title, author }: HostileValues,
  { url, token }: Place,
): PreparedBuild {
  const event = {
    context: {
      version: '0.4.1',
      id: tag,
      source: '/tekton/shop',
      type: 'dev.cdevents.pipelinerun.finished.0.2.0',
    },
    subject: {
      id: author,
      type: 'pipelineRun',
      content: { pipelineName: title, outcome: 'failure', url: URL, errors: `${author}\n${title}` },
    },
    customData: { repository: 'shop/api', branch, commit: COMMIT },
  };
  const env = { FAULTLINE_URL: url, FAULTLINE_TOKEN: token };
  return { commands: [{ argv: ['sh', '-c', cdevents], env, input: JSON.stringify(event) }], branch };
}
