import { createNoWebSearch } from '../../../src/stores/memory.ts';
import { webSearchContract } from '../../contract/web-search-contract.ts';

webSearchContract('none', createNoWebSearch);
