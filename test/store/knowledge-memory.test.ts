import { createMemoryTeamKnowledge } from '../../src/store/knowledge.ts';
import { teamKnowledgeContract } from '../contract/team-knowledge-contract.ts';

teamKnowledgeContract('memory', async () => ({ store: createMemoryTeamKnowledge(), dispose: async () => undefined }));
