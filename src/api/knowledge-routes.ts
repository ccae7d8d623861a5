import { z } from 'zod';
import { Category } from '../domain/category.ts';
import { createTypedText } from '../domain/errors.ts';
import { createListSchema, pageQuery, takePage } from '../ports/database.ts';
import {
  AddedDocument,
  Embedded,
  type KnowledgeService,
  ShownDocument,
  TeamDocument,
} from '../ports/knowledge.ts';
import { type ApiApp, requireFound, route } from './route.ts';

const Params = z.object({ id: z.string().min(1).max(300).describe('ID or source of the document') });
const Upload = z.object({
  source: createTypedText(300).describe('Name that identifies the document, such as runbooks/disk.md'),
  category: Category.nullish(),
  content: z.base64().describe('The file: Markdown, HTML, PDF, DOCX, PPTX, XLSX or plain text'),
  dryRun: z.boolean().optional().describe('Parse the document without storing it'),
});

/**
 * Registers the routes for documents that a team provides. Everyone who may read sees them; administrators
 * add and remove them.
 */
export function registerKnowledgeRoutes(
  app: ApiApp,
  { knowledge }: { readonly knowledge: KnowledgeService },
): void {
  app.post(
    '/api/knowledge',
    route('admin', 'Knowledge', 'addDocument', 'Add a document', {
      body: Upload,
      response: { 200: AddedDocument },
    }),
    async ({ body: { source, category = null, content, dryRun = false }, principal }) => {
      const bytes = Buffer.from(content, 'base64');
      return await knowledge.add({
        source,
        bytes,
        category,
        dryRun,
        importedBy: principal?.name ?? 'unknown',
      });
    },
  );
  app.post(
    '/api/knowledge/reindex',
    route('admin', 'Knowledge', 'reindexDocuments', 'Re-embed all documents with the configured model', {
      body: z.object({}),
      response: { 200: Embedded },
    }),
    async () => await knowledge.embed({ anew: true }),
  );
  app.get(
    '/api/knowledge',
    route('read', 'Knowledge', 'listDocuments', 'List documents', {
      querystring: z.strictObject(pageQuery),
      response: { 200: createListSchema(TeamDocument) },
    }),
    async ({ query }) => takePage(await knowledge.list(), query),
  );
  app.get(
    '/api/knowledge/:id',
    route('read', 'Knowledge', 'getDocument', 'One document with its passages', {
      params: Params,
      response: { 200: ShownDocument },
    }),
    async ({ params: { id } }) => requireFound(await knowledge.show(id), `document ${id}`),
  );
  app.delete(
    '/api/knowledge/:id',
    route('admin', 'Knowledge', 'removeDocument', 'Remove a document', {
      params: Params,
      response: { 200: TeamDocument },
    }),
    async ({ params: { id } }) => requireFound(await knowledge.remove(id), `document ${id}`),
  );
}
