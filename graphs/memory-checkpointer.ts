import { MemorySaver } from '@langchain/langgraph';

/** Creates a store of checkpoints in memory, for a run that ends with its process. */
export function createMemoryCheckpointer(): MemorySaver {
  return new MemorySaver();
}
