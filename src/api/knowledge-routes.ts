import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Category } from '../domain/category.ts';
import { TriageError, typedText } from '../domain/errors.ts';
import { AddedDocument, Embedded, type KnowledgeService, ShownDocument, TeamDocument } from '../ports/knowledge.ts';

const tags = ['Knowledge'];
const writing = { access: { role: 'admin' } } as const;
const reading = { access: { role: 'read' } } as const;

const Params = z.object({ id: z.string().min(1).max(300).describe('ID or source of the document') });
const Upload = z.object({
  source: typedText(300).describe('Name that identifies the document, such as runbooks/disk.md'),
  category: Category.nullish(),
  content: z.base64().describe('The file: Markdown, HTML, PDF, DOCX, PPTX, XLSX or plain text'),
  dryRun: z.boolean().optional().describe('Parse the document without storing it'),
});

/** Documents that a team brings: everyone who reads sees them, administrators put them in and take them out. */
export function registerKnowledgeRoutes(app: FastifyInstance, { knowledge }: { readonly knowledge: KnowledgeService }): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.post(
    '/api/knowledge',
    {
      config: writing,
      schema: { tags, operationId: 'addDocument', summary: 'Add a document', body: Upload, response: { 200: AddedDocument } },
    },
    async ({ body: { source, category = null, content, dryRun = false }, principal }) => {
      const bytes = Buffer.from(content, 'base64');
      return await knowledge.add({ source, bytes, category, dryRun, importedBy: principal?.name ?? 'unknown' });
    },
  );
  typed.post(
    '/api/knowledge/reindex',
    {
      config: writing,
      schema: {
        tags,
        operationId: 'reindexDocuments',
        summary: 'Re-embed all documents with the configured model',
        body: z.object({}),
        response: { 200: Embedded },
      },
    },
    async () => await knowledge.embed({ anew: true }),
  );
  typed.get(
    '/api/knowledge',
    {
      config: reading,
      schema: {
        tags,
        operationId: 'listDocuments',
        summary: 'List documents',
        response: { 200: z.object({ items: z.array(TeamDocument) }) },
      },
    },
    async () => ({ items: await knowledge.list() }),
  );
  typed.get(
    '/api/knowledge/:id',
    {
      config: reading,
      schema: {
        tags,
        operationId: 'getDocument',
        summary: 'One document with its passages',
        params: Params,
        response: { 200: ShownDocument },
      },
    },
    async ({ params: { id } }) => found(await knowledge.show(id), id),
  );
  typed.delete(
    '/api/knowledge/:id',
    {
      config: writing,
      schema: { tags, operationId: 'removeDocument', summary: 'Remove a document', params: Params, response: { 200: TeamDocument } },
    },
    async ({ params: { id } }) => found(await knowledge.remove(id), id),
  );
}

function found<Value>(value: Value | null, id: string): Value {
  if (value === null) throw new TriageError('not-found', `There is no document ${id}.`);
  return value;
}
