import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderEvidenceWindows } from '../../../src/console/logs/evidence-windows.ts';
import { digestOfToken, makeToken } from '../../../src/domain/access.ts';
import type { Analysis } from '../../../src/domain/analysis.ts';
import { sampleAnalysis, sampleBuild, sampleGroup } from '../../stores/samples.ts';
import { getPage, openConsole, type TestConsole } from '../../support/console.ts';

const LINES = 12_000;
const HOSTILE = `<img src=x onerror=alert(1)> "'\u202e\0 javascript:alert(1) https://evil.example`;

let console: TestConsole;
let buildId: string;
let analysis: Analysis;

function lineOf(number: number): string {
  if (number === 7_000) return HOSTILE;
  if (number === 7_010) return `\u001b[31mexpected 10.20\u001b[0m, got 10.21`;
  if (number === 7_011) return 'x'.repeat(50_000);
  if (number === 7_012) return '10%\r20%\r30%';
  return `line ${number}${number % 2 === 0 ? ' Error' : ''}`;
}

async function storeBuild(number: string, repository = 'acme/shop'): Promise<string> {
  const { build } = await console.stores.builds.upsert(sampleBuild({ repository, number }));
  return build.id;
}

async function page(query: string): Promise<string> {
  const answer = await getPage(console.app, `/logs/${buildId}?file=build.log${query}`);
  expect(answer.statusCode).toBe(200);
  return answer.body;
}

function linesOn(body: string): number[] {
  return Array.from(body.matchAll(/<li id="L(\d+)"/g), ([, line]) => Number(line));
}

function markedOn(body: string): number[] {
  return Array.from(body.matchAll(/<li id="L(\d+)" data-line="\d+" class="[^"]*\bsel\b[^"]*"/g), ([, line]) =>
    Number(line),
  );
}

beforeAll(async () => {
  console = await openConsole();
  buildId = await storeBuild('812');
  const text = Array.from({ length: LINES }, (_, at) => lineOf(at + 1)).join('\n');
  await console.archive.put(buildId, { name: 'build.log', kind: 'log', text, notes: ['cut at 200 MB'] });
  await console.archive.put(buildId, { name: 'reports/jünit.xml', kind: 'report', text: '<a/>', notes: [] });
  await console.archive.put(buildId, {
    name: 'core.bin',
    kind: 'artifact',
    text: '',
    notes: ['4.1 MB, application/zip'],
  });
  await console.stores.failures.saveGroups(buildId, [sampleGroup(buildId, 'fp-1')]);
  const triage = await console.stores.triages.open(buildId, 'fp-1');
  const wanted = sampleAnalysis({ buildId, triageId: triage.id, fingerprint: 'fp-1' });
  const evidence = [
    {
      id: 'E1',
      tool: 'log',
      title: `failure ${HOSTILE}`,
      text: 'line',
      source: 'build.log',
      lineStart: 7_010,
      lineEnd: 7_012,
    },
    {
      id: 'E2',
      tool: 'read_file',
      title: 'tax.ts',
      text: 'code',
      source: 'src/tax.ts',
      lineStart: 3,
      lineEnd: 4,
    },
    {
      id: 'E3',
      tool: 'grep_log',
      title: 'seen before',
      text: 'line',
      source: 'build.log',
      lineStart: 7_008,
      lineEnd: 7_008,
    },
  ];
  analysis = (await console.stores.analyses.insertOnce({ ...wanted, evidence })).analysis;
});
afterAll(async () => await console.close());

it('the way back leads to the review item from which the log was opened, and to no other address', async () => {
  const item = await page(`&back=${encodeURIComponent('/review/rev_1?n=2&of=9')}`);
  expect(item).toMatch(
    /<a[^>]*data-action="?full-log"?[^>]*href="\/review\/rev_1\?n=2&amp;of=9"|href="\/review\/rev_1\?n=2&amp;of=9"[^>]*data-action="?full-log/,
  );
  expect(item).toContain('name="back" value="/review/rev_1?n=2&amp;of=9"');
  for (const back of ['https://evil.example/', '//evil.example/review/rev_1', '/settings?x=1'])
    expect(await page(`&back=${encodeURIComponent(back)}`)).not.toContain(`href="${back}"`);
});

