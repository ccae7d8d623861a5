/**
 * Checks every prompt: it parses, its variables are those the code gives it, and the code uses it. Prints a sentence for each
 * fault; exit 1 if there is one. Usage: node scripts/parts/check/check-prompts.ts [folder]
 */
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadPrompt, PROMPT_FOLDER, type Prompt, renderPrompt } from '../../../prompts/load.ts';
import { CATEGORIES, Category } from '../../../src/domain/category.ts';
import { getErrorMessage } from '../../../src/domain/errors.ts';
import { JUDGMENTS } from '../../../src/models/analyst/ask-model.ts';
import { JUDGE } from '../../../src/replay/judge.ts';

const folder = process.argv[2] === undefined ? PROMPT_FOLDER : resolve(process.argv[2]);
const uses = [...Object.values(JUDGMENTS), JUDGE];
const faults = [...uses.flatMap(listUseErrors), ...listUnusedFiles()];
for (const fault of faults) console.error(fault);
if (faults.length === 0) console.log(`${listPromptFiles().length} prompt files, all used and whole.`);
process.exitCode = faults.length === 0 ? 0 : 1;

function listUseErrors({ prompt: name, budget }: (typeof uses)[number]): string[] {
  const found = new Set<string>();
  for (const category of [undefined, ...CATEGORIES]) {
    try {
      const prompt = loadPrompt(name, category, folder);
      for (const fault of listVariableErrors(prompt, budget)) found.add(fault);
      renderPrompt(prompt, Object.fromEntries(Object.keys(budget).map((variable) => [variable, 'x'])));
    } catch (error) {
      found.add(getErrorMessage(error));
    }
  }
  return [...found];
}

/** Lists errors in the use of variables: external text must be fenced, and our own text must not be called data. */
function listVariableErrors(prompt: Prompt, budget: Readonly<Record<string, number | null>>): string[] {
  return Object.entries(budget).flatMap(([variable, limit]) => {
    const expected = limit === null ? 'text' : 'data';
    const declared = prompt.variables[variable];
    if (declared === undefined || declared === expected) return [];
    return [
      `The prompt ${prompt.name}.md declares ${variable} as ${declared}; the code gives it as ${expected}.`,
    ];
  });
}

function listUnusedFiles(): string[] {
  const used = new Set<string>(uses.map(({ prompt }) => prompt));
  return listPromptFiles().flatMap((file) => {
    const [name = '', category] = file.replace(/\.md$/, '').split('.');
    const known = used.has(name) && (category === undefined || Category.safeParse(category).success);
    return known ? [] : [`The prompt ${file} is used by no judgement.`];
  });
}

function listPromptFiles(): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.md'),
  );
  return files.map((file) => file.replaceAll('\\', '/')).sort();
}
