import type { Build } from '../domain/build.ts';
import type { PublishedEvent } from '../domain/published-event.ts';
import type { Answer } from './channel.ts';

/** The source of events if there is no public address. A path is a URI reference too. */
const NO_ADDRESS = '/faultline';
const CDEVENT = { version: '0.5.1', type: 'dev.cdevents.pipelinerun.finished.0.3.0' } as const;
const MAX_ERRORS = 4_000;

/** An answer that is sent as an event. */
export interface AnswerEvent extends Answer {
  /** The id of the event, the same in every attempt. */
  readonly key: string;
  readonly publicUrl: string | null;
  /** The build and the answer as every webhook sends them. */
  readonly data: object;
}

/**
 * Creates the message as a CloudEvent 1.0 in structured mode. `subject` is the id of the analysis. In
 * addition to the build and the answer, `data.pipelineRun` identifies the build as CDEvents identify the
 * subject of `dev.cdevents.pipelinerun.finished`, so that both can be joined.
 */
export function createCloudEvent(event: AnswerEvent): object {
  const data = { ...event.data, pipelineRun: toSubject(event.build) };
  const { id, createdAt } = event.analysis;
  return wrapEvent(event, { type: 'io.faultline.analysis.finished', subject: id, time: createdAt, data });
}

/**
 * Creates the CloudEvent 1.0 of a decision or an outcome in structured mode. It is the same for receivers of
 * CDEvents, which define no such events. `subject` is the id of the analysis.
 */
export function wrapPublishedEvent(
  { build, analysis }: Omit<PublishedEvent, 'event'>,
  { type, timestamp, data, ...event }: EventMessage,
): object {
  return wrapEvent(event, {
    type: `io.faultline.${type}`,
    subject: analysis.id,
    time: timestamp,
    data: { ...data, pipelineRun: toSubject(build) },
  });
}

/** A decision or an outcome as every webhook sends it. */
interface EventMessage extends Pick<AnswerEvent, 'key' | 'publicUrl' | 'data'> {
  readonly type: string;
  /** The time of the event in ISO 8601. */
  readonly timestamp: string;
}

/** Returns the build as CDEvents refer to a pipeline run. */
function toSubject(build: Build): object {
  const { id, source, content } = toPipelineRun(build);
  const { uri, ...rest } = content;
  return { id, source, type: 'pipelineRun', content: uri === undefined ? rest : { ...rest, url: uri } };
}

/**
 * Creates the message as a CDEvent 0.5, bound to a CloudEvent 1.0 in structured mode: the pipeline run has
 * finished, with the answer as its errors, and the build and the answer as custom data.
 */
export function createCdEvent(event: AnswerEvent): object {
  const { key, publicUrl, build, analysis, data } = event;
  const { id, source, content } = toPipelineRun(build);
  const { title, rootCause } = analysis.answer;
  const cdEvent = {
    context: {
      specversion: CDEVENT.version,
      id: key,
      source: publicUrl ?? NO_ADDRESS,
      type: CDEVENT.type,
      timestamp: analysis.createdAt,
    },
    subject: {
      id,
      source,
      content: { ...content, errors: `${title}\n${rootCause}`.slice(0, MAX_ERRORS).toWellFormed() },
    },
    customDataContentType: 'application/json',
    customData: data,
  };
  return wrapEvent(event, { type: CDEVENT.type, subject: id, time: analysis.createdAt, data: cdEvent });
}

interface Attributes {
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly data: object;
}

function wrapEvent(
  { key, publicUrl }: Pick<AnswerEvent, 'key' | 'publicUrl'>,
  { type, subject, time, data }: Attributes,
): object {
  return {
    specversion: '1.0',
    type,
    source: publicUrl ?? NO_ADDRESS,
    id: key,
    subject,
    time,
    datacontenttype: 'application/json',
    data,
  };
}

interface PipelineRun {
  readonly id: string;
  readonly source: string;
  readonly content: { readonly pipelineName: string; readonly outcome: string; readonly uri?: string };
}

/** Returns the build as CDEvents name a pipeline run. */
function toPipelineRun({ externalId, number, pipeline, status, url }: Build): PipelineRun {
  const address = url !== null && URL.canParse(url) ? url : null;
  const content = {
    pipelineName: pipeline,
    outcome: status === 'passed' ? 'success' : status === 'cancelled' ? 'cancel' : 'failure',
  };
  return {
    id: externalId ?? number,
    source: address === null ? NO_ADDRESS : new URL(address).origin,
    content: address === null ? content : { ...content, uri: address },
  };
}
