import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatEditorAddress, logPageLink } from '../../src/console/ci-links.ts';
import { EditorTemplate } from '../../src/domain/access.ts';
import { GithubSettings } from '../../src/providers/github/provider.ts';
import { type Host, startHost } from '../providers/contract.ts';
import { githubWorld } from '../providers/worlds/github.ts';
import { listAxeFindings } from '../support/browser.ts';
import { openReviewWorld, type ReviewWorld } from '../support/review-world.ts';

let client: ReviewWorld;
let host: Host;
let build: string;
let item: string;
const PHONE = { width: 390, height: 844, theme: 'dark' } as const;
const DESK = { width: 1440, height: 900 } as const;

/** A build of GitHub on a pull request, whose comment was posted there. */
beforeAll(async () => {
  host = await startHost(githubWorld);
  client = await openReviewWorld({
    change: (config) => ({
      ...config,
      providers: {
        ...config.providers,
        github: GithubSettings.parse({ baseUrl: host.url, token: 'ghp_x', writes: ['comment', 'rerun'] }),
      },
    }),
  });
  const { stores, app } = client.console;
  build = await client.console.bring({
    slug: 'checkout-type-error',
    repository: 'shop/api',
    number: '12',
    pullRequest: 7,
    branch: 'round',
  });
  await app.database.query(
    `update builds set provider = 'github', external_id = '4711', url = $2 where id = $1`,
    [build, 'https://github.com/shop/api/actions/runs/4711'],
  );
  const [log] = await client.console.app.archive.list(build);
  await stores.ciLinks.saveLogPages(build, [
    { name: log?.name ?? '', url: 'https://github.com/shop/api/actions/runs/4711/job/2#step:3:1' },
  ]);
  item = (await stores.reviews.list({ state: 'waiting' }, { limit: 1, offset: 0 }))[0]?.id ?? '';
});
afterAll(async () => {
  await client.close();
  await host.close();
});

describe('70: links in both directions', () => {
  it.each([
    ['a desk', { ...DESK }],
    ['a phone, in the dark', { ...PHONE }],
    ['a phone, without scripts', { ...PHONE, javaScript: false }],
  ] as const)(
    '70: build, log and line lead to the CI, and an item leads to its comment: on %s',
    async (_where, how) => {
      const complaints = await client.at(
        'anna',
        async (page) => {
          const job = 'https://github.com/shop/api/actions/runs/4711/job/2#step:3:1';
          await page.goto(`/builds/${build}`);
          expect(await page.locator('.top .acts').getByRole('link').getAttribute('href')).toBe(
            'https://github.com/shop/api/actions/runs/4711',
          );
          const outside = page.getByRole('link', { name: 'Open in GitHub' });
          expect(await outside.last().getAttribute('href')).toBe(job);
          await page.goto(`/logs/${build}?L=3-3#L3`);
          await page.locator('.tools .menu > summary').click();
          expect(await outside.getAttribute('href')).toBe(job);
          if (!('javaScript' in how)) expect(await listAxeFindings(page)).toEqual([]);
          await page.goto(`/review/${item}`);
          expect(await outside.first().getAttribute('href')).toBe(job);
          await expect.poll(() => host.state.comments.length, { timeout: 20_000 }).toBe(1);
          await expect
            .poll(
              async () => {
                await page.reload();
                return await page.getByRole('link', { name: 'comment' }).count();
              },
              { timeout: 20_000 },
            )
            .toBe(1);
          expect(await page.getByRole('link', { name: 'comment' }).getAttribute('href')).toBe(
            `${host.url}/shop/api/pull/7#issuecomment-100`,
          );
          if (!('javaScript' in how)) expect(await listAxeFindings(page)).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(how.width);
        },
        how,
      );
      expect(complaints).toEqual([]);
    },
  );

  it("70: a file opens in the reader's own editor, and no other scheme is accepted", async () => {
    await client.at('anna', async (page) => {
      await page.goto('/me');
      const field = page.getByLabel('Address that opens a file in your editor');
      await field.fill('javascript:alert({path})');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('must begin with the scheme of an editor').waitFor();
      await page.goto('/me');
      await field.fill('vscode://file/home/anna/{name}/{path}:{line}');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      await page.goto(`/review/${item}`);
      expect(await page.getByRole('link', { name: 'Open in editor' }).first().getAttribute('href')).toMatch(
        /^vscode:\/\/file\/home\/anna\/api\/[\w./-]+:\d+$/,
      );
    });
    await client.at('ben', async (page) => {
      await page.goto(`/review/${item}`);
      expect(await page.getByRole('link', { name: 'Open in editor' }).count()).toBe(0);
    });
  });

  it('70: failed jobs are rerun after a confirmation, by reviewers only, with a record of who requested it', async () => {
    await client.at('reader', async (page) => {
      await page.goto(`/builds/${build}`);
      expect(await page.getByText('Re-run failed jobs').count()).toBe(0);
    });
    host.state.forbidden = /rerun/;
    await client.at('ben', async (page) => {
      await page.goto(`/builds/${build}`);
      expect(await page.getByRole('button', { name: 'Re-run now' }).isVisible()).toBe(false);
      await page.getByText('Re-run failed jobs').click();
      await page.getByRole('button', { name: 'Re-run now' }).click();
      await page.locator('#rerun .is-red').waitFor();
      expect(await page.locator('#rerun .is-red').textContent()).toMatch(
        /^failed\. GitHub .* needs permission to write Actions/,
      );
    });
    host.state.forbidden = null;
    await client.at(
      'anna',
      async (page) => {
        await page.goto(`/builds/${build}`);
        await page.getByText('Re-run failed jobs').click();
        expect(await page.locator('#rerun details p').textContent()).toContain(
          'GitHub runs the failed jobs of ci #12 again',
        );
        await page.getByRole('button', { name: 'Re-run now' }).click();
        await page.locator('#rerun li').first().waitFor();
        expect(await page.locator('#rerun li').first().textContent()).toBe(
          'anna asked GitHub < 1 min ago to re-run the failed jobs: accepted',
        );
        // Whoever presses again at once is told so; GitHub is not asked twice.
        await page.getByText('Re-run failed jobs').click();
        await page.getByRole('button', { name: 'Re-run now' }).click();
        await page.getByText('Somebody has just re-run the failed jobs').waitFor();
      },
      { ...PHONE, javaScript: false },
    );
    expect(host.state.reruns).toEqual([{}]);
    expect(await client.console.stores.ciLinks.reruns(build)).toMatchObject([
      { by: 'anna', outcome: 'done', error: null },
      { by: 'ben', outcome: 'failed' },
    ]);
    await client.at('anna', async (page) => {
      await page.goto(`/builds/${build}`);
      await page.getByText('Re-run failed jobs').click();
      expect(await listAxeFindings(page)).toEqual([]);
    });
  });
});

