import { createTeamKnowledgeStore } from '../../src/stores/knowledge.ts';
import { testTeamKnowledgeContract } from '../contract/team-knowledge-contract.ts';
import { openTestDatabase } from '../support/postgres.ts';

testTeamKnowledgeContract('pglite', async () => {
  const db = await openTestDatabase();
  return { store: createTeamKnowledgeStore(db), dispose: db.dispose };
});
