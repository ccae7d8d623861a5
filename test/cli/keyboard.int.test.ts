import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScript } from '../journeys/graph-llm-stage.ts';
import { type OpenAiServer, startOpenAiServer, TEST_KEY } from '../support/openai-server.ts';
import { runFaultlineProcess } from './faultline.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');
const LOG = resolve(import.meta.dirname, '../fixtures/failures/cart-discount-rounding/log.txt');
const QUESTION = 'Was the rounding of coupons changed on purpose?';

let server: OpenAiServer;
let folder = '';
beforeAll(async () => {
  server = await startOpenAiServer();
  folder = await mkdtemp(join(tmpdir(), 'faultline-keyboard-'));
  await mkdir(join(folder, 'shop'));
  await writeFile(join(folder, 'shop/package.json'), '{ "name": "shop" }\n');
  await writeFile(join(folder, 'shop/README.md'), '# Shop\n\nSells coffee.\n');
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function createEnvironment() {
  const { PATH = '', HOME = '' } = process.env;
  const model = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: TEST_KEY, OPENAI_MODEL: 'gpt-4o-mini' };
  return { PATH, HOME, TERM: 'xterm', NODE_NO_WARNINGS: '1', ...model };
}

/** Runs the command line on a terminal, and types the answer once it asks. Returns what the terminal showed. */
async function runOnTerminal(args: readonly string[], answer: string): Promise<string> {
  const command = [process.execPath, MAIN, ...args];
  const quoted = command.map((part) => `'${part}'`).join(' ');
  const child = spawn('script', ['-qec', quoted, '/dev/null'], {
    env: createEnvironment(),
    timeout: 60_000,
  });
  let shown = '';
  let isAnswered = false;
  child.stdout.on('data', (chunk) => {
    shown += String(chunk);
    if (isAnswered || !shown.includes('Your answer')) return;
    isAnswered = true;
    child.stdin.write(answer);
  });
  await new Promise((ended) => child.on('close', ended));
  return shown;
}

/** Scripts a model that asks the person in its first free choice of tools, then answers. */
function scriptAsk(): string[] {
  const prompts: string[] = [];
  let chosen = 0;
  server.script((request) => {
    prompts.push(JSON.stringify(request));
    if (request.stream) return { do: 'pieces', pieces: ['It was changed on purpose [E3].'] };
    if (request.tools.length === 0)
      return { do: 'reply', value: { shape: 'explanation', about: 'the tax', title: 'Rounding' } };
    chosen += 1;
    return chosen === 1
      ? { do: 'call', calls: [{ name: 'ask_reviewer', args: { question: QUESTION } }] }
      : { do: 'call', calls: [], text: 'none' };
  });
  return prompts;
}

const SHOP = () => [
  'ask',
  join(folder, 'shop'),
  'why is it rounded?',
  '--analyst',
  'llm',
  '--data',
  join(folder, 'data'),
];

describe('a model that asks the person at the keyboard', () => {
  it('gets the answer, masked, as evidence that ask cites', async () => {
    const prompts = scriptAsk();
    const shown = await runOnTerminal(SHOP(), 'Yes, token ghp_abcdefghijklmnopqrstuvwxyz0123456789\r');
    expect(shown).toContain(`The model asks: ${QUESTION}`);
    expect(shown).toContain('[E3] reviewer/terminal');
    expect(prompts.at(-1)).toContain('Yes, token');
    expect(prompts.join('')).not.toContain('ghp_abcdefghijklmnopqrstuvwxyz0123456789');
  });

  it('goes on without an answer after Ctrl-D', async () => {
    scriptAsk();
    const shown = await runOnTerminal(SHOP(), '\u0004');
    expect(shown).toContain('no answer');
    expect(shown).toContain('Stored in');
  });

  it('is not offered the person in a pipe', async () => {
    const prompts = scriptAsk();
    const { stderr } = await runFaultlineProcess(SHOP(), { env: createEnvironment() });
    expect(stderr).not.toContain('The model asks');
    expect(prompts.find((prompt) => prompt.includes('"tools":["'))).not.toContain('ask_reviewer');
  });

  it('waits in a triage until the person has answered, and goes on', async () => {
    const usual = createScript({});
    const prompts: string[] = [];
    let isAsked = false;
    server.script((request) => {
      prompts.push(JSON.stringify(request));
      if (!isAsked && request.tools.includes('ask_reviewer')) {
        isAsked = true;
        return { do: 'call', calls: [{ name: 'ask_reviewer', args: { question: QUESTION } }] };
      }
      return usual(request);
    });
    const shown = await runOnTerminal(
      ['triage', LOG, '--analyst', 'llm', '--profile', 'thorough'],
      'Yes, on purpose.\r',
    );
    expect(shown).toContain(`The model asks: ${QUESTION}`);
    expect(prompts.at(-1)).toContain('Yes, on purpose.');
    expect(shown).toContain('result');
  });
});