describe('the log viewer', () => {
  it('shows the evidence of the answer and the end, folded', async () => {
    const body = await page('');
    expect(linesOn(body)[0]).toBe(7_002);
    expect(linesOn(body)).toEqual([...range(7_002, 7_018), ...range(11_961, 12_000)]);
    expect(body).toContain('⋯ 7,001 lines not shown: show 200');
    expect(body).toContain(`href="/analyses/${analysis.id}"`);
    expect(body).toContain('cut at 200 MB');
    expect(body).toContain('57</span> of 12,000 lines are on this page');
  });

  it('marks a range, with its first line a third down the window', async () => {
    const body = await page('&L=9000-9004');
    expect(markedOn(body)).toEqual([9_000, 9_001, 9_002, 9_003, 9_004]);
    expect(linesOn(body)).toEqual(range(8_867, 9_266));
    expect(markedOn(await page('&L=L9004-L9000'))).toHaveLength(5);
  });

  it('shows any window, with links to what comes before and after it', async () => {
    const body = await page('&from=1&to=400');
    expect(linesOn(body)).toEqual(range(1, 400));
    expect(body).toContain('from=401&amp;to=800#L401');
    expect(linesOn(await page('&from=1&to=12000'))).toHaveLength(3_000);
    expect(linesOn(await page('&view=full'))).toEqual(range(1, 400));
    expect(await page('&L=99999')).toContain('There is no line 99,999: the log ends at line 12,000.');
  });

  it('returns the rows that replace a gap', async () => {
    const { body } = await getPage(
      console.app,
      `/logs/${buildId}?file=build.log&from=6802&to=7001&part=1-7001`,
    );
    expect(body.startsWith('<ol>')).toBe(true);
    expect(linesOn(body)).toEqual(range(6_802, 7_001));
    expect(body).toContain('data-from="1" data-to="6801"');
    expect(body).not.toContain('<main');
  });

  it('shows hostile lines as text, without links, styles and markup of their own', async () => {
    const body = await page('&from=6999&to=7012');
    expect(body).toContain('&lt;img src=x onerror=alert(1)&gt; &quot;&#39;');
    expect(body).toContain('⟦U+202E⟧');
    expect(body).toContain('<span class="fg1">expected 10.20</span>, got 10.21');
    expect(body).toContain('… +48,000 characters');
    expect(body).toContain('↻ 2 overwrites');
    for (const never of [
      '<img',
      '\u202e',
      '\0',
      'style=',
      'href="https://evil',
      'href="javascript',
      '\u001b',
    ])
      expect(body).not.toContain(never);
  });

  it('searches the whole log, one page of hits at a time', async () => {
    const body = await page('&q=ERROR&hit=5001');
    expect(body).toContain('5,998 lines contain “ERROR”, 5,001–5,100 shown.');
    expect(body).toContain('<mark>Error</mark>');
    expect(linesOn(body)[0]).toBe(10_006);
    expect(await page('&q=ERROR&case=1')).toContain('No line contains “ERROR”.');
    expect(await page(`&q=${encodeURIComponent('<b>"')}`)).toContain('value="&lt;b&gt;&quot;"');
    expect(markedOn(await page('&q=error&L=10006'))).toEqual([10_006]);
  });

  it('describes a file without lines', async () => {
    const file = async (name: string) =>
      (await getPage(console.app, `/logs/${buildId}?file=${encodeURIComponent(name)}`)).body;
    expect(await file('core.bin')).toContain('This file is not text');
    expect(await file('core.bin')).toContain('4.1 MB, application/zip');
    expect(await file('reports/jünit.xml')).toContain('&lt;a/&gt;');
  });

  it('explains why there is no log', async () => {
    const none = await storeBuild('813');
    const empty = await getPage(console.app, `/logs/${none}`);
    expect(empty).toMatchObject({ statusCode: 404 });
    expect(empty.body).toContain('The build has no log.');
    await console.database.query(
      `insert into forgotten_logs (build_id, at) values ($1, '2026-10-12T01:02:03Z')`,
      [none],
    );
    const expired = await getPage(console.app, `/logs/${none}`);
    expect(expired).toMatchObject({ statusCode: 410 });
    expect(expired.body).toContain('Retention deleted the log on 2026-10-12.');
    expect((await getPage(console.app, `/logs/${buildId}?file=other.log`)).body).toContain(
      'has no log named other.log.',
    );
    expect(await getPage(console.app, '/logs/bld_none')).toMatchObject({ statusCode: 404 });
    await console.archive.put(none, { name: 'build.log', kind: 'log', text: '', notes: [] });
    expect((await getPage(console.app, `/logs/${none}`)).body).toContain('This log is empty');
  });

  it('is not available to a token of another repository', async () => {
    const token = makeToken();
    const kept = {
      createdBy: 'test',
      expiresInDays: null,
      roles: ['read'] as const,
      repositories: ['acme/other'],
    };
    await console.stores.tokens.keep({ ...kept, name: 'other', digest: digestOfToken(token) });
    for (const url of [
      `/logs/${buildId}`,
      `/logs/${buildId}/raw`,
      `/logs/${buildId}?q=line`,
      `/logs/${buildId}?from=1&part=1-9`,
    ]) {
      expect(await getPage(console.app, url, token)).toMatchObject({ statusCode: 404 });
      expect(await console.app.inject({ url })).not.toMatchObject({ statusCode: 200 });
    }
  });
});

