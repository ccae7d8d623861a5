import type { Analysis } from '../../domain/analysis.ts';
import type { Build } from '../../domain/build.ts';
import { webhookData } from './webhook-body.ts';

/** The type of the event: an answer stands. */
const TYPE = 'io.faultline.analysis.finished';

/** Where events come from that no public address tells: a path is a URI reference too. */
const NO_ADDRESS = '/faultline';

/**
 * The same news as a CloudEvent 1.0 in structured mode. `id` is the key, the same in every try; `subject` names the analysis. Beside the
 * build and the answer, `data.pipelineRun` names the build as CDEvents name the subject of `dev.cdevents.pipelinerun.finished`, so that
 * both can be joined.
 */
export function cloudEvent(build: Build, analysis: Analysis, key: string, publicUrl: string | null): string {
  return JSON.stringify({
    specversion: '1.0',
    type: TYPE,
    source: publicUrl ?? NO_ADDRESS,
    id: key,
    subject: analysis.id,
    time: analysis.createdAt,
    datacontenttype: 'application/json',
    data: { ...webhookData(build, analysis), pipelineRun: pipelineRunOf(build) },
  });
}

function pipelineRunOf(build: Build): object {
  const { externalId, number, pipeline, status, url } = build;
  return {
    id: externalId ?? number,
    source: originOf(url),
    type: 'pipelineRun',
    content: {
      pipelineName: pipeline,
      ...(url === null ? {} : { url }),
      outcome: status === 'passed' ? 'success' : status === 'cancelled' ? 'cancel' : 'failure',
    },
  };
}

function originOf(url: string | null): string {
  return url !== null && URL.canParse(url) ? new URL(url).origin : NO_ADDRESS;
}
