/** Every number in the tables of limits is the one that the code holds. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXPRESSION_SANDBOX_LIMITS } from '#adapters/jsonata/expression-limits.ts';
import { MAX_RUN_DEPTH } from '#domain/built-in-engines.ts';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { DEFAULT_STEP_OPTIONS } from '#domain/draft.ts';
import { EXPRESSION_LIMITS } from '#domain/expression.ts';
import { MACHINE_CHECK_MS, MAX_SLOTS } from '#domain/limit.ts';
import { PAYLOAD_LIMITS } from '#domain/payload-ref.ts';
import { engineRequestSchema, MAX_LABELS } from '#http/engine-schemas.ts';
import { MAX_HOPS } from '#http/event-schemas.ts';
import { MAX_PAGE_BYTES } from '#http/page-filling.ts';
import { MAX_ERRORS_BYTES, MAX_REPEATED_TEXT } from '#http/problem-size.ts';
import { DEFAULT_LIMIT } from '#http/query-parameters.ts';
import { MAX_BODY_BYTES } from '#http/request-body.ts';
import { PARALLEL_CALLS } from '#scheduler/start-executions.ts';
import { MAX_FILTER_DEPTH, MAX_FILTER_LENGTH } from '../../infra/constructs/event-filter.ts';
import { EVENT_STARTS_PER_MINUTE } from '../../infra/constructs/settings.ts';
import { PROJECT, readPage, tableRows } from './docs-pages.ts';

const limits = readPage('docs/reference/limits.md');
const expressions = readPage('docs/reference/expressions.md');

/** A number that a module keeps to itself: products of whole numbers only. */
function constantIn(file: string, name: string): number {
  const source = readFileSync(new URL(file, PROJECT), 'utf8');
  const product = new RegExp(`^const ${name} = ([\\d_]+(?: \\* [\\d_]+)*);`, 'm').exec(source)?.[1];
  if (product === undefined) throw new Error(`${file} has no number ${name}`);
  return product.split(' * ').reduce((value, factor) => value * Number(factor.replaceAll('_', '')), 1);
}

type Limits = Record<string, string>;
type Range = { readonly min: number; readonly max: number };

const range = ({ min, max }: Range) => `${min} to ${max}`;
const bytes = (count: number) => `${count} bytes`;
const seconds = (ms: number) => `${ms / 1000} s`;

/** By the row of the page; each limit of the code is named, so that a new one is missed here by the compiler. */
const definitions: { readonly [limit in keyof typeof DEFINITION_LIMITS]: [row: string, value: string] } = {
  nodes: ['nodes of a pipeline', String(DEFINITION_LIMITS.nodes)],
  edges: ['edges of a pipeline', String(DEFINITION_LIMITS.edges)],
  idLength: ['characters of a node id', String(DEFINITION_LIMITS.idLength)],
  nameLength: ['characters of a name', String(DEFINITION_LIMITS.nameLength)],
  definitionBytes: ['bytes of a definition, as text and as JSON', String(DEFINITION_LIMITS.definitionBytes)],
  nestingDepth: ['levels of lists and objects', String(DEFINITION_LIMITS.nestingDepth)],
  inputSchemaBytes: ['bytes of input.schema as JSON', String(DEFINITION_LIMITS.inputSchemaBytes)],
  schemasAtOnePlace: ['schemas tried at one place of an input', String(DEFINITION_LIMITS.schemasAtOnePlace)],
  errors: ['errors in one answer', String(DEFINITION_LIMITS.errors)],
  timeoutSeconds: ['timeoutSeconds of a run or an attempt', range(DEFINITION_LIMITS.timeoutSeconds)],
  queueTimeoutSeconds: ['queueTimeoutSeconds', range(DEFINITION_LIMITS.queueTimeoutSeconds)],
  maxAttempts: ['maxAttempts', range(DEFINITION_LIMITS.maxAttempts)],
  intervalSeconds: ['intervalSeconds', range(DEFINITION_LIMITS.intervalSeconds)],
  backoffRate: ['backoffRate', range(DEFINITION_LIMITS.backoffRate)],
  maxDelaySeconds: ['maxDelaySeconds', range(DEFINITION_LIMITS.maxDelaySeconds)],
  errorNames: ['names in retry.on and in retry.notOn', String(DEFINITION_LIMITS.errorNames)],
  mapItems: ['items of a map', String(DEFINITION_LIMITS.mapItems)],
  maxConcurrency: ['maxConcurrency of a map', range(DEFINITION_LIMITS.maxConcurrency)],
  toleratedFailurePercentage: ['toleratedFailurePercentage', range(DEFINITION_LIMITS.toleratedFailurePercentage)],
  toleratedFailureCount: ['toleratedFailureCount', range(DEFINITION_LIMITS.toleratedFailureCount)],
  ttlSeconds: ['ttlSeconds of a cache', range(DEFINITION_LIMITS.ttlSeconds)],
  retainDays: ['retainDays', range(DEFINITION_LIMITS.retainDays)],
  heartbeatSeconds: ['heartbeatSeconds', range(DEFINITION_LIMITS.heartbeatSeconds)],
  priority: ['priority', range(DEFINITION_LIMITS.priority)],
  maxActiveRuns: ['maxActiveRuns', range(DEFINITION_LIMITS.maxActiveRuns)],
  scheduleEntries: ['entries of a schedule', String(DEFINITION_LIMITS.scheduleEntries)],
  rateMinutes: ['minutes of a rate', range(DEFINITION_LIMITS.rateMinutes)],
  catchUpWindowSeconds: ['catchUpWindowSeconds', range(DEFINITION_LIMITS.catchUpWindowSeconds)],
};

