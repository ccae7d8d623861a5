import { describe, expect, it } from 'vitest';
import { isStepFound } from '../../../src/replay/run/check-case.ts';

const step = (name: string, consequence = false) => ({
  name,
  source: 'log.txt',
  lineStart: 1,
  lineEnd: 9,
  consequence,
});
const log = (...lines: readonly string[]) => [{ name: 'log.txt', text: lines.join('\n') }];

describe('the labeled step', () => {
  it.each([
    ['npm test (jest)', 'Run npm test'],
    ['test (3.10): Run pytest', 'test (3.10) / Run pytest'],
    ['Build site (npm run build -> astro build)', 'Run npm run build'],
    ['Check formatting (cargo fmt --all -- --check)', 'Format / Check formatting'],
  ])('%s is found in %s', (label, name) => {
    expect(isStepFound(label, [step(name)], log())).toBe(true);
  });

  it.each([
    ['npm test (jest)', 'Run npm ci'],
    ['test (3.10): Run pytest', 'test / Set up Python'],
  ])('%s is not %s', (label, name) => {
    expect(isStepFound(label, [step(name)], log())).toBe(false);
  });

  it('may be described by the script of the step, but not by its output', () => {
    const head = ['##[group]Run cd web', 'cd web', '\u001b[36;1mnpx vite build\u001b[0m', '##[endgroup]'];
    expect(isStepFound('npx vite build', [step('Run cd web')], log(...head, 'bad'))).toBe(true);
    expect(
      isStepFound(
        'npx vite build',
        [step('Run cd web')],
        log('##[group]Run cd web', '##[endgroup]', 'npx vite build'),
      ),
    ).toBe(false);
  });

  it('is not one that failed only because of another', () => {
    expect(isStepFound('npm test', [step('Run npm ci'), step('Run npm test', true)], log())).toBe(false);
  });
});
