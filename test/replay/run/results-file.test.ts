import { appendFileSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CaseResult, toFailedResult } from '../../../src/replay/run/results.ts';
import { createResults, openResumeResults, readResultLines } from '../../../src/replay/run/results-file.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-results-'));

describe('a results file', () => {
  it('is continued after its last complete line, whatever was torn off', async () => {
    const path = await writeResults('torn.jsonl', ['a', 'b']);
    appendFileSync(path, '{"id":"c","categ');
    const file = await openResumeResults(path);
    expect([(await file.next())?.id, (await file.next())?.id, await file.next()]).toEqual(['a', 'b', null]);
    await file.append(toFailedResult('c', 'again', 0));
    await file.close();
    expect(await listIds(path)).toEqual(['a', 'b', 'c']);
  });

  it('is begun if there is none, or only an incomplete line longer than a chunk', async () => {
    const torn = join(FOLDER, 'one-line.jsonl');
    writeFileSync(torn, 'x'.repeat(200_000));
    for (const path of [join(FOLDER, 'none.jsonl'), torn]) {
      const file = await openResumeResults(path);
      expect(await file.next()).toBeNull();
      await file.append(toFailedResult('a', 'first', 0));
      await file.close();
      expect(await listIds(path)).toEqual(['a']);
    }
  });

  it('is overwritten by a run that starts again', async () => {
    const path = await writeResults('anew.jsonl', ['a', 'b']);
    expect(await listIds(await writeResults('anew.jsonl', ['c']))).toEqual(['c']);
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(2);
  });

  it('is readable only by its owner, because it quotes logs', async () => {
    const resumed = join(FOLDER, 'private-resumed.jsonl');
    await (await openResumeResults(resumed)).close();
    for (const path of [await writeResults('private.jsonl', ['a']), resumed])
      expect(statSync(path).mode & 0o077).toBe(0);
  });

  it('may have lines of a version with fewer keys', async () => {
    const path = join(FOLDER, 'older.jsonl');
    const {
      tools: _tools,
      quotes: _quotes,
      logTokens: _tokens,
      rawConfidence: _raw,
      model: _model,
      promptHashes: _hashes,
      ...older
    } = toFailedResult('a', 'old', 0);
    writeFileSync(path, `${JSON.stringify(older)}\n`);
    const missing = {
      tools: [],
      quotes: null,
      logTokens: null,
      rawConfidence: null,
      model: null,
      promptHashes: {},
    };
    expect((await listLines(path))[0]).toMatchObject({ id: 'a', ...missing });
  });

  it('treats the line separators of Unicode as parts of a text', async () => {
    const path = join(FOLDER, 'separators.jsonl');
    writeFileSync(path, `${JSON.stringify(toFailedResult('a', 'half\u2028a line\u2029', 0))}\n`);
    expect(await listIds(path)).toEqual(['a']);
  });

  it('is refused with the line that is not a result', async () => {
    const path = await writeResults('odd.jsonl', ['a']);
    appendFileSync(path, '{"id":"b"}\n');
    await expect(listLines(path)).rejects.toThrow(/odd\.jsonl, line 2, field category/);
  });

  it('reports a full disk', async () => {
    const file = await createResults('/dev/full');
    await expect(file.append(toFailedResult('a', '', 0))).rejects.toThrow(
      '/dev/full cannot be written further: the disk is full. Its content is intact; free some space and continue with --resume.',
    );
    await file.close();
  });
});

async function writeResults(name: string, ids: readonly string[]): Promise<string> {
  const path = join(FOLDER, name);
  const file = await createResults(path);
  for (const id of ids) await file.append(toFailedResult(id, 'nothing', 1));
  await file.close();
  return path;
}

async function listIds(path: string): Promise<string[]> {
  return (await listLines(path)).map(({ id }) => id);
}

async function listLines(path: string): Promise<CaseResult[]> {
  const lines: CaseResult[] = [];
  for await (const line of readResultLines(path)) lines.push(line);
  return lines;
}
