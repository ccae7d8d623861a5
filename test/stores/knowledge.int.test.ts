import { createTeamKnowledgeStore } from '../../src/stores/knowledge.ts';
import { teamKnowledgeContract } from '../contract/team-knowledge-contract.ts';
import { openTestDatabase } from '../support/postgres.ts';

teamKnowledgeContract('pglite', async () => {
  const db = await openTestDatabase();
  return { store: createTeamKnowledgeStore(db), dispose: db.dispose };
});