describe('the raw log', () => {
  it('is sent completely to a token of its repository', async () => {
    const token = makeToken();
    const kept = {
      createdBy: 'test',
      expiresInDays: null,
      roles: ['read'] as const,
      repositories: ['acme/shop'],
    };
    await console.stores.tokens.keep({ ...kept, name: 'own', digest: digestOfToken(token) });
    const { statusCode, body } = await getPage(console.app, `/logs/${buildId}/raw?file=build.log`, token);
    expect([statusCode, body.split('\n').length]).toEqual([200, LINES]);
  });

  async function raw(headers: Record<string, string> = {}) {
    const { authorization } = { authorization: 'Bearer admin-token-0123456789' };
    return await console.app.inject({
      url: `/logs/${buildId}/raw?file=build.log`,
      headers: { authorization, ...headers },
    });
  }

  it('is the stored text, and is not interpreted', async () => {
    const answer = await raw();
    const stored = Array.from({ length: LINES }, (_, at) => lineOf(at + 1).replaceAll('\0', '\ufffd')).join(
      '\n',
    );
    expect(answer.body).toBe(stored);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-disposition': `inline; filename="build.log"; filename*=UTF-8''build.log`,
      'content-length': String(Buffer.byteLength(stored)),
      'accept-ranges': 'bytes',
    });
  });

  it('is sent in parts on request', async () => {
    const size = Number((await raw()).headers['content-length']);
    const some = await raw({ range: 'bytes=5-13' });
    expect(some).toMatchObject({ statusCode: 206, body: '1\nline 2 ' });
    expect(some.headers['content-range']).toBe(`bytes 5-13/${size}`);
    expect(await raw({ range: 'bytes=-5' })).toMatchObject({ statusCode: 206, body: 'Error' });
    expect((await raw({ range: `bytes=${size}-` })).statusCode).toBe(416);
    expect((await raw({ range: 'bytes=0-1', 'if-range': '"old"' })).statusCode).toBe(200);
  });
});

const OF = { build: { provider: 'github' } } as const;

describe('the evidence of an analysis', () => {
  const QUOTED = { source: 'build.log', line: 7_010, text: 'expected 10.20' };
  const claim = (evidence: string[], quotes = [QUOTED]) => ({ text: 'x', evidence, quotes });
  const answering = (...claims: ReturnType<typeof claim>[]): Analysis => ({
    ...analysis,
    answer: { ...analysis.answer, claims },
  });
  const highlighted = (text: string) =>
    Array.from(
      text.matchAll(/<li id="(?:rest-)?L(\d+)" data-line="\d+" class="[^"]*\bcited\b/g),
      ([, line]) => Number(line),
    );

  it('is shown with five lines around the cited one, which alone is highlighted', async () => {
    const { html, shown } = await renderEvidenceWindows(
      console,
      answering(claim(['E2'], []), claim(['E1'])),
      OF,
    );
    expect(linesOn(html.text)).toEqual(range(7_005, 7_015));
    expect(highlighted(html.text)).toEqual([7_010]);
    expect([...shown]).toEqual(['E1']);
    expect(html.text).toContain(`href="/logs/${buildId}?file=build.log&amp;L=7009-7009#L7009"`);
    expect(html.text).toContain('<span id="E1"></span>');
    expect(html.text).not.toContain('<img');
  });

  it('has each claim under the line that supports it, and lists claims without such a line', async () => {
    const said = { ...OF, claims: ['nowhere', 'It was cut, not rounded.'] };
    const { html, noted } = await renderEvidenceWindows(
      console,
      answering(claim(['E2'], []), claim(['E1'])),
      said,
    );
    expect(html.text).toMatch(
      /<li id="L7010"[^>]*>(?:(?!<li).)*<\/li><li class="note" id="claim-2">(?:(?!<li).)*It was cut, not rounded\./,
    );
    expect([...noted]).toEqual([1]);
  });

  it('comes before the other excerpts of the log, which are folded and not highlighted', async () => {
    const other = {
      id: 'E4',
      tool: 'log',
      title: 'npm http fetch',
      text: 'line',
      source: 'build.log',
      lineStart: 100,
      lineEnd: 140,
    };
    const told = answering(claim(['E1']));
    const { html, shown } = await renderEvidenceWindows(
      console,
      { ...told, evidence: [...told.evidence, other] },
      OF,
    );
    expect(linesOn(html.text)[0]).toBe(7_005);
    expect(html.text).toMatch(
      /<details class="aside"><summary[^>]*>1 more excerpt of this log, not cited<\/summary>.*id="rest-L95"/s,
    );
    expect(highlighted(html.text)).toEqual([7_010]);
    expect([...shown].toSorted()).toEqual(['E1', 'E4']);
  });

  it('is highlighted completely if a claim cites it without a quotation, and not at all if none cites it', async () => {
    const cited = (
      await renderEvidenceWindows(console, answering(claim(['E2'], []), claim(['E1', 'E2'], [])), OF)
    ).html.text;
    expect(highlighted(cited)).toEqual([7_010, 7_011, 7_012]);
    expect(cited).toContain('<span id="E1"></span>');
    const silent = (await renderEvidenceWindows(console, answering(), OF)).html.text;
    expect(highlighted(silent)).toEqual([]);
    expect(silent).toContain('<span id="E1"></span>');
  });

  it('is shown from its stored copy if the log is gone', async () => {
    const gone = await storeBuild('814');
    const { html, shown } = await renderEvidenceWindows(
      console,
      { ...answering(claim(['E1'])), buildId: gone },
      OF,
    );
    expect(linesOn(html.text)).toEqual([7_008, 7_010]);
    expect([...shown]).toEqual(['E1']);
    expect(html.text).toContain('these lines were kept with the analysis');
  });
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
