import { userInfo } from 'node:os';

/** Who works here, for records of who did what. In containers a user may have a number and no name: "uid 12345". */
export function operatorName(read: () => { readonly username: string } = userInfo): string {
  try {
    return read().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
