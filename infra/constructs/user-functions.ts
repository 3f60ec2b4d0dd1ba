import { resolve } from 'node:path';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type Bundle, bundleFunctions } from './bundle.ts';
import { findFunctionEntries } from './function-entries.ts';
import { LIBRARY_ALIASES, PAYLOAD_STORE } from './function-library.ts';
import { NodeFunction } from './node-function.ts';
import { SynthesisError } from './synthesis-error.ts';

/** What the functions of a team have in common. */
export interface UserFunctionsProps {
  /** Names of functions that the stack has already. */
  readonly reservedNames: readonly string[];
  readonly logRetention: RetentionDays;
  /** What each of them finds in its environment. @default nothing of ours */
  readonly environment?: Readonly<Record<string, string>>;
}

const FUNCTION_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A team's own functions: each `<name>.ts` or `<name>/index.ts` of a directory that exports `handler` is the Lambda
 * function `<name>`, literally. Other files there are what the functions import.
 *
 * NodejsFunction refuses entries outside its project, so the bundles are made with esbuild's own API.
 */
export class UserFunctions extends Construct {
  readonly #functions = new Map<string, NodeFunction>();
  readonly #props: UserFunctionsProps;

  constructor(scope: Construct, id: string, props: UserFunctionsProps) {
    super(scope, id);
    this.#props = props;
  }

  /** All functions by name, for grants of their own. */
  get functions(): ReadonlyMap<string, NodeFunction> {
    return this.#functions;
  }

  /**
   * Adds the functions of a directory, anywhere on the disk; gives them by name.
   * @throws SynthesisError for a directory that is not there or has no function, for two functions of one name, a name that Lambda does not
   * take or that the stack has already, and for source text that does not build.
   */
  addDirectory(directory: string): ReadonlyMap<string, NodeFunction> {
    const bundles = bundleFunctions(findFunctionEntries(directory), {
      root: directory,
      minify: false,
      companions: [PAYLOAD_STORE],
      aliases: LIBRARY_ALIASES,
    });
    const handlers = [...bundles.values()].filter(({ exports }) => exports.includes('handler'));
    if (handlers.length === 0) throw noFunctions(directory);
    for (const { name } of handlers) this.checkName(name);
    const added = new Map(handlers.map((bundle) => [bundle.name, this.addFunction(bundle)]));
    for (const [name, each] of added) this.#functions.set(name, each);
    return added;
  }

  private addFunction(bundle: Bundle): NodeFunction {
    const { environment = {}, logRetention } = this.#props;
    return new NodeFunction(this, bundle.name, {
      functionName: bundle.name,
      description: `Function "${bundle.name}" of a pipeline`,
      bundle,
      timeoutSeconds: 900,
      logRetention,
      environment,
    });
  }

  private checkName(name: string): void {
    if (!FUNCTION_NAME.test(name)) {
      throw new SynthesisError(
        'INVALID_FUNCTION_NAME',
        `"${name}" cannot be the name of a Lambda function: 1 to 64 of the characters A-Z a-z 0-9 - _ are allowed. Rename the file or folder.`,
      );
    }
    if (this.#props.reservedNames.includes(name)) {
      throw new SynthesisError(
        'RESERVED_FUNCTION_NAME',
        `"${name}" is the name of a function of Millrace itself. Rename the file or folder.`,
      );
    }
    if (this.#functions.has(name)) {
      throw new SynthesisError('DUPLICATE_FUNCTION_NAME', `The function "${name}" is there in two directories.`);
    }
  }
}

function noFunctions(directory: string): SynthesisError {
  return new SynthesisError(
    'NO_FUNCTIONS',
    `There is no function in ${resolve(directory)}: each <name>.ts or <name>/index.ts there that exports "handler" is one.`,
  );
}
