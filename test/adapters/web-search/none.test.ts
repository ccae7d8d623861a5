import { createNoWebSearch } from '../../../src/stores/memory.ts';
import { testWebSearchContract } from '../../contract/web-search-contract.ts';

testWebSearchContract('none', createNoWebSearch);
