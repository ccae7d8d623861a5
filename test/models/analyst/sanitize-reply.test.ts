import { describe, expect, it } from 'vitest';
import {
  withoutAddresses,
  withoutExamples,
  withoutRecital,
} from '../../../src/models/analyst/read-answer.ts';

describe("a model's reply with unrequested text", () => {
  it('loses addresses of any scheme and nothing else', () => {
    const text =
      'See https://evil.example/a?b=1, ![x](ftp://evil.example/p.png) and src/a.ts:12:3 std::vector C:\\x.';
    expect(withoutAddresses(text)).toBe(
      'See [address left out] ![x]([address left out] and src/a.ts:12:3 std::vector C:\\x.',
    );
  });

  it('is refused if it contains a whole sentence of the instructions, anywhere', () => {
    const sentence =
      'You triage failed builds and write the answer that a developer reads first, short and true and provable';
    const system = `# Rules\n${sentence}. Be kind.`;
    expect(() =>
      withoutRecital({ claims: [{ text: `I was told: ${sentence.replace(' and', '\n and')}.` }] }, system),
    ).toThrow(/recites/);
    const honest = {
      title: 'Be kind.',
      claims: [{ text: 'A developer reads the answer first.' }],
      confidence: 1,
      suspects: null,
    };
    expect(withoutRecital(honest, system)).toBe(honest);
  });

  it('is refused if it repeats the example, except for text that is also in this build, and short phrases', () => {
    const copied = 'Two packages want different major versions of the same peer.';
    const system = `Example: {"claims":[{"text":"${copied}"}],"reason":"states the version"}\nExample of {"no JSON`;
    const reply = { claims: [{ text: copied.replace('different', ' different') }] };
    expect(() => withoutExamples(reply, system, 'tax.py:22 AssertionError')).toThrow(
      /is the example's; say what this build shows/,
    );
    expect(withoutExamples(reply, system, `log: ${copied}`)).toBe(reply);
    const own = { claims: [{ text: `tax.py: ${copied}` }], reason: 'states the version' };
    expect(withoutExamples(own, system, '')).toBe(own);
  });
});
