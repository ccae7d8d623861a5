import { readFileSync, writeFileSync } from 'node:fs';
import { graph } from '../../graphs/triage/graph.ts';

/** Draws the compiled graph between two markers of a page; `--check` fails when the drawing there is stale. */
const FILE = 'docs/explanation/agent.md';
const BEGIN = '<!-- graph:begin -->';
const END = '<!-- graph:end -->';

const drawing = (await graph.getGraphAsync()).drawMermaid({ withStyles: false }).trim();
draw(FILE);

function draw(file: string): void {
  const text = readFileSync(file, 'utf8');
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) {
    console.error(`${file} has no place for the drawing: ${BEGIN} … ${END}`);
    process.exit(1);
  }
  const fresh = `${text.slice(0, begin)}${BEGIN}\n\`\`\`mermaid\n${drawing}\n\`\`\`\n${text.slice(end)}`;
  if (!process.argv.includes('--check')) writeFileSync(file, fresh);
  else if (fresh !== text) {
    console.error(`The drawing of the graph in ${file} is stale; run: node scripts/write/draw-graph.ts`);
    process.exit(1);
  }
}
