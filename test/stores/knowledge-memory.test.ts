import { teamKnowledgeContract } from '../contract/team-knowledge-contract.ts';
import { createMemoryTeamKnowledge } from '../support/memory-team-knowledge.ts';

teamKnowledgeContract('memory', async () => ({
  store: createMemoryTeamKnowledge(),
  dispose: async () => undefined,
}));