it('70: a line is part of an address only if its page can be opened at a line, and an address is http or https', () => {
  const gitlab = { provider: 'gitlab' } as const;
  expect(logPageLink(gitlab, 'https://x/-/jobs/1#L{line}', 12)?.text).toBe(
    '<a href="https://x/-/jobs/1#L12" rel="noreferrer">Open in GitLab at line 12</a>',
  );
  expect(logPageLink(gitlab, 'https://x/-/jobs/1#L{line}')?.text).toBe(
    '<a href="https://x/-/jobs/1" rel="noreferrer">Open in GitLab</a>',
  );
  expect(logPageLink(gitlab, 'https://x/job/1#step:3:1', 12)?.text).toContain(
    'href="https://x/job/1#step:3:1"',
  );
  expect(logPageLink(gitlab, 'javascript:alert(1)')).toBe(null);
  expect(logPageLink(gitlab, undefined, 3)).toBe(null);
});

it('70: a path cannot leave its place in the address of an editor', () => {
  const of = (path: string, template = 'vscode://file/src/{repository}/{path}:{line}') =>
    formatEditorAddress(template, { path, line: null, repository: 'shop/api' });
  expect(of('src/a b.ts')).toBe('vscode://file/src/shop/api/src/a%20b.ts:1');
  expect(of('src/a.ts?x=1#y')).toBe('vscode://file/src/shop/api/src/a.ts%3Fx%3D1%23y:1');
  for (const path of ['../secret', '/etc/passwd', 'a//b', 'a/./b', 'C:\\x', '']) expect(of(path)).toBe(null);
  expect(of('a.ts', '')).toBe(null);
  const isAllowed = (template: string) => EditorTemplate.safeParse(template).success;
  expect(['', 'idea://open?file=/x/{path}&line={line}', 'zed://file/{path}'].map(isAllowed)).toEqual([
    true,
    true,
    true,
  ]);
  expect(
    [
      'javascript://{path}',
      'https://evil.example/{path}',
      'file:///{path}',
      'vscode://file',
      'vscode://x"{path}',
      'data:{path}',
    ].map(isAllowed),
  ).toEqual(Array.from({ length: 6 }, () => false));
});
