import assert from 'node:assert/strict';
import { decodeSource } from '../../../../src/log/decode/decode.ts';
import { ignoreRefused } from '../refusals.ts';

const MAX_BYTES = 1_000_000;

/**
 * Reads one file, plain or compressed. It must be rejected, or give valid Unicode without NUL and within the
 * limit.
 */
export async function fuzz(data: Buffer): Promise<void> {
  for (const kind of ['log', 'report', 'artifact'] as const) {
    const source = await ignoreRefused(['invalid-input', 'too-large', 'unsupported-type'], () =>
      decodeSource('build.log', data, kind, { maxBytes: MAX_BYTES }),
    );
    if (source === null) continue;
    assert(source.text.isWellFormed(), 'the text is not valid Unicode');
    assert(!source.text.includes('\0'), 'the text holds NUL');
    assert(source.text.length <= MAX_BYTES, 'the text is longer than its limit');
  }
}
