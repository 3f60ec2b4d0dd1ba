import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, resolve } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { CustomResource, Duration, Stack, Token } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IDependable } from 'constructs';
import type { DefinitionResult, PipelineDefinition } from '../../src/authoring/index.ts';
import { sourceFile } from './project.ts';
import { SynthesisError } from './synthesis-error.ts';

/** A pipeline: what `definePipeline` gives, or the path of a file in YAML or JSON. */
export type PipelineSource = PipelineDefinition | string;

/** What is said of a pipeline beside its definition. */
export interface PipelineOptions {
  /**
   * What becomes of the pipeline when it leaves the app or its stack: it is kept, with its runs and its schedule; deleted, which fails
   * the deployment while runs are active; or deleted with its active runs, which are stopped first.
   * @default 'keep'
   */
  readonly onRemoval?: 'keep' | 'delete' | 'stopAndDelete';
}

/** A pipeline, and who puts it. */
export interface PipelineProps extends PipelineOptions {
  readonly definition: PipelineDefinition;
  /** Puts it. */
  readonly registrar: IFunction;
  /** What its runs may need: made before it, removed after it. */
  readonly after: IDependable;
}

/** CloudFormation gives up after so long; the registrar answers before. */
const SERVICE_TIMEOUT = Duration.minutes(5);
/** Bytes of a definition that a template shows as it is. */
const PLAIN_BYTES = 32 * 1024;
/** Characters that a request of CloudFormation has room for: it invokes the registrar with at most 256 KiB. */
const MAX_DEFLATED = 200_000;

/**
 * A pipeline that is put whenever the stack is deployed with a change of it; its runs go on whatever becomes of it. One of its name
 * that is there already is changed, as a `PUT` would.
 */
export class Pipeline extends Construct {
  /** The name that runs are started by. */
  readonly pipelineName: string;

  /** @throws SynthesisError `INVALID_DEFINITION` for a definition that a deployment cannot carry */
  constructor(scope: Construct, id: string, { definition, registrar, after, onRemoval = 'keep' }: PipelineProps) {
    super(scope, id);
    this.pipelineName = definition.name;
    const resource = new CustomResource(this, 'Resource', {
      resourceType: 'Custom::MillracePipeline',
      serviceToken: registrar.functionArn,
      serviceTimeout: SERVICE_TIMEOUT,
      properties: { Name: definition.name, OnRemoval: onRemoval, ...this.carried(definition) },
    });
    resource.node.addDependency(registrar, after);
  }

  /** As text where it is short or holds what only the deployment knows, else deflated. */
  private carried(definition: PipelineDefinition): { Definition: string } | { DefinitionDeflated: string } {
    const text = JSON.stringify(definition);
    const bytes = Buffer.byteLength(text);
    if (bytes <= PLAIN_BYTES) return { Definition: Stack.of(this).toJsonString(definition) };
    if (Token.isUnresolved(text)) throw tooLarge(definition.name, `${bytes} bytes with tokens in it`, PLAIN_BYTES);
    const DefinitionDeflated = deflateRawSync(text, { level: 9 }).toString('base64');
    if (DefinitionDeflated.length <= MAX_DEFLATED) return { DefinitionDeflated };
    throw tooLarge(definition.name, `${DefinitionDeflated.length} bytes deflated`, MAX_DEFLATED);
  }
}

function tooLarge(name: string, size: string, limit: number): SynthesisError {
  const message = `The pipeline ${JSON.stringify(name)} has ${size}; a deployment carries ${limit}. Put it over the API.`;
  return new SynthesisError('INVALID_DEFINITION', message);
}

/**
 * Reads and checks a definition.
 * @throws SynthesisError `INVALID_DEFINITION` with everything that is wrong with it, a line each
 */
export function readPipeline(source: PipelineSource): PipelineDefinition {
  const { errorLine, ...authoring } = loadAuthoring();
  const result = typeof source === 'string' ? readFile(source, authoring) : authoring.parseDefinition(source);
  if (result.ok) return result.definition;
  const named = typeof source === 'string' ? resolve(source) : `pipeline ${JSON.stringify(source.name)}`;
  const lines = result.errors.map((error) => `  ${errorLine(error)}`);
  throw new SynthesisError('INVALID_DEFINITION', [`The definition is not valid: ${named}`, ...lines].join('\n'));
}

type Authoring = typeof import('../../src/authoring/index.ts');

/** Loaded where a pipeline is added: its checks take longer to load than the rest of the app to run. */
function loadAuthoring(): Authoring {
  return createRequire(import.meta.url)(sourceFile('src/authoring/index'));
}

function readFile(path: string, { loadDefinition }: Pick<Authoring, 'loadDefinition'>): DefinitionResult {
  const format = extname(path).toLowerCase();
  if (!['.yaml', '.yml', '.json'].includes(format)) {
    throw new SynthesisError('INVALID_DEFINITION', `${resolve(path)} is no .yaml, .yml or .json file.`);
  }
  return loadDefinition(textOf(path), format === '.json' ? 'json' : 'yaml');
}

function textOf(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const message = error instanceof TypeError ? 'it is not UTF-8 text' : String(error);
    throw new SynthesisError('INVALID_DEFINITION', `${resolve(path)} cannot be read: ${message}`, { cause: error });
  }
}
