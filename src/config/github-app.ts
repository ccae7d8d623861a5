import { createPrivateKey, createPublicKey } from 'node:crypto';
import { z } from 'zod';

/** A GitHub App as configured. */
export const GithubAppConfig = z.object({
  /** Its number or its client id, as its settings show them. */
  id: z.string('is not set').regex(/^(?:\d{1,20}|Iv[\w.]{8,60})$/, "must be the App's number or its client ID, which begins with Iv"),
  privateKey: z.string('is not set').transform((text, { issues }) => {
    const key = withLineEnds(text);
    const complaint = complaintAbout(key);
    if (complaint !== null) issues.push({ code: 'custom', message: complaint, input: '' });
    return key;
  }),
});

/** PEM as it was before somebody put it on one line. */
function withLineEnds(text: string): string {
  return text.replaceAll('\\r', '').replaceAll('\\n', '\n').replaceAll('\r', '').trim();
}

const FILE = 'name the downloaded .pem file in FAULTLINE_GITHUB_APP_KEY_FILE';

/** What is wrong with a key, and how to mend it; never a part of it. Null: nothing. */
function complaintAbout(key: string): string | null {
  if (!key.startsWith('-----BEGIN ')) return `is not a PEM private key, which begins with -----BEGIN; ${FILE}`;
  if (/^-----BEGIN [A-Z ]{0,20}PUBLIC KEY-----/.test(key)) return 'is a public key; set the private key (.pem file) downloaded from GitHub';
  if (key.includes('ENCRYPTED')) return 'is protected by a passphrase; set the key as downloaded from GitHub';
  if (key.includes('OPENSSH')) return 'is an OpenSSH key; set the .pem file downloaded from GitHub';
  if (!key.includes('-----END ')) return `is cut off: write its line breaks as \\n, or ${FILE}`;
  try {
    const { asymmetricKeyType } = createPrivateKey(key);
    // What signs nothing would only be found out by the first build.
    createPublicKey(key);
    return asymmetricKeyType === 'rsa' ? null : `is a key of type ${asymmetricKeyType}; GitHub Apps use RSA keys`;
  } catch {
    return `is damaged; ${FILE}`;
  }
}
