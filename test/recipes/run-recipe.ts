import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CANARY, type HostileValues } from './hostile-values.ts';
import { CHECKOUT, type CiSystem, type Command, type PreparedBuild } from './systems.ts';
import { SCRIPT, type Sent, type UploadReceiver } from './upload-receiver.ts';

/** What the recipes write themselves. */
const OWN_FILES = [
  'build.log',
  'faultline.json',
  'test.log',
  'test.log.gz',
  'test.status',
  'ci',
  'reports',
  'bin',
  'tmp',
];

/** Runs a recipe once for each of the values, as its system would; what it did that it must not have done, by the values. */
export async function attackRecipe(
  system: CiSystem,
  values: readonly HostileValues[],
  receiver: UploadReceiver,
  token: string,
): Promise<string[]> {
  const builds = await system.prepare(values, { url: receiver.url, token });
  const findings: string[] = [];
  for (const [at, build] of builds.entries()) {
    const found = await runBuild(build, receiver, token);
    if (found.length > 0)
      findings.push(`${system.name} with ${JSON.stringify(values[at])}: ${found.join('; ')}`);
  }
  return findings;
}

async function runBuild(build: PreparedBuild, receiver: UploadReceiver, token: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-recipe-'));
  try {
    await writeCheckout(folder);
    receiver.pages = build.pages ?? new Map();
    let said = build.printed ?? '';
    for (const command of build.commands) said += await runCommand(command, folder);
    return [...checkSent(receiver.take(), build, token, said), ...(await checkFolder(folder, said, token))];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The checkout, and programs on the PATH: the tests, which fail, and the canary. */
async function writeCheckout(folder: string): Promise<void> {
  const programs = {
    [`bin/${CANARY}`]: `#!/bin/sh\necho ran >> "${folder}/canary"\n`,
    'bin/npm': '#!/bin/sh\necho FAIL cart\nexit 1\n',
  };
  for (const [path, content] of Object.entries({ ...CHECKOUT, ...programs })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  await mkdir(join(folder, 'tmp'));
  for (const path of Object.keys(programs)) await chmod(join(folder, path), 0o755);
}

/** All that it said. A failing command ends nothing: a recipe that reports runs after it. */
async function runCommand(
  { argv: [program = '', ...args], env, input }: Command,
  folder: string,
): Promise<string> {
  const all = { ...env, PATH: `${folder}/bin:${process.env.PATH}`, HOME: folder, TMPDIR: `${folder}/tmp` };
  const child = spawn(program, args, { cwd: folder, env: all, timeout: 60_000 });
  // A command that reads no input may have ended before it is written.
  child.stdin.on('error', () => undefined).end(input ?? '');
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return out + errors;
}

/** One upload, with the branch as it is; the token nowhere but in its header. */
function checkSent(
  sent: readonly Sent[],
  { branch, pages }: PreparedBuild,
  token: string,
  said: string,
): string[] {
  const findings: string[] = [];
  const uploads = sent.filter(({ metadata }) => metadata !== null);
  for (const { path, authorization, body, metadata } of sent) {
    if (metadata === null && path !== SCRIPT && pages?.has(path) !== true) findings.push(`asked for ${path}`);
    if (metadata !== null && authorization !== `Bearer ${token}`)
      findings.push(`the credential was ${authorization}`);
    if (`${path}\n${body}`.includes(token)) findings.push('the token was sent as text');
    if (metadata === null && authorization.includes(token))
      findings.push('the token was sent to another address');
  }
  if (uploads.length !== 1) findings.push(`${uploads.length} uploads; it said: ${said}`);
  else if ((uploads[0]?.metadata?.branch ?? null) !== branch)
    findings.push(
      `the branch ${JSON.stringify(branch)} arrived as ${JSON.stringify(uploads[0]?.metadata?.branch)}`,
    );
  return findings;
}

async function checkFolder(folder: string, said: string, token: string): Promise<string[]> {
  const names = await readdir(folder);
  const strange = names.filter((name) => !OWN_FILES.includes(name));
  const left = await readdir(join(folder, 'tmp'));
  const files = names.filter((name) => /\.(?:log|json|status)$/.test(name));
  const written = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  return [
    ...(strange.length > 0 ? [`wrote ${strange.join(', ')}`] : []),
    ...(left.length > 0 ? [`left ${left.join(', ')} behind`] : []),
    ...([said, ...written].some((one) => one.includes(token))
      ? ['the token is in the log or in a file']
      : []),
  ];
}
