/** Of this installation. */
export const VERSION = '0.1.0';
