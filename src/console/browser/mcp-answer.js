/**
 * The page that shows an answer inside of an agent's own window (an MCP App). The host shows it in a sandboxed
 * frame and passes the result of the tool; the page asks the host for more, and loads nothing by itself.
 */
const PROTOCOL = '2026-01-26';
const ANSWER_TOOL = 'get_failure';

/** @typedef {{ id?: string, title: string, category: string, confidence: number, action: string,
 *   whose: { sentence: string } | null, rootCause: string, fixRecommendation: string, reasons: string[],
 *   tests: string[], proof: { source: string, line: number, text: string }[],
 *   suspects: { path: string, line?: number, reason: string, author?: string }[],
 *   evidence: { id: string, tool: string, title: string }[] }} Cause */
/** @typedef {{ id: string, title: string }} Other */
/** @typedef {{ cause?: Cause, causes?: Cause[], build?: { url: string | null } | null, page?: string | null,
 *   others?: Other[] }} AnswerData */
/** @typedef {{ lines: { line: number | null, text: string }[] }} Piece */

/** @type {Map<number, (message: { result?: any }) => void>} */
const waiting = new Map();
let lastRequest = 0;
/** @type {{ openLinks?: object, serverTools?: object }} */
let abilities = {};

addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return;
  if (data.method === undefined) {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  } else if (data.id !== undefined) sendMessage(answerHost(data));
  else if (data.method === 'ui/notifications/tool-result') showResult(data.params);
  else if (data.method === 'ui/notifications/host-context-changed') applyTheme(data.params);
});

const { result } = await askHost('ui/initialize', {
  protocolVersion: PROTOCOL,
  appInfo: { name: 'faultline', version: document.documentElement.dataset.release ?? '' },
  appCapabilities: {},
});
abilities = result?.hostCapabilities ?? {};
applyTheme(result?.hostContext);
sendMessage({ method: 'ui/notifications/initialized' });
new ResizeObserver(() => {
  const { scrollWidth: width, scrollHeight: height } = document.documentElement;
  sendMessage({ method: 'ui/notifications/size-changed', params: { width, height } });
}).observe(document.body);

/** @param {object} message */
function sendMessage(message) {
  // The host's origin is not known, and nothing is sent that the host did not send itself.
  parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
}

/** @param {string} method @param {object} params @returns {Promise<{ result?: any }>} */
function askHost(method, params) {
  lastRequest += 1;
  const id = lastRequest;
  sendMessage({ id, method, params });
  return new Promise((resolve) => void waiting.set(id, resolve));
}

/** @param {{ id: number, method: string }} request */
function answerHost({ id, method }) {
  return method === 'ping' || method === 'ui/resource-teardown'
    ? { id, result: {} }
    : { id, error: { code: -32601, message: 'The page does not answer this' } };
}

/** @param {{ theme?: string } | undefined} context */
function applyTheme(context) {
  if (context?.theme !== undefined) document.documentElement.dataset.theme = context.theme;
}

/** @param {{ structuredContent?: AnswerData, content?: { text?: string }[], isError?: boolean }} answer */
function showResult({ structuredContent: data, content = [], isError }) {
  const causes = data?.causes ?? (data?.cause === undefined ? [] : [data.cause]);
  const said = content.map(({ text = '' }) => text).join('\n');
  if (isError === true || data === undefined || causes.length === 0)
    return fillPage([make('p', {}, [said || 'No failure was found.'])]);
  fillPage([
    ...causes.map(renderCause),
    ...listOthers(data.others ?? []),
    make('p', { class: 'acts' }, [
      ...linkButton('Open in Faultline', data.page),
      ...linkButton('Open the build', data.build?.url),
    ]),
  ]);
}

/** @param {Node[]} parts */
function fillPage(parts) {
  fill(document.querySelector('main'), parts);
}

/** @param {Element | null} place @param {(Node | string)[]} parts */
function fill(place, parts) {
  place?.replaceChildren();
  for (const part of parts) place?.append(part);
}

