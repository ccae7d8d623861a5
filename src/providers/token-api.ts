import { clockFindings, type Finding, note, ok, wrong } from '../ports/examination.ts';
import { broken, type Probe, probe, rejected } from './probe.ts';
import type { Provider } from './provider.ts';

/** An API that is asked with a token, and what people are told of it. */
export interface TokenApi {
  readonly name: Provider['name'];
  /** As people write it: "GitLab". */
  readonly label: string;
  /** A cheap question; null where it cannot be asked with what is configured. */
  readonly probe: Probe | null;
  /** Of what is not set, and what to set; said instead of asking. Null where nothing of the provider is configured at all. */
  readonly lacking: { readonly says: string; readonly mend: string } | null;
  /** What it says of itself in its reply, such as its version; null where something else answers. */
  readonly says: (json: unknown) => string | null;
  /** What to do where it cannot be reached, where it refuses the token, and where something else answers. */
  readonly mend: { readonly reach: string; readonly token: string; readonly address: string };
}

/** Whether such an API answers, for `/readyz` and for `faultline doctor`. */
export function tokenApi(api: TokenApi): Pick<Provider, 'health' | 'examine'> {
  const { name, label, probe: question, lacking, mend, says } = api;
  const ask = async (signal: AbortSignal): Promise<readonly Finding[]> => {
    if (question === null) return lacking === null ? [] : [note(name, lacking.says, lacking.mend)];
    const { status, json, aheadMs } = await probe(question, signal);
    return [...clockFindings(`${name} clock`, aheadMs), findingOf(api, status, json)];
  };
  return {
    health:
      question === null
        ? null
        : async (signal) => {
            const { status, json } = await probe(question, signal);
            if (status === 401 || status === 403) throw rejected(label, 'the token');
            if (status >= 400) throw broken(label, status);
            return says(json) ?? 'answers';
          },
    examine: () => (question === null && lacking === null ? [] : [{ name, mend: mend.reach, ask }]),
  };
}

function findingOf({ name, label, says, mend }: TokenApi, status: number, json: unknown): Finding {
  if (status === 401 || status === 403) return wrong(name, `the token is refused (${status})`, mend.token);
  const said = status < 300 ? says(json) : null;
  return said === null ? wrong(name, `the server there is not the API of ${label}`, mend.address) : ok(name, said);
}