const definitionTexts: Limits = {
  'keys and values of a definition in JSON': String(constantIn('src/authoring/json-values.ts', 'MOST_VALUES')),
  'words, marks and blanks of YAML': String(constantIn('src/authoring/yaml-tokens.ts', 'MOST_LEXEMES')),
  'values that YAML aliases stand for': String(constantIn('src/authoring/yaml-tree.ts', 'MOST_VALUES')),
};

const { maxFlights, maxDecisions, tickMs, passMs, stopGraceMs } = DEFAULT_STEP_OPTIONS;

const runs: Limits = {
  'attempts of a run under way or waiting for the next, items of maps included': String(maxFlights),
  'nodes that one commit starts or evaluates': String(maxDecisions),
  'calls to Step Functions at once from one pass': String(PARALLEL_CALLS),
  'runs above one another, by pipeline nodes': String(MAX_RUN_DEPTH),
  'longest wait between attempts': `${constantIn('src/domain/retry.ts', 'MAX_DELAY_SECONDS')} s`,
  'time between two ticks': seconds(tickMs),
  'time of one pass': seconds(passMs),
  'wait for an execution that does not stop': seconds(stopGraceMs),
  'time that a run is due and no pass can carry it on': seconds(
    constantIn('src/scheduler/given-up.ts', 'GIVEN_UP_AFTER_MS'),
  ),
  'days that a finished run is kept': '90',
};

const values: Limits = {
  'input of an execution: params and the millrace part': bytes(PAYLOAD_LIMITS.direct),
  'output of an execution': bytes(PAYLOAD_LIMITS.direct),
  'output that a wrapped function returns directly': bytes(PAYLOAD_LIMITS.returned),
  'text by reference': bytes(PAYLOAD_LIMITS.stored),
  'large outputs that the expressions of one pass read, in all': bytes(PAYLOAD_LIMITS.read),
  'what the expressions of one field come to': bytes(EXPRESSION_SANDBOX_LIMITS.valueBytes),
  'message of an error, in an attempt': `${constantIn('src/adapters/aws/sfn-executions.ts', 'MAX_MESSAGE')} characters`,
  'message of an error, in a run and its history': `${constantIn('src/domain/draft.ts', 'MAX_ERROR_MESSAGE')} characters`,
};

const api: Limits = {
  'body of a request, definitions apart': bytes(MAX_BODY_BYTES),
  'body that is a definition': bytes(DEFINITION_LIMITS.definitionBytes),
  'levels of a body': String(DEFINITION_LIMITS.nestingDepth),
  'errors in one answer': `${DEFINITION_LIMITS.errors}, ${bytes(MAX_ERRORS_BYTES)}`,
  'characters of a text that a problem repeats': String(MAX_REPEATED_TEXT),
  'limit of a list': `1 to 1000, default ${DEFAULT_LIMIT}`,
  'bytes of a page of nodes or items': String(MAX_PAGE_BYTES),
  'bytes of an output in one answer': String(MAX_PAGE_BYTES),
  'output of a run in its view': bytes(constantIn('src/http/run-reading.ts', 'RUN_OUTPUT_BYTES')),
  'items of a map whose output is in a list of nodes': String(
    constantIn('src/http/run-reading.ts', 'LISTED_OUTPUT_ITEMS'),
  ),
  'output of a node in a list': bytes(constantIn('src/http/run-reading.ts', 'LISTED_OUTPUT_BYTES')),
  'tags of a run': String(constantIn('src/http/run-schemas.ts', 'MAX_TAGS')),
};

const { default: startsPerMinute, min: fewestStarts, max: mostStarts } = EVENT_STARTS_PER_MINUTE;