/** @param {Cause} cause @param {number} index */
function renderCause(cause, index) {
  const level = index === 0 ? 1 : 2;
  const isSure = cause.action === 'auto_notify';
  const kind = cause.category.replaceAll('_', ' ').toLowerCase();
  const sure = `${Math.round(cause.confidence * 100)} % sure${isSure ? '' : ', needs review'}`;
  return make('article', {}, [
    make('p', { class: 'meta' }, [
      make('b', { class: 'cat', 'data-c': kind.split(' ')[0] ?? '' }, [kind]),
      make('span', {}, [sure]),
    ]),
    make(`h${level}`, { class: 'title' }, [cause.title]),
    ...(cause.whose === null ? [] : [make('p', { class: 'whose' }, [cause.whose.sentence])]),
    ...section(level + 1, 'Cause', [renderProse(cause.rootCause)]),
    ...section(
      level + 1,
      'Fix',
      cause.fixRecommendation === '' ? [] : [renderProse(cause.fixRecommendation)],
    ),
    ...section(level + 1, 'Proof', cause.proof.length === 0 ? [] : [renderProof(cause.proof)]),
    ...section(level + 1, 'Suspects', listItems(cause.suspects.map(renderSuspect))),
    ...section(level + 1, 'Failing tests', listItems(cause.tests.map((test) => [test]))),
    ...section(level + 1, 'Evidence', renderEvidence(cause)),
    ...section(
      level + 1,
      'Needs review because',
      listItems(isSure ? [] : cause.reasons.map((reason) => [reason])),
    ),
  ]);
}

/** @param {number} level @param {string} title @param {Node[]} parts */
function section(level, title, parts) {
  return parts.length === 0 ? [] : [make(`h${level}`, {}, [title]), ...parts];
}

/** @param {(Node | string)[][]} items */
function listItems(items) {
  return items.length === 0
    ? []
    : [
        make(
          'ul',
          { class: 'plain' },
          items.map((item) => make('li', {}, item)),
        ),
      ];
}

/** Renders a text in which code stands between backticks. @param {string} text */
function renderProse(text) {
  const parts = text.split('`');
  const isPaired = parts.length % 2 === 1;
  return make(
    'p',
    {},
    isPaired ? parts.map((part, at) => (at % 2 === 1 ? make('code', {}, [part]) : part)) : [text],
  );
}

/** @param {Cause['proof']} proof */
function renderProof(proof) {
  const sources = [...new Set(proof.map(({ source }) => source))];
  return make('figure', {}, [
    make('figcaption', { class: 'meta' }, [sources.join(', ')]),
    renderLines(proof.map(({ line, text }) => ({ line, text }))),
  ]);
}

/** @param {Piece['lines']} lines */
function renderLines(lines) {
  return make(
    'ol',
    { class: 'lines', tabindex: '0', 'aria-label': 'Lines of the log' },
    lines.map(({ line, text }) =>
      make('li', {}, [
        make('span', { class: 'n' }, [line === null ? '' : String(line)]),
        make('code', {}, [text]),
      ]),
    ),
  );
}

/** @param {Cause['suspects'][number]} suspect */
function renderSuspect({ path, line, reason, author }) {
  const place = line === undefined ? path : `${path}:${line}`;
  return [make('code', {}, [place]), ` ${reason}${author === undefined ? '' : ` (${author})`}`];
}

/**
 * Renders the index of the evidence. A piece is read through the host when it is opened.
 * @param {Cause} cause
 */
function renderEvidence({ id, evidence }) {
  if (abilities.serverTools === undefined || id === undefined) return [];
  return evidence.map((piece) => {
    const place = make('div', {}, []);
    const details = make('details', {}, [make('summary', {}, [`${piece.id} ${piece.title}`]), place]);
    details.addEventListener('toggle', () => void readEvidence(place, id, piece.id), { once: true });
    return details;
  });
}

/** @param {Element} place @param {string} id @param {string} evidence */
async function readEvidence(place, id, evidence) {
  const { result: answer } = await askHost('tools/call', {
    name: 'get_evidence',
    arguments: { id, evidence },
  });
  /** @type {Piece[]} */
  const pieces = answer?.structuredContent?.pieces ?? [];
  const shown = pieces.map(({ lines }) => renderLines(lines));
  fill(place, shown.length > 0 ? shown : [make('p', {}, ['It could not be read.'])]);
}

/** @param {readonly Other[]} others */
function listOthers(others) {
  if (abilities.serverTools === undefined) return [];
  const items = others.map(({ id, title }) => {
    const button = make('button', { type: 'button', class: 'plain' }, [title]);
    button.addEventListener('click', () => void showOther(id));
    return [button];
  });
  return section(2, 'Other causes of this build', listItems(items));
}

/** @param {string} id */
async function showOther(id) {
  const { result: answer } = await askHost('tools/call', { name: ANSWER_TOOL, arguments: { id } });
  if (answer !== undefined) showResult(answer);
}

/** @param {string} words @param {string | null | undefined} url */
function linkButton(words, url) {
  if (abilities.openLinks === undefined || !/^https?:\/\//.test(url ?? '')) return [];
  const button = make('button', { type: 'button' }, [words]);
  button.addEventListener('click', () => void askHost('ui/open-link', { url }));
  return [button];
}

/** @param {string} name @param {Record<string, string>} attributes @param {(Node | string)[]} content */
function make(name, attributes, content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  fill(element, content);
  return element;
}

export {};
