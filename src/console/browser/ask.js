import { bodyOf, parse, say, visit } from './core.js';

/** Questions that are answered in place: shows the steps, and the answer while it is written. */

/** @param {HTMLFormElement} form @param {HTMLElement | null} button */
async function ask(form, button) {
  const place = document.querySelector('[data-progress]');
  const stop = document.querySelector('[data-stop]');
  if (!(place instanceof HTMLElement) || !(stop instanceof HTMLButtonElement)) return form.submit();
  // Only one question at a time. A second press would ask, and cost, twice.
  if (!stop.hidden) return;
  const stopping = new AbortController();
  const steps = document.createElement('ol');
  const text = document.createElement('p');
  place.replaceChildren(steps, text);
  stop.hidden = false;
  stop.onclick = () => stopping.abort();
  say('Looking.');
  /** @type {Record<string, (data: string) => void>} */
  const tell = {
    step: (data) => steps.append(Object.assign(document.createElement('li'), { textContent: plain(data) })),
    text: (data) => text.append(plain(data)),
    restart: (data) => text.replaceChildren(plain(data)),
    wrong: (data) => say(plain(data)),
    done: (data) => void visit(data),
  };
  try {
    await readEvents(form.action, bodyOf(form, button), stopping.signal, (event, data) =>
      tell[event]?.(data),
    );
  } catch {
    say(
      stopping.signal.aborted
        ? 'Stopped. The partial answer stays.'
        : 'The answer was interrupted. Ask again.',
    );
  } finally {
    stop.hidden = true;
  }
}

/** @param {string} markup */
function plain(markup) {
  return parse(markup).body.textContent ?? '';
}

/** @param {string} address @param {URLSearchParams} body @param {AbortSignal} signal @param {(event: string, data: string) => void} tell */
async function readEvents(address, body, signal, tell) {
  const answer = await fetch(address, {
    method: 'POST',
    body,
    signal,
    headers: { accept: 'text/event-stream' },
  });
  if (!(answer.headers.get('content-type') ?? '').startsWith('text/event-stream') || answer.body === null) {
    return tell('wrong', parse(await answer.text()).querySelector('.notice p')?.textContent ?? 'Not sent.');
  }
  let rest = '';
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7);
      const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
      if (event !== undefined) tell(event, data.join('\n'));
    }
  }
}

export function startAsk() {
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !('ask' in form.dataset)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    void ask(form, event.submitter);
  });
}
