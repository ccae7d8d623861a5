import { createNoWebSearch } from '../../../src/adapters/web-search/none.ts';
import { webSearchContract } from '../../contract/web-search-contract.ts';

webSearchContract('none', createNoWebSearch);
