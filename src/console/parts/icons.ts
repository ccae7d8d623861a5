import { type Html, html, type Shown } from '../html.ts';

/** Line drawings of 16 by 16 units in the color of the text. */
const ICONS = {
  overview: html`<path d="M1.5 9h3l2-5 3 8.5 2-3.5h3"/>`,
  review: html`<rect x="2" y="2.5" width="12" height="11" rx="2"/><path d="M5 8.2l2.1 2.1L11 6"/>`,
  causes: html`<path d="M1.5 10.5h5M9.5 5.5h5M10 1.8L6 14.2"/>`,
  builds: html`<path d="M2 4h12M2 8h12M2 12h7"/>`,
  tests: html`<path d="M2.5 13v-3M5.5 13v-3M8.5 13V4M11.5 13v-3M14 13v-3"/>`,
  insights: html`<path d="M2 2v12h12"/><path d="M4.5 10.5l3-4 2.5 2 4-5"/>`,
  library: html`<path d="M3 2.5h8.5a1.5 1.5 0 0 1 1.5 1.5v9.5H4.5A1.5 1.5 0 0 1 3 12z"/><path d="M3 11.8c0-.8.7-1.3 1.5-1.3H13M6 5.5h4"/>`,
  bell: html`<path d="M3 11.5c1-1 1.2-2 1.2-4a3.8 3.8 0 0 1 7.6 0c0 2 .2 3 1.2 4z"/><path d="M6.6 13.7a1.6 1.6 0 0 0 2.8 0"/>`,
  gear: html`<path d="M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6"/><circle cx="10" cy="4.5" r="1.8"/><circle cx="6" cy="11.5" r="1.8"/>`,
  search: html`<circle cx="7" cy="7" r="4.3"/><path d="M10.3 10.3L14 14"/>`,
  code: html`<path d="M5 4.5L1.8 8 5 11.5M11 4.5L14.2 8 11 11.5M7 12l2-8"/>`,
  test: html`<path d="M3 6h10M3 10h10M10.5 2.8l-5 10.4"/>`,
  infra: html`<rect x="2" y="2.5" width="12" height="4.5" rx="1.2"/><rect x="2" y="9" width="12" height="4.5" rx="1.2"/><path d="M4.8 4.75h.01M4.8 11.25h.01"/>`,
  config: html`<path d="M5 2v3M5 9v5M11 2v6M11 12v2"/><circle cx="5" cy="7" r="1.9"/><circle cx="11" cy="10" r="1.9"/>`,
  dependency: html`<path d="M8 1.8l5.6 3v6.4L8 14.2l-5.6-3V4.8z"/><path d="M2.6 4.9L8 7.8l5.4-2.9M8 7.8v6.2"/>`,
  unsure: html`<circle cx="8" cy="8" r="6" stroke-dasharray="2.4 2.2"/><path d="M6.3 6.4a1.8 1.8 0 1 1 2.5 1.7c-.6.2-.8.5-.8 1M8 11.3h.01"/>`,
  question: html`<path d="M2 3.5h12v8H8l-3 2.5v-2.5H2z"/><path d="M6.6 6.3a1.4 1.4 0 1 1 1.9 1.3c-.4.2-.5.3-.5.7M8 9.8h.01"/>`,
  me: html`<circle cx="8" cy="5" r="2.7"/><path d="M2.8 13.5c.6-2.7 2.6-4 5.2-4s4.6 1.3 5.2 4"/>`,
  notme: html`<circle cx="8" cy="5" r="2.7"/><path d="M2.8 13.5c.6-2.7 2.6-4 5.2-4s4.6 1.3 5.2 4M2 2l12 12"/>`,
  check: html`<path d="M3 8.5l3.3 3.3L13 4.8"/>`,
  cross: html`<path d="M4 4l8 8M12 4l-8 8"/>`,
  clock: html`<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8l2.3 1.6"/>`,
  out: html`<path d="M6 3.5H3.5v9h9V10M9 3h4v4M13 3L7.5 8.5"/>`,
  down: html`<path d="M4.5 6.5L8 10l3.5-3.5"/>`,
  right: html`<path d="M6.5 4.5L10 8l-3.5 3.5"/>`,
  left: html`<path d="M9.5 4.5L6 8l3.5 3.5"/>`,
  up: html`<path d="M4.5 9.5L8 6l3.5 3.5"/>`,
  plus: html`<path d="M8 3v10M3 8h10"/>`,
  rerun: html`<path d="M13.5 8A5.5 5.5 0 1 1 11.6 3.8"/><path d="M13.6 1.8v3h-3"/>`,
  link: html`<path d="M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.4-2.4a2.6 2.6 0 0 0-3.7-3.7l-.7.7M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.1 9.2a2.6 2.6 0 0 0 3.7 3.7l.7-.7"/>`,
  copy: html`<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M10.5 3.5v-.3c0-.7-.5-1.2-1.2-1.2H3.7C3 2 2.5 2.5 2.5 3.2v5.6c0 .7.5 1.2 1.2 1.2h.3"/>`,
  flask: html`<path d="M6.2 2v4L2.6 12.2c-.5.9.1 1.8 1.1 1.8h8.6c1 0 1.6-.9 1.1-1.8L9.8 6V2M5 2h6M4.5 10h7"/>`,
  commit: html`<circle cx="8" cy="8" r="2.5"/><path d="M1.5 8h4M10.5 8h4"/>`,
  warn: html`<path d="M8 2.2L14.4 13.4H1.6z"/><path d="M8 6.5v3M8 11.5h.01"/>`,
  history: html`<path d="M2.5 8A5.5 5.5 0 1 1 4.4 12.2M2.4 12.6v-3h3M8 5v3.2l2 1.2"/>`,
  mute: html`<path d="M2.5 6v4H5l3.5 3V3L5 6zM11 6.2l3 3.6M14 6.2l-3 3.6"/>`,
  flake: html`<path d="M2 11l2.5-6 2.5 6 2.5-6 2 4.5H14"/>`,
  wrench: html`<path d="M13.5 4.2a3.4 3.4 0 0 1-4.6 4.1L4.6 12.6a1.5 1.5 0 0 1-2.1-2.1l4.3-4.3A3.4 3.4 0 0 1 11 1.8L9 3.8l.4 2 2 .4z"/>`,
  dots: html`<path d="M3.5 8h.01M8 8h.01M12.5 8h.01"/>`,
  gauge: html`<path d="M2.3 11.5a6 6 0 1 1 11.4 0M8 10l2.8-3.6"/>`,
  eye: html`<path d="M2 8s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4z"/><circle cx="8" cy="8" r="1.7"/>`,
  theme: html`<circle cx="8" cy="8" r="6"/><path fill="currentColor" stroke="none" d="M8 2a6 6 0 0 1 0 12z"/>`,
  file: html`<path d="M4 1.8h5l3.2 3.2v9.2H4z"/><path d="M9 1.8V5h3.2"/>`,
  pin: html`<path d="M3 8h7M10 3.5v9M10 5.5l3.5 2.5L10 10.5"/>`,
  tag: html`<path d="M2 2.5h5.5L14 9l-5 5-7-6.5z"/><path d="M5 5.3h.01"/>`,
} as const;

export type Icon = keyof typeof ICONS;

/** Renders an icon. It is hidden from screen readers, so the text next to it must have the same meaning. */
export function icon(name: Icon, look: Shown = null): Html {
  return html`<svg class="i${look !== null && [' ', look]}" viewBox="0 0 16 16"
    aria-hidden="true">${ICONS[name]}</svg>`;
}

/** Renders the logo: layers displaced along a fault. */
export function brandMark(): Html {
  return html`<svg viewBox="0 0 22 22" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"
    aria-hidden="true"><path d="M1.5 9h7M1.5 14h5.5M15 8h5.5M13.5 13h7"/><path class="slip"
    d="M14.5 1.8L7.8 20.2"/></svg>`;
}
