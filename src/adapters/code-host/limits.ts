/** Lines of a file, of blame or of a line history in one answer: what the port promises. */
export const MAX_LINES = 200;
/** A file that is larger is no source code that a person wrote. */
export const MAX_FILE_BYTES = 5 * 1024 * 1024;
export const MAX_COMMITS = 100;
/** Commits and files of a comparison: what GitHub gives on its first page, kept for all hosts. */
export const MAX_COMPARED_COMMITS = 250;
export const MAX_CHANGED_FILES = 300;
/** Characters of one file's patch: what the port promises. */
export const MAX_PATCH = 20_000;
/** Words of one search over files. */
export const MAX_WORDS = 16;