const events: Limits = {
  'events that led to one another (hops)': String(MAX_HOPS),
  'runs of a pipeline that events start in a minute': `${startsPerMinute}, or eventStartsPerMinute: ${fewestStarts} to ${mostStarts}`,
  "levels of a trigger's filter": String(MAX_FILTER_DEPTH),
  "characters of a trigger's filter as JSON": String(MAX_FILTER_LENGTH),
  'nodes named in one RunChanged': String(constantIn('src/scheduler/announce.ts', 'MAX_NODES_TOLD')),
  'problems named in one RunRejected': String(constantIn('functions/intake/handler.ts', 'MAX_ERRORS')),
};

const sandbox: { readonly [limit in keyof typeof EXPRESSION_SANDBOX_LIMITS]: [row: string, value: string] } = {
  expressionMs: ['time of one expression', `${EXPRESSION_SANDBOX_LIMITS.expressionMs} ms`],
  callDepth: ['nested calls', String(EXPRESSION_SANDBOX_LIMITS.callDepth)],
  textLength: ['characters of a text made on the way', String(EXPRESSION_SANDBOX_LIMITS.textLength)],
  listLength: ['items of a list made on the way', String(EXPRESSION_SANDBOX_LIMITS.listLength)],
  valueBytes: ['JSON text of all that one field comes to', bytes(EXPRESSION_SANDBOX_LIMITS.valueBytes)],
  valueDepth: ['levels of the value', String(EXPRESSION_SANDBOX_LIMITS.valueDepth)],
};
const syntax: { readonly [limit in keyof typeof EXPRESSION_LIMITS]: [row: string, value: string] } = {
  length: ['characters of an expression', String(EXPRESSION_LIMITS.length)],
  punctuation: ['operators, brackets and other punctuation', String(EXPRESSION_LIMITS.punctuation)],
  brackets: ['opened brackets', String(EXPRESSION_LIMITS.brackets)],
  depth: ['levels of the parsed expression', String(EXPRESSION_LIMITS.depth)],
};

/** What an engine may be put with, as the schema of the request says it. */
const heartbeat = engineRequestSchema.shape.heartbeatSeconds.unwrap();

const engines: Limits = {
  'maxConcurrent of an engine': `1 to ${MAX_SLOTS}`,
  'slots of a pool': `0 to ${MAX_SLOTS}`,
  'labels of an engine': String(MAX_LABELS),
  'bytes of a paramsSchema as JSON': String(DEFINITION_LIMITS.inputSchemaBytes),
  "seconds between two reports of an engine's owner": `${heartbeat.minValue} to ${heartbeat.maxValue}`,
  'time between two looks for a state machine that is gone': seconds(MACHINE_CHECK_MS),
  'holders of slots that a message names': String(constantIn('src/domain/waiting-for.ts', 'NAMED_HOLDERS')),
  'runs before one that its message counts': String(constantIn('src/http/waiting-reading.ts', 'COUNTED_AHEAD')),
  'limits that one answer about a run looks at': String(constantIn('src/http/waiting-reading.ts', 'MAX_LIMITS_READ')),
  'runs in line that a look for a self-deadlock reads': String(
    constantIn('src/scheduler/self-deadlock.ts', 'MAX_ROWS'),
  ),
  'waiting runs that are counted': String(constantIn('src/http/slot-reading.ts', 'COUNTED_WAITING')),
  'holders of slots whose nodes are named': String(constantIn('src/http/slot-reading.ts', 'NAMED_HOLDERS')),
  'state machines named in the CDK context': String(constantIn('infra/constructs/team-state-machines.ts', 'MAX_NAMES')),
};

describe('limits in the reference are those of the code', () => {
  it.each<[section: string, expected: Limits]>([
    ['Definitions', { ...Object.fromEntries(Object.values(definitions)), ...definitionTexts }],
    ['Runs', runs],
    ['Engines and pools', engines],
    ['Values', values],
    ['The HTTP API', api],
    ['Events', events],
  ])('%s', (section, expected) => {
    const found = new Map(tableRows(limits, section).map((row) => [row.get('limit'), row.get('value')]));
    for (const [row, value] of Object.entries(expected)) expect(`${row}: ${found.get(row)}`).toBe(`${row}: ${value}`);
  });

  it('the development host', () => {
    const { text } = readPage('docs/reference/development-host.md');
    const functions = 'src/local/lambda-functions.ts';
    expect(text).toContain(`at most ${constantIn(functions, 'maxProcesses')} of a function at once`);
  });

  it('Expressions', () => {
    const found = new Map(tableRows(expressions, 'Limits').map((row) => [row.get('limit'), row.get('value')]));
    const expected = Object.fromEntries([...Object.values(sandbox), ...Object.values(syntax)]);
    for (const [row, value] of Object.entries(expected)) expect(`${row}: ${found.get(row)}`).toBe(`${row}: ${value}`);
  });
});
