import { describe, expect, it } from 'vitest';
import { compareFailures } from '../../../src/log/fingerprint/failure-likeness.ts';
import { computeFingerprint } from '../../../src/log/fingerprint/failures.ts';
import { findNaming } from '../../../src/log/fingerprint/naming.ts';
import { explain, findBestNaming } from '../../../src/tools/parent-document.ts';

describe('a passage that names an error', () => {
  const line = 'ERROR E-4711 spindle lost at axis 3';
  const heads = 'Error | Reason | What to do\n';

  it('is a table row whose distinctive words are all in the line, with the fix in its columns', () => {
    const text = `${heads}E-4712 spindle hot | no coolant | start the pump\nE-4711 spindle lost | loose cable | replace the cable`;
    const hit = { position: 1, place: 'sheet Errors, rows 1–3', text };
    expect(explain(findBestNaming([line], text), hit, [hit])).toMatchObject({
      cause: 'loose cable',
      fix: 'replace the cable',
    });
  });

  it('is not the code of another error, words that all failures share, or a component', () => {
    expect(findNaming(line, 'E-4712 spindle lost | x | replace the whole cable')).toBeNull();
    expect(
      findNaming(
        'psql: connection to ledger failed: refused',
        'connection refused | x | restart the whole thing',
      ),
    ).toBeNull();
    expect(findNaming('acme-billing: disk quota exceeded', 'See `acme-billing` for details.')).toBeNull();
  });

  it('leads to the adjacent sections, and never to those of another error', () => {
    const passage = (position: number, place: string, body: string) => ({
      position,
      place,
      text: `${place}\n\n${body}`,
    });
    const passages = [
      passage(1, 'Rig › Hot › Fix', 'Start the pump.'),
      passage(2, 'Rig › Lost › Symptoms', '`E-4711 spindle lost`'),
      passage(3, 'Rig › Lost › Cause', 'A loose cable.'),
      passage(4, 'Rig › Lost › Fix', '- Replace the cable.'),
      passage(5, 'Rig › Noisy › Symptoms', '`E-4720 noise`'),
    ];
    const read = (at: number, said: string) => {
      const hit = passages[at];
      return hit === undefined ? null : explain(findBestNaming([said], hit.text), hit, passages);
    };
    expect(read(1, line)).toMatchObject({
      cause: 'A loose cable.',
      fix: 'Replace the cable.',
      places: ['Rig › Lost › Cause', 'Rig › Lost › Fix'],
    });
    expect(read(4, 'ERROR E-4720 noise')).toMatchObject({ cause: null, fix: null });
  });
});

describe('the similarity of failures', () => {
  const failure = (message: string, rest: string, test: string | null = null) => ({
    text: `${message}\n\n${rest}`,
    test,
  });

  it('depends on the message, whatever surrounds it', () => {
    const one = failure('lease of ci-deploy is no longer valid', 'checkout of acme/shop\nnode 24');
    expect(compareFailures(one, failure('lease of ci-deploy is no longer valid', 'other lines'))).toBe(1);
    expect(
      compareFailures(one, failure('quota of the ledger is exceeded', 'checkout of acme/shop\nnode 24')),
    ).toBeLessThan(0.5);
  });

  it('requires the same test if the message states only the compared values', () => {
    const one = failure('expected 3, got 4', 'same lines', 'cart sums');
    expect(compareFailures(one, failure('expected 3, got 4', 'same lines', 'rates round'))).toBe(0);
    expect(compareFailures(one, failure('expected 5, got 4', 'same lines', 'cart sums'))).toBe(0.5);
  });
});

describe('a bare assertion', () => {
  const MESSAGE = 'expect(received).toBe(expected) // Object.is equality';
  const identify = (expected: string, actual: string) =>
    computeFingerprint({
      test: 'cart rounds',
      exceptionType: null,
      frames: [],
      message: MESSAGE,
      compared: [expected, actual],
    });

  it('is identified by its test and the compared values', () => {
    expect(identify('43.43', '43.42').generic).toBe(false);
    expect(identify('43.43', '43.42')).toEqual(identify('43.43', '43.42'));
    expect(identify('43.43', '43.42')).not.toEqual(identify('43.43', '0'));
  });

  it('is too general if the values are only yes or no', () => {
    expect(identify('true', 'false').generic).toBe(true);
  });
});
