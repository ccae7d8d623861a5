import { createNoWebSearch } from '../../../src/adapters/memory/stores.ts';
import { webSearchContract } from '../../contract/web-search-contract.ts';

webSearchContract('none', createNoWebSearch);
