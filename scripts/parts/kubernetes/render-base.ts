import type { Reader } from './kubernetes.ts';

const HEAD = `# Made from the chart in deploy/helm/faultline by \`node scripts/write/render-kubernetes.ts\`; change the chart instead. Apply it with
#   kubectl apply -k deploy/kubernetes
# when the Secret \`faultline\` has the addresses of PostgreSQL, Redis and MongoDB (docs/how-to/deploy.md).
`;

/** Renders the Kustomize base: the chart with KEDA, without its test and without annotations for Helm. */
export async function renderBase(reader: Reader, chart: string): Promise<string> {
  const { yaml } = await reader.readChart(chart, { keda: { enabled: true } });
  const documents = yaml
    .split(/^---\n/m)
    .map((document) => document.trim())
    .filter((document) => document !== '' && !document.includes('helm.sh/hook: test'))
    .map((document) => document.replace(/\n {2}annotations:(?:\n {4}helm\.sh\/.*)+/, ''));
  return `${HEAD}---\n${documents.join('\n---\n')}\n`;
}
