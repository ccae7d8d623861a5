import assert from 'node:assert/strict';
import { wrapBytes } from '../../../../src/log/lines/bytes.ts';
import { createMasker } from '../../../../src/log/mask/mask.ts';

/** A secret in the form of a token with a known prefix. */
const PLANTED = ['ghp', 'q7ZxK2mB9vT4cR8nL1wY5hJ3dF6gS0pQeUaX'].join('_');
const SPOKEN = 'Tr0ub4dor-9xQz71';
const masker = createMasker({ known: [SPOKEN] });

/**
 * Masks text around secrets. No secret may remain, the number of lines must not change, and masking the
 * result must change nothing.
 */
export async function fuzz(data: Buffer): Promise<void> {
  const around = data.toString('utf8');
  const middle = around.length >> 1;
  const text = `${around.slice(0, middle)}\n${PLANTED}\n${around.slice(middle)}\n${SPOKEN}`;
  const { text: masked } = await masker.mask(text);
  const pieces: string[] = [];
  await masker.maskPieces(wrapBytes(Buffer.from(text)), (piece) => pieces.push(piece.toString('utf8')));
  for (const shown of [masked, pieces.join('')]) {
    for (const secret of [PLANTED, SPOKEN]) {
      assert(!shown.includes(secret), `${secret} is left`);
      assert(!shown.includes(Buffer.from(secret).toString('hex')), `${secret} is left in hexadecimal`);
    }
    assert.equal(shown.split('\n').length, text.split('\n').length);
  }
  assert.equal((await masker.mask(masked)).text, masked);
}
