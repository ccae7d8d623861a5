import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { hideInReport } from '../../../src/log/mask/structured.ts';
import { parseReport } from '../../../src/log/reports/report.ts';

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

describe('masking in reports', () => {
  it('changes only values, and entities and escapes as a whole', () => {
    const xml = '<testsuite><testcase name="a"><failure m="k=1&amp;2">x</failure></testcase></testsuite>';
    const from = xml.indexOf('amp');
    expect(hideInReport(xml, [{ from, to: xml.length }])?.text).toBe(
      '<testsuite><testcase name="a"><failure m="k=1***">***</failure></testcase></testsuite>',
    );
    const json = '{"a":"one\\ntwo","b":1234}';
    const at = json.indexOf('ntwo');
    expect(JSON.parse(hideInReport(json, [{ from: at, to: json.length }])?.text ?? '')).toEqual({
      a: 'one***',
      '***': '***',
    });
  });

  it('treats a text that is not a report as plain text', () => {
    expect(hideInReport('password=abc', [{ from: 9, to: 12 }])).toBeNull();
    expect(hideInReport('[info] {"password"', [{ from: 9, to: 12 }])).toBeNull();
  });

  it.each([
    `<?xml version="1.0"?>\n<testsuite/>\ncurl -H <ghp_${'a1B2c3D4e5F6'.repeat(3)}>\n`,
    '<?xml version="1.0"?><a/>\nif x <y then DB_PASSWORD=a1B2c3D4e5F6 go\n',
    '<testsuite>DB_PASSWORD=x9<a1B2c3D4e5F6>y\n',
    `<testsuite ghp_${'a1B2c3D4e5F6'.repeat(3)} name="a"></testsuite>`,
  ])('shows no secret of a text that only begins like a report: %s', async (text) => {
    const [masked] = await createMasker().maskAll([text]);
    expect(masked?.text).not.toContain('a1B2c3D4e5F6');
  });

  it('keeps a report well-formed, whatever value is masked and however long it seems', () => {
    const value = fc.string({ maxLength: 30 });
    const spans = fc.array(fc.record({ from: fc.nat(400), length: fc.nat(60) }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), spans, (values, places) => {
        const cases = values.map(
          (other, at) =>
            `<testcase name="t${at}"><failure message="${escaped(other)}">${escaped(other)}</failure></testcase>`,
        );
        const xml = `<testsuite>${cases.join('')}</testsuite>`;
        const ends = Array.from(
          xml.matchAll(/(?<=(?:message="|">)[^<"]{1,200})(?=<\/|">)/g),
          ({ index }) => index,
        );
        if (ends.length === 0) return;
        const found = places.map(({ from, length }) => {
          const end = ends[from % ends.length] ?? 0;
          const markup = /^(?:">|<\/failure><\/testcase>)/.exec(xml.slice(end))?.[0].length ?? 0;
          return { from: end - 1, to: end + Math.min(length, markup) };
        });
        const hidden = hideInReport(xml, found)?.text ?? '';
        expect(parseReport('r.xml', hidden).notes).toEqual(parseReport('r.xml', xml).notes);

        const json = JSON.stringify(values.map((other) => ({ one: other, n: 12 })));
        const inJson = places.map(({ from, length }) => ({
          from: from % json.length,
          to: Math.min(json.length, (from % json.length) + length),
        }));
        expect(() => JSON.parse(hideInReport(json, inJson)?.text ?? '')).not.toThrow();
      }),
    );
  });

  it('writes the replacements of people and hosts so that the XML can be read', async () => {
    const masker = createMasker({ names: { emails: true, hosts: true } });
    const xml =
      '<testsuite><testcase name="a"><failure message="to ada@example.test"><![CDATA[db.corp.internal]]></failure></testcase></testsuite>';
    const [masked] = await masker.maskAll([xml]);
    const [test] = parseReport('r.xml', masked?.text ?? '').failingTests;
    expect(test?.message).toContain('<EMAIL_1>');
    expect(masked?.text).toContain('<![CDATA[<HOST_1>]]>');
  });
});
