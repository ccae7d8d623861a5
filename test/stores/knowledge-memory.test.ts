import { testTeamKnowledgeContract } from '../contract/team-knowledge-contract.ts';
import { createMemoryTeamKnowledge } from '../support/memory-team-knowledge.ts';

testTeamKnowledgeContract('memory', async () => ({
  store: createMemoryTeamKnowledge(),
  dispose: async () => undefined,
}));
