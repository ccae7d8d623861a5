import { describe, expect, it } from 'vitest';
import { createEmbeddedPreset, loadConfig } from '../../../src/config/load.ts';
import { createMaskingOptions } from '../../../src/config/masking.ts';
import type { Config } from '../../../src/config/schema.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import type { CaseOutcome } from '../../../src/replay/cases/case.ts';
import { createManifest } from '../../../src/replay/commands/run-files.ts';
import { type CaseChecks, checkCase } from '../../../src/replay/run/check-case.ts';
import { listDifferences } from '../../../src/replay/run/manifest.ts';
import { type ReplayedCase, replay } from '../../../src/replay/run/replay.ts';
import { toFailedResult } from '../../../src/replay/run/results.ts';

const SECRET = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const NAMES = { FAULTLINE_MASK_NAMES: 'emails' };

describe('the written result of a case', () => {
  it('has configured texts masked, also if cases are only read', async () => {
    const { result } = await createReplayed(
      createCase(`Error: cannot reach ann@corp.example with ${SECRET}\n`),
    );
    expect(JSON.stringify(result)).toContain('<EMAIL_1>');
    expect(JSON.stringify(result)).not.toMatch(/ann@corp|ghp_/);
  });

  it('has secrets masked in errors, which repeat text of rows and servers', async () => {
    const bad = await createReplayed({
      line: 1,
      id: 'a',
      error: `line 1, field category: "${SECRET}" is not a category`,
    });
    expect(bad.result.error).toBe('line 1, field category: "***" is not a category');
    const failed = await createReplayed(
      createFailedOutcome(`the server said: token ${SECRET} is no longer valid`),
    );
    expect(failed.result.error).toBe('the server said: token *** is no longer valid');
  });

  it('counts a quotation with a masked address as one from the log', () => {
    const made = (text: string): CaseChecks['quotes'] => {
      const result = {
        ...toFailedResult('a', '', 0),
        claims: [{ text: '', quotes: [{ source: 'log', line: 1, text }] }],
      };
      return checkCase({ id: 'a' }, result, {
        sources: [{ name: 'log', kind: 'log', text: 'to ann@corp.example: no', notes: [] }],
        greenText: undefined,
      }).quotes;
    };
    expect(made('to <EMAIL_1>: no')).toEqual({ made: 1, literal: 1 });
    expect(made('for <EMAIL_1>: no')).toEqual({ made: 1, literal: 0 });
  });

  it('is not continued if other names are masked', () => {
    const options = { concurrency: 1, green: true };
    const [plain, hidden] = [testConfig(), testConfig(NAMES)].map((config) =>
      createManifest(options, config, []),
    );
    if (plain === undefined || hidden === undefined) throw new Error('no manifest');
    expect(listDifferences(plain, hidden)).toEqual(['names masked was not set, now it is emails']);
  });
});

async function createReplayed(outcome: CaseOutcome): Promise<ReplayedCase> {
  const done: ReplayedCase[] = [];
  const one = async function* () {
    yield outcome;
  };
  const limits = { budgetTokens: 2_000, concurrency: 1, maxLogBytes: 1_000_000, green: true, answer: null };
  const masker = createMasker(createMaskingOptions(testConfig(NAMES)));
  await replay(
    { ...limits, cases: one(), masker, onCase: (replayedCase) => void done.push(replayedCase) },
    new AbortController().signal,
  );
  const [first] = done;
  if (first === undefined) throw new Error('nothing was replayed');
  return first;
}

function createCase(text: string): CaseOutcome {
  const load = async () => ({
    sources: [{ name: 'log', kind: 'log' as const, text, notes: [] }],
    greenText: undefined,
  });
  return { line: 1, one: { row: { id: 'a' }, load } };
}

function createFailedOutcome(message: string): CaseOutcome {
  return { line: 1, one: { row: { id: 'a' }, load: () => Promise.reject(new Error(message)) } };
}

function testConfig(environment: Readonly<Record<string, string>> = {}): Config {
  return loadConfig(createEmbeddedPreset('/data', '/knowledge'), environment, () => '');
}
