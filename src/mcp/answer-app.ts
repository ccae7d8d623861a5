import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TextResourceContents } from '@modelcontextprotocol/server';
import { RELEASE } from '../domain/trust.ts';

/**
 * The address of the page that hosts with the extension MCP Apps show for an answer. Other clients ignore
 * it and use the text and the data.
 */
export const ANSWER_APP_ADDRESS = 'ui://faultline/answer.html';

/** The metadata of a tool whose answer the page shows. Hosts of 2025 read the second name. */
export const SHOWN_BY_APP = {
  ui: { resourceUri: ANSWER_APP_ADDRESS },
  'ui/resourceUri': ANSWER_APP_ADDRESS,
};

/** The limits that a host sets for the page: it connects to nothing, and loads nothing. */
const LIMITS = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } };

/** Returns the page: one file of HTML with the console's own styles, whose policy allows its script alone. */
export function readAnswerApp(): TextResourceContents {
  const style = ['tokens.css', 'words.css', 'evidence.css', 'mcp-answer.css'].map(read).join('\n');
  const script = read('mcp-answer.js');
  const allowed = `script-src ${digest(script)}; style-src ${digest(style)}`;
  const policy = `default-src 'none'; ${allowed}; base-uri 'none'`;
  const text = `<!doctype html>
<html lang="en" data-release="${RELEASE}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}"><title>Answer</title>
<style>${style}</style></head><body><main><p>Waiting for the answer.</p></main>
<script type="module">${script}</script></body></html>
`;
  return { uri: ANSWER_APP_ADDRESS, mimeType: 'text/html;profile=mcp-app', _meta: LIMITS, text };
}

function read(name: string): string {
  return readFileSync(new URL(`../console/browser/${name}`, import.meta.url), 'utf8');
}

function digest(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}
