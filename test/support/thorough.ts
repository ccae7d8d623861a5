/** Whether what could try thousands tries them all, as `scripts/test --all` asks for; a short run tries some of each. */
export const THOROUGH = process.env.FAULTLINE_TEST_THOROUGH === '1';

/** How often a property is tried: so often where all is tried, and a fifth of it in a short run. */
export const runs = (often: number): number => (THOROUGH ? often : Math.ceil(often / 5));
