import assert from 'node:assert/strict';
import { decodeSources } from '../../../../src/log/decode/archive.ts';
import { ignoreRefused } from '../refusals.ts';

const MAX_BYTES = 1_000_000;

/**
 * Reads an upload. It must be rejected, or give texts within the limit whose names contain no parent folder
 * and no control sequence.
 */
export async function fuzz(data: Buffer): Promise<void> {
  const sources = await ignoreRefused(['invalid-input', 'too-large', 'unsupported-type'], () =>
    decodeSources('build.zip', data, 'log', { maxBytes: MAX_BYTES }),
  );
  if (sources === null) return;
  assert(sources.length > 0, 'nothing was read, and nothing was refused');
  assert(
    sources.reduce((sum, { text }) => sum + text.length, 0) <= MAX_BYTES,
    'the texts are longer than their limit',
  );
  for (const { name, text, notes } of sources) {
    assert(text.isWellFormed() && !text.includes('\0'), 'the text is not what PostgreSQL keeps');
    assert(!/(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\]/.test(name), `the name climbs: ${name}`);
    for (const shown of [name, ...notes])
      assert(!/[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.test(shown), `not to be shown: ${shown}`);
  }
}
