import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createArtifactRoom, openArtifact } from '../../../src/log/inventory/open-artifact.ts';
import { makeZip } from '../../support/make-zip.ts';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
const open = async (bytes: Uint8Array, room = createArtifactRoom()) =>
  (await openArtifact('e2e.zip', bytes, room)).map(({ name, kind, text, notes }) => [
    name,
    kind,
    text,
    ...notes,
  ]);

describe('an artifact', () => {
  it('returns texts and reports, and the names of other files with a reason', async () => {
    const members = [
      { name: 'shot.png', content: PNG },
      { name: 'node_modules/a/index.js', content: 'x' },
      { name: 'coverage/run.log', content: 'quota\n' },
      { name: 'TEST-a.xml', content: '<testsuite/>' },
      { name: 'raw', content: PNG },
      { name: 'app.log.gz', content: gzipSync('ready\n') },
    ];

    expect(await open(makeZip(members))).toEqual([
      ['e2e.zip/TEST-a.xml', 'report', '<testsuite/>'],
      ['e2e.zip/raw', 'artifact', '', 'not kept: a PNG image'],
      ['e2e.zip/app.log', 'artifact', 'ready\n'],
      ['e2e.zip/shot.png', 'artifact', '', 'not kept: The picture is not shown: it has no end.'],
      ['e2e.zip/node_modules/a/index.js', 'artifact', '', 'not kept: what is installed is no failure'],
      ['e2e.zip/coverage/run.log', 'artifact', 'quota\n'],
    ]);
  });

  it('stores no more than the limit, and lists what was left out', async () => {
    const room = { files: 3, bytes: 20, pictures: 0, maxBytesEach: 12 };
    const members = ['a', 'b', 'c', 'd'].map((name) => ({
      name: `${name}.log`,
      content: `${name}${'-'.repeat(name === 'b' ? 30 : 8)}\n`,
    }));
    const files = await openArtifact('e2e.zip', makeZip(members), room);

    expect(files.map(({ name, text }) => [name, text.length])).toEqual([
      ['e2e.zip/a.log', 10],
      ['e2e.zip/b.log', 0],
      ['e2e.zip/c.log', 10],
    ]);
    expect(files.flatMap(({ notes }) => notes).join(' ')).toContain(
      'More files of e2e.zip were not looked at',
    );
  });

  it('with a decompression bomb or a broken archive is refused; a nested one is only named', async () => {
    const bomb = makeZip([{ name: 'a.log', content: Buffer.alloc(4_000_000, 'a') }]);
    const [, inside] = await open(
      makeZip([
        { name: 'b.log', content: 'fine\n' },
        { name: 'bomb.zip', content: bomb },
      ]),
    );

    expect(inside?.slice(0, 3)).toEqual(['e2e.zip/bomb.zip/a.log', 'artifact', '']);
    await expect(open(bomb.subarray(0, 60))).rejects.toMatchObject({ code: 'invalid-input' });
  });
});
