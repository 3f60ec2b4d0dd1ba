import type * as z from 'zod';
import {
  DEFINITION_LIMITS,
  type DefinitionError,
  type NodeDefinition,
  type PipelineDefinition,
} from '#domain/definition.ts';
import { ErrorList } from '#domain/definition-errors.ts';
import { type PathSegment, parsePath } from '#domain/definition-path.ts';
import { parseDefinition } from '#domain/definition-schema.ts';
import type { Json } from '#domain/json.ts';
import { locateInJson, parseJsonStrict } from '#domain/json-text.ts';
import { InvalidDefinitionError } from './invalid-definition-error.ts';
import { checkEdges, runtimesOf, TASKS } from './wfcommons-checks.ts';
import { WFFORMAT_VERSION, type WfcommonsDocument, wfcommonsSchema } from './wfcommons-schema.ts';

/** How recorded run times become work. */
export interface WfcommonsOptions {
  /** Factor on the recorded run times. @default 1 */
  readonly timeScale?: number;
  /** Name of the Lambda function that takes `{seconds, task}`. @default 'work' */
  readonly functionName?: string;
}

/** A node may take this much longer than recorded before it is stopped, and a minute on top. */
const TIMEOUT_FACTOR = 3;
const TIMEOUT_SLACK_SECONDS = 60;

/**
 * Turns a workflow in WfFormat 1.5 (WfCommons) into a pipeline: a node for each task, with the task's id, its parents
 * as upstreams, and the recorded run time, scaled, as `params.payload.seconds`.
 *
 * @throws InvalidDefinitionError with all errors at once, each with line and column.
 * @throws RangeError when `timeScale` is negative or no number.
 */
export function importWfCommons(text: string, options: WfcommonsOptions = {}): PipelineDefinition {
  const { timeScale = 1, functionName = 'work' } = options;
  if (!(timeScale >= 0 && Number.isFinite(timeScale))) {
    throw new RangeError(`the time scale must be a number from 0 up, not ${timeScale}`);
  }
  const read = parseJsonStrict(text);
  if (!read.ok) throw new InvalidDefinitionError(read.errors);
  const errors = new ErrorList();
  const document = parseDocument(read.value, errors);
  const definition = document && pipelineOf(document, { timeScale, functionName }, errors);
  if (definition === undefined) throw new InvalidDefinitionError(located(errors.list(), text));
  return definition;
}

function pipelineOf(
  document: WfcommonsDocument,
  options: Required<WfcommonsOptions>,
  errors: ErrorList,
): PipelineDefinition | undefined {
  const { tasks } = document.workflow.specification;
  checkEdges(tasks, errors);
  const runtimes = runtimesOf(document, errors);
  const nodes = tasks.map(({ id, parents }) =>
    nodeOf(id, parents, (runtimes.get(id) ?? 0) * options.timeScale, options),
  );
  const checked = parseDefinition({ name: pipelineName(document.name), nodes });
  if (!checked.ok) errors.merge(checked.errors.map(toTaskError));
  return checked.ok && errors.isEmpty ? checked.definition : undefined;
}

function nodeOf(
  id: string,
  parents: readonly string[],
  seconds: number,
  { functionName }: Required<WfcommonsOptions>,
): NodeDefinition {
  const timeout = Math.ceil(seconds * TIMEOUT_FACTOR) + TIMEOUT_SLACK_SECONDS;
  return {
    id,
    engine: 'lambda',
    ...(parents.length === 0 ? {} : { dependsOn: parents }),
    params: { function: functionName, payload: { seconds: Math.round(seconds * 1e6) / 1e6, task: id } },
    timeoutSeconds: Math.min(timeout, DEFINITION_LIMITS.timeoutSeconds.max),
  };
}

/** The workflow's name with every run of other characters as one hyphen. */
function pipelineName(name: string): string {
  const valid = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return valid.slice(0, DEFINITION_LIMITS.nameLength) || 'workflow';
}

/** An error of the resulting pipeline, told of the task and the field that it came from. */
function toTaskError(error: DefinitionError): DefinitionError {
  const path = error.path
    .replace(/^nodes/, TASKS.join('.'))
    .replace(/\.dependsOn/, '.parents')
    .replace(/\.(?:params|timeoutSeconds).*$/, '');
  return { ...error, path };
}

function located(errors: readonly DefinitionError[], text: string): DefinitionError[] {
  const locate = locateInJson(text);
  return errors.map((error) => ({ ...error, ...locate(parsePath(error.path), 'value') }));
}

function parseDocument(value: Json, errors: ErrorList): WfcommonsDocument | undefined {
  const result = wfcommonsSchema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  for (const issue of result.error.issues) errors.add(explained(issue));
  return undefined;
}

function explained(issue: z.core.$ZodIssue) {
  const at = issue.path as PathSegment[];
  const field = at.filter((segment) => typeof segment === 'string').join('.') || 'the document';
  const value = issue.input;
  if (field === 'schemaVersion') {
    const message = `this is not WfFormat ${WFFORMAT_VERSION}: schemaVersion is ${JSON.stringify(value) ?? 'missing'}`;
    return { at, code: 'UNSUPPORTED_VERSION', message, value, allowed: WFFORMAT_VERSION };
  }
  if (value === undefined) return { at, code: 'INVALID_TYPE', message: `${field} is missing` };
  const code = issue.code === 'invalid_type' ? 'INVALID_TYPE' : 'INVALID_FIELD';
  const allowed = issue.code === 'invalid_type' ? issue.expected : undefined;
  const message = allowed === undefined ? `${field} is empty or out of range` : `${field} must be of type ${allowed}`;
  return { at, code, message, value, ...(allowed === undefined ? {} : { allowed }) };
}
