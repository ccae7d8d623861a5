import { readFileSync, writeFileSync } from 'node:fs';
import { graph } from '../graphs/triage/graph.ts';

/** Draws the compiled graph into the README between two markers; `--check` fails when the drawing there is stale. */
const FILE = 'README.md';
const BEGIN = '<!-- graph:begin -->';
const END = '<!-- graph:end -->';

const text = readFileSync(FILE, 'utf8');
const begin = text.indexOf(BEGIN);
const end = text.indexOf(END);
if (begin === -1 || end < begin) {
  console.error(`${FILE} has no place for the drawing: ${BEGIN} … ${END}`);
  process.exit(1);
}
const drawing = (await graph.getGraphAsync()).drawMermaid({ withStyles: false }).trim();
const fresh = `${text.slice(0, begin)}${BEGIN}\n\`\`\`mermaid\n${drawing}\n\`\`\`\n${text.slice(end)}`;
if (!process.argv.includes('--check')) writeFileSync(FILE, fresh);
else if (fresh !== text) {
  console.error(`The drawing of the graph in ${FILE} is stale; run: node scripts/draw-graph.ts`);
  process.exit(1);
}
