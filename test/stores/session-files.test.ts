import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { formatThreadText } from '../../src/cli/ask/answer-text.ts';
import type { AskSession } from '../../src/domain/ask-session.ts';
import { createSessionFiles } from '../../src/stores/session-files.ts';

const session: AskSession = {
  format: 'faultline-session',
  version: 1,
  id: 'ses_a',
  target: { kind: 'log', path: '/x/build.log', hash: 'h' },
  startedAt: '2026-11-28T00:00:00.000Z',
  learned: [],
  stack: [],
  turns: [],
};
let folder: string;
let files: ReturnType<typeof createSessionFiles>;
const write = (name: string, content: object) =>
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(content));
const listIds = async () => (await files.list('/x/build.log')).map(({ id }) => id);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'faultline-sessions-'));
  files = createSessionFiles(folder);
});

describe('the files of sessions', () => {
  it('are listed without those that cannot be continued', async () => {
    write('ses_old', { ...session, id: 'ses_old', version: 2 });
    write('ses_other', { ...session, id: '\u001b]52;c;AA\u0007' });
    for (const name of ['ses_old', 'ses_other']) utimesSync(join(folder, `${name}.json`), 1, 1);
    symlinkSync('/nowhere', join(folder, 'ses_dangling.json'));
    await files.save(session);

    expect(await listIds()).toEqual(['ses_a']);
  });

  it('are refused with the reason if the newest cannot be continued', async () => {
    write('ses_old', { ...session, id: 'ses_old', version: 2 });

    await expect(listIds()).rejects.toThrow(/has version 2 of the session format/);
  });

  it('leave no part behind if they cannot be saved', async () => {
    mkdirSync(join(folder, 'ses_a.json'));

    await expect(files.save(session)).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(['ses_a.json']);
  });

  it('are not written through a link that somebody prepared', async () => {
    const victim = join(folder, 'victim.txt');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, join(folder, 'ses_a.json.part'));
    await files.save(session);

    expect(readFileSync(victim, 'utf8')).toBe('precious');
    expect(await files.load('ses_a')).toMatchObject({ id: 'ses_a' });
  });
});

it('the list of sessions shows control characters of an ID', () => {
  const thread = { id: '\u001b[2J', turns: 1, lastAskedAt: session.startedAt, title: 'why?' };
  expect(formatThreadText(thread as never)).not.toContain('\u001b');
});
