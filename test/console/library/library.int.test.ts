import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleEntry } from '../../stores/samples.ts';
import { getPage, openConsole, postForm, type TestConsole } from '../../support/console.ts';

let opened: TestConsole;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(async () => await opened.close());

const HOSTILE = '<img src=x onerror=alert(1)>';

describe('the library', () => {
  it('lists the entries of people, shows one, and withdraws it with a reason', async () => {
    const entry = sampleEntry('fp-1', {
      rootCause: HOSTILE,
      title: HOSTILE,
      message: HOSTILE,
      telling: [HOSTILE],
    });
    await opened.stores.library.insert(entry);
    const list = await getPage(opened.app, '/library');
    expect(list.body).toContain(`/library/${entry.id}`);
    const page = await getPage(opened.app, `/library/${entry.id}`);
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('in use');
    for (const response of [list, page]) expect(response.body).not.toContain('<img');
    const gone = await postForm(opened.app, `/library/${entry.id}/withdraw`, {
      reason: 'It was the other one.',
    });
    expect(gone.headers.location).toBe(`/library/${entry.id}?done=withdrawn`);
    const after = await getPage(opened.app, `/library/${entry.id}?done=withdrawn`);
    expect(after.body).toContain('It was the other one.');
    expect(after.body).toContain('not in use');
    expect(after.body).toContain(`action="/library/${entry.id}/restore"`);
    expect((await getPage(opened.app, '/library')).body).not.toContain(entry.id);
    expect((await getPage(opened.app, '/library?show=withdrawn')).body).toContain(entry.id);
    const back = await postForm(opened.app, `/library/${entry.id}/restore`, {});
    expect(back.headers.location).toBe(`/library/${entry.id}?done=restored`);
    expect((await opened.stores.library.find(entry.id))?.withdrawn).toBeNull();
    await opened.stores.library.withdraw(entry.id, 'somebody-else', 'no');
    expect((await postForm(opened.app, `/library/${entry.id}/restore`, {})).statusCode).toBe(409);
  });

  it('shows which entries passed builds contradict, and can keep them in use', async () => {
    const flag = { builds: 3, since: '2026-10-12T00:00:00.000Z', last: 'bld_green' };
    const entry = sampleEntry('fp-2', {});
    await opened.stores.library.insert({ ...entry, flag });
    expect((await getPage(opened.app, '/library?show=flagged')).body).toContain('also in 3 green builds');
    expect((await getPage(opened.app, `/library/${entry.id}`)).body).toContain(
      'It also appears in 3 green builds since 2026-10-12',
    );
    expect((await postForm(opened.app, `/library/${entry.id}/stay`, {})).statusCode).toBe(303);
    expect((await getPage(opened.app, `/library/${entry.id}`)).body).toContain(
      'admin-holder confirmed that the entry stays in use.',
    );
  });

  it('reports an unknown filter', async () => {
    const page = await getPage(opened.app, '/library?category=NO_SUCH&show=all');
    expect(page.body).toContain('Ignored, because this page does not understand it');
    expect(page.body).toContain('category=NO_SUCH');
    expect((await getPage(opened.app, '/library?show=all')).body).not.toContain('Ignored, because');
  });

  it('says on a page after the end that there are no more entries, and links to the first page', async () => {
    const page = await getPage(opened.app, '/library?offset=5000');
    expect(page.body).toContain('No more entries.');
    expect(page.body).toContain('First page');
    expect(page.body).not.toContain('Nothing is decided yet');
  });

  it('removes the filters of a list without leaving it', async () => {
    const page = await getPage(opened.app, '/library?show=flagged&repo=nobody%2Fnothing');
    expect(page.body).toContain('href="/library?show=flagged">Remove the filters');
  });

  it('requires a reason and reports unknown ids', async () => {
    expect((await getPage(opened.app, '/library/lib_none')).statusCode).toBe(404);
    expect((await postForm(opened.app, '/library/lib_none/withdraw', { reason: ' ' })).statusCode).toBe(400);
  });
});

describe('rules', () => {
  const rule = {
    ...{
      pattern: 'tabular \\d+ is yanked',
      sample: 'ERROR: tabular 52 is yanked',
      repository: '',
      category: 'DEPENDENCY_ERROR',
      kind: '',
    },
    ...{
      rootCause: 'The package was withdrawn by its author.',
      fixRecommendation: 'Pin the version before it.',
    },
  };

  it('are tested before they are stored, with all input kept', async () => {
    const tried = await postForm(opened.app, '/library/rules', { ...rule, act: 'try' });
    expect(tried.statusCode).toBe(200);
    expect(tried.body).toContain('The rule can be saved.');
    expect(tried.body).toContain('The package was withdrawn by its author.');
    expect((await getPage(opened.app, '/library/rules')).body).toContain('Answer a known line yourself');
  });

  it('are refused with the reason if they match no sample or are invalid', async () => {
    const wrong = await postForm(opened.app, '/library/rules', {
      ...rule,
      sample: 'something else',
      act: 'store',
    });
    expect(wrong.statusCode).toBe(400);
    expect(wrong.body).toContain('does not match its own sample');
    const blank = await postForm(opened.app, '/library/rules', { ...rule, rootCause: ' ', act: 'store' });
    expect(blank.body).toContain('The root cause is invalid');
  });

  it('are stored, listed and withdrawn', async () => {
    const stored = await postForm(opened.app, '/library/rules', { ...rule, act: 'store' });
    expect(stored.headers.location).toBe('/library/rules?done=stored');
    const page = await getPage(opened.app, '/library/rules?done=stored');
    expect(page.body).toContain('tabular \\d+ is yanked');
    const id = /\/library\/rules\/(\w+)\/withdraw/.exec(page.body)?.[1] ?? '';
    expect((await getPage(opened.app, '/library/rules?csv=1')).body).toContain('tabular \\d+ is yanked');
    const withdraw = async () =>
      await postForm(opened.app, `/library/rules/${id}/withdraw`, { reason: 'too wide' });
    const gone = await withdraw();
    expect((await getPage(opened.app, String(gone.headers.location))).body).toContain('data-action="undo"');
    await postForm(opened.app, `/library/rules/${id}/restore`, {});
    expect((await opened.stores.rules.find(id))?.withdrawn).toBeNull();
    expect((await withdraw()).statusCode).toBe(303);
    expect((await getPage(opened.app, '/library/rules')).body).toContain('Answer a known line yourself');
    expect((await getPage(opened.app, '/library/rules?withdrawn=1')).body).toContain('too wide');
  });
});
