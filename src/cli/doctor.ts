import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { createApp } from '../app.ts';
import type { Config } from '../config/schema.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import { silentLogger } from '../ports/logger.ts';
import { checkModel } from './check-model.ts';
import { prepareDataDirectory } from './data-directory.ts';
import { EXIT } from './exit-codes.ts';
import { findSecrets } from './secrets.ts';
import { type DataOptions, dataDirectory, readConfig } from './settings.ts';
import { print } from './terminal.ts';

interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'note' | 'wrong';
  readonly says: string;
  /** What to do about it. */
  readonly mend?: string;
}

const run = promisify(execFile);

/** `faultline doctor`: asks every configured backend one cheap question and says what to do. Exit 4 where something is wrong. */
export async function runDoctor(options: DataOptions): Promise<void> {
  const dataDir = dataDirectory(options.data);
  const findings: Finding[] = [checkNode()];
  const config = tryConfig(dataDir, findings);
  if (config !== null) {
    findings.push(await checkGit(), ...checkClones(config), ...checkDoors(config, dataDir), ...checkProviders(config));
    findings.push(await checkModel(config), ...(await checkStores(config, dataDir)));
  }
  const wrong = findings.filter((finding) => finding.state === 'wrong');
  if (wrong.length > 0) process.exitCode = EXIT.refused;
  await print(options.json ? JSON.stringify({ ok: wrong.length === 0, findings }) : findings.map(render).join('\n'));
}

function render({ state, name, says, mend }: Finding): string {
  return `${state.padEnd(5)}  ${name.padEnd(16)}  ${says}${mend === undefined ? '' : `\n${' '.repeat(25)}→ ${mend}`}`;
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return { name: 'node', state: 'ok', says: process.version };
  return {
    name: 'node',
    state: 'wrong',
    says: `${process.version} cannot run TypeScript`,
    mend: 'use scripts/faultline, which brings Node 24',
  };
}

function tryConfig(dataDir: string, findings: Finding[]): Config | null {
  try {
    const config = readConfig(dataDir);
    findings.push({ name: 'configuration', state: 'ok', says: `data directory ${dataDir}` });
    return config;
  } catch (error) {
    findings.push({ name: 'configuration', state: 'wrong', says: messageOf(error), mend: 'correct the variables named above' });
    return null;
  }
}

async function checkGit(): Promise<Finding> {
  try {
    const { stdout } = await run('git', ['--version'], { timeout: 5_000 });
    return { name: 'git', state: 'ok', says: stdout.trim() };
  } catch {
    return { name: 'git', state: 'wrong', says: 'git does not run', mend: 'install git, or do without suspects from code' };
  }
}

function checkClones(config: Config): Finding[] {
  const clones = Object.entries(config.codeHost.clones);
  const github = config.codeHost.driver === 'github' || (config.codeHost.driver === 'auto' && config.buildSource.github.token !== null);
  if (clones.length === 0 && github) return [{ name: 'code', state: 'ok', says: `read over ${config.buildSource.github.baseUrl}` }];
  if (clones.length === 0) {
    return [
      {
        name: 'code',
        state: 'note',
        says: 'no local clone is configured',
        mend: 'set FAULTLINE_CLONES=owner/name=folder or FAULTLINE_GITHUB_TOKEN for blame and suspects',
      },
    ];
  }
  return clones.map(([repository, folder]) =>
    existsSync(folder)
      ? { name: 'code', state: 'ok', says: `${repository} in ${folder}` }
      : {
          name: 'code',
          state: 'wrong',
          says: `${repository}: ${folder} does not exist`,
          mend: 'clone it there or correct FAULTLINE_CLONES',
        },
  );
}

function checkDoors(config: Config, dataDir: string): Finding[] {
  const made = findSecrets(dataDir);
  const tokens = config.auth.tokens.length;
  const github = config.webhooks.githubSecrets.length;
  const jenkins = config.webhooks.jenkinsSecrets.length;
  const own = made === null ? 'will be made when first served' : 'made for this data directory';
  return [
    { name: 'tokens', state: 'ok', says: tokens > 0 ? `${tokens} configured` : `one, ${own}` },
    { name: 'github webhook', state: 'ok', says: github > 0 ? `${github} secret(s) configured` : `secret ${own}` },
    { name: 'jenkins webhook', state: 'ok', says: jenkins > 0 ? `${jenkins} secret(s) configured` : `secret ${own}` },
  ];
}

function checkProviders({ buildSource }: Config): Finding[] {
  const github: Finding =
    buildSource.github.token === null
      ? {
          name: 'github logs',
          state: 'note',
          says: 'no token: logs of GitHub builds cannot be fetched',
          mend: 'set FAULTLINE_GITHUB_TOKEN (actions: read)',
        }
      : { name: 'github logs', state: 'ok', says: `token for ${buildSource.github.baseUrl}` };
  const jenkins: Finding =
    buildSource.jenkins.baseUrl === null
      ? {
          name: 'jenkins logs',
          state: 'note',
          says: 'no address: logs of Jenkins builds cannot be fetched',
          mend: 'set FAULTLINE_JENKINS_URL',
        }
      : { name: 'jenkins logs', state: 'ok', says: buildSource.jenkins.baseUrl };
  return [github, jenkins];
}

async function checkStores(config: Config, dataDir: string): Promise<Finding[]> {
  try {
    prepareDataDirectory(dataDir);
    const app = await createApp(config, silentLogger);
    try {
      await app.loadKnowledge();
      const { backends } = await app.readiness();
      return Object.entries(backends).map(([name, { state, says }]) => ({ name, state: state === 'ok' ? 'ok' : 'wrong', says }));
    } finally {
      await app.close({ drainMs: 1_000 });
    }
  } catch (error) {
    if (error instanceof TriageError && error.code === 'locked')
      return [{ name: 'database', state: 'ok', says: `in use: ${error.message}` }];
    return [
      { name: 'database', state: 'wrong', says: messageOf(error), mend: 'make the data directory writable, or give another with --data' },
    ];
  }
}
