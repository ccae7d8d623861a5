/** Whether what could try thousands tries them all, as `scripts/test --all` asks for; a short run tries some of each. */
export const THOROUGH = process.env.FAULTLINE_TEST_THOROUGH === '1';
