/** The ids of one project that pages name. */
export interface PageIds {
  readonly build: string;
  readonly analysis: string;
  readonly review: string;
  readonly question: string;
  readonly entry: string;
  readonly rule: string;
  readonly notificationRule: string;
  readonly thread: string;
  readonly repositoryThread: string;
}

/** Pages and their forms that name something by its id: how a project's own is named. */
export const PAGE_ROUTES: Readonly<
  Record<string, (of: PageIds) => { readonly url: string; readonly payload?: object }>
> = {
  'GET /builds/:id/picture': ({ build }) => ({ url: `/builds/${build}/picture?name=shots/cart.png` }),
  'GET /review/:id': ({ review }) => ({ url: `/review/${review}` }),
  'POST /review/:id/claim': ({ review }) => ({ url: `/review/${review}/claim` }),
  'POST /review/:id/release': ({ review }) => ({ url: `/review/${review}/release` }),
  'POST /review/:id/skip': ({ review }) => ({ url: `/review/${review}/skip` }),
  'POST /review/:id/decision': ({ review }) => ({
    url: `/review/${review}/decision`,
    payload: { type: 'reject', reason: 'no', version: 99 },
  }),
  'POST /review/:id/undo': ({ review }) => ({ url: `/review/${review}/undo` }),
  'POST /review/:id/answer': ({ question }) => ({
    url: `/review/${question}/answer`,
    payload: { how: 'unknown' },
  }),
  'GET /library/:id': ({ entry }) => ({ url: `/library/${entry}` }),
  'POST /library/:id/withdraw': ({ entry }) => ({
    url: `/library/${entry}/withdraw`,
    payload: { reason: 'wrong' },
  }),
  'POST /library/:id/restore': ({ entry }) => ({ url: `/library/${entry}/restore` }),
  'POST /library/:id/stay': ({ entry }) => ({ url: `/library/${entry}/stay` }),
  'POST /library/rules/:id/withdraw': ({ rule }) => ({
    url: `/library/rules/${rule}/withdraw`,
    payload: { reason: 'too wide' },
  }),
  'POST /library/rules/:id/restore': ({ rule }) => ({ url: `/library/rules/${rule}/restore` }),
  'GET /notifications/:id': ({ notificationRule }) => ({ url: `/notifications/${notificationRule}` }),
  'POST /notifications/:id': ({ notificationRule }) => ({
    url: `/notifications/${notificationRule}`,
    payload: { act: 'save', version: '1' },
  }),
  'GET /builds/:id': ({ build }) => ({ url: `/builds/${build}` }),
  'POST /builds/:id/rerun': ({ build }) => ({ url: `/builds/${build}/rerun` }),
  'GET /logs/:id': ({ build }) => ({ url: `/logs/${build}` }),
  'GET /logs/:id/raw': ({ build }) => ({ url: `/logs/${build}/raw` }),
  'GET /runs/:id': ({ analysis }) => ({ url: `/runs/${analysis}` }),
  'GET /runs/:id/json': ({ analysis }) => ({ url: `/runs/${analysis}/json` }),
  'GET /runs/:id/events': ({ build }) => ({ url: `/runs/${build}/events` }),
  'GET /analyses/:id': ({ analysis }) => ({ url: `/analyses/${analysis}` }),
  'POST /analyses/:id/review': ({ analysis }) => ({ url: `/analyses/${analysis}/review` }),
  'GET /analyses/:id/ask': ({ analysis }) => ({ url: `/analyses/${analysis}/ask` }),
  'GET /analyses/:id/ask/:thread': ({ analysis, thread }) => ({ url: `/analyses/${analysis}/ask/${thread}` }),
  'GET /ask/:thread': ({ repositoryThread }) => ({ url: `/ask/${repositoryThread}` }),
  'POST /analyses/:id/ask': ({ analysis }) => ({
    url: `/analyses/${analysis}/ask`,
    payload: { question: 'why?' },
  }),
};

/** What an answer tells whoever may not see what was requested, without the ids: its sentence, or all that a page shows. */
export function readAnswerText({
  headers,
  body,
}: {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}): string {
  const isPage = String(headers['content-type']).startsWith('text/html');
  const told = isPage
    ? (/<main[^>]*>(.*)<\/main>/s.exec(body)?.[1] ?? body)
    : String(JSON.parse(body).error?.message);
  return told.replace(/\b(?:[\da-f]{8}-[\da-f-]{27}|\w{3}_\w+|delivery-\w+|[8-9])\b/g, 'X');
}
