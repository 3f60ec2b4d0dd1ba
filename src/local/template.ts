import type { RawTemplate, StackAssembly } from '#local/assets.ts';
import { hostAccount, hostArn, hostRegion } from '#local/cloud-address.ts';
import { HostError, unsupportedResource } from '#local/host-error.ts';
import { noValue, type ReferenceScope, resolveCondition, resolveValue } from '#local/intrinsics.ts';
import { type AddressBase, hostedType, isMeaninglessType, type Properties } from '#local/resource-types.ts';

/** A resource that the host runs, with everything in it resolved. */
export type HostedResource = {
  readonly logicalId: string;
  readonly type: string;
  /** The physical name, given or made. */
  readonly name: string;
  /** What `Ref` gives for it: name, ARN, URL or id, as on AWS. */
  readonly ref: string;
  /** Its ARN; what `Ref` gives for the types that have none. */
  readonly arn: string;
  readonly properties: Properties;
};

/** A template with its intrinsic functions resolved. */
export type HostedTemplate = {
  readonly stackName: string;
  /** In the template's order; resources without meaning on a laptop are left out. */
  readonly resources: readonly HostedResource[];
  readonly outputs: ReadonlyMap<string, string>;
};

/**
 * Resolves a stack's template for the host's account and region.
 * @throws {HostError} `UNSUPPORTED_RESOURCE`, naming every resource of a type that the host does not run;
 * `UNSUPPORTED_INTRINSIC`; `TEMPLATE_INVALID`
 */
export function resolveTemplate(assembly: StackAssembly, base: AddressBase): HostedTemplate {
  const scope = new TemplateScope(assembly, base);
  const included = Object.entries(assembly.template.Resources)
    .filter(([, { Condition }]) => Condition === undefined || scope.condition(Condition))
    .filter(([, { Type }]) => !isMeaninglessType(Type));
  refuseUnknown(included.map(([logicalId, { Type }]) => ({ logicalId, type: Type })));
  const outputs = Object.entries(assembly.template.Outputs)
    .filter(([, { Condition }]) => Condition === undefined || scope.condition(Condition))
    .map(([name, { Value }]) => [name, String(resolveValue(Value, scope))] as const);
  return {
    stackName: assembly.stackName,
    resources: included.map(([logicalId]) => scope.resource(logicalId)),
    outputs: new Map(outputs),
  };
}

function refuseUnknown(resources: readonly { logicalId: string; type: string }[]): void {
  const unknown = resources.filter(({ type }) => hostedType(type) === undefined);
  const [first] = unknown;
  if (first === undefined) return;
  if (unknown.length === 1) throw unsupportedResource(first);
  const names = unknown.map(({ logicalId, type }) => `${logicalId} (${type})`).join(', ');
  throw new HostError('UNSUPPORTED_RESOURCE', `the development host does not run resources of these types: ${names}`);
}

/** Resolves references on demand, each resource once, so that the template's order does not matter. */
class TemplateScope implements ReferenceScope {
  readonly #stackName: string;
  readonly #template: RawTemplate;
  readonly #base: AddressBase;
  readonly #names = new Map<string, string>();
  readonly #resources = new Map<string, HostedResource>();
  readonly #naming = new Set<string>();

  constructor(assembly: StackAssembly, base: AddressBase) {
    this.#stackName = assembly.stackName;
    this.#template = assembly.template;
    this.#base = base;
  }

  ref(name: string): unknown {
    if (name.startsWith('AWS::')) return this.#pseudoParameter(name);
    if (Object.hasOwn(this.#template.Parameters, name)) return this.#template.Parameters[name]?.Default;
    const type = hostedType(this.#raw(name).Type);
    return type === undefined
      ? this.#name(name)
      : type.ref(this.#name(name), this.#addressProperties(name), this.#base);
  }

  attribute(logicalId: string, attribute: string): unknown {
    const { Type } = this.#raw(logicalId);
    const type = hostedType(Type);
    const name = this.#name(logicalId);
    if (type === undefined) return attribute === 'Arn' ? hostArn(serviceOf(Type), name) : `${name}.${attribute}`;
    const attributes = type.attributes(name, this.#addressProperties(logicalId), this.#base);
    if (Object.hasOwn(attributes, attribute)) return attributes[attribute];
    throw unsupportedResource(
      { logicalId, type: Type },
      `the development host does not know its attribute ${attribute}`,
    );
  }

  condition(name: string): boolean {
    if (!Object.hasOwn(this.#template.Conditions, name)) {
      throw new HostError('TEMPLATE_INVALID', `the template has no condition ${name}`);
    }
    return resolveCondition(this.#template.Conditions[name], this);
  }

  resource(logicalId: string): HostedResource {
    const known = this.#resources.get(logicalId);
    if (known !== undefined) return known;
    const raw = this.#raw(logicalId);
    const type = hostedType(raw.Type);
    if (type === undefined) throw unsupportedResource({ logicalId, type: raw.Type });
    const name = this.#name(logicalId);
    const properties = resolveValue(raw.Properties, this) as Properties;
    const ref = type.ref(name, properties, this.#base);
    const { Arn = ref } = type.attributes(name, properties, this.#base);
    const resource = { logicalId, type: raw.Type, name, ref, arn: Arn, properties };
    this.#resources.set(logicalId, resource);
    return resource;
  }

  #raw(logicalId: string): RawTemplate['Resources'][string] {
    const raw = Object.hasOwn(this.#template.Resources, logicalId) ? this.#template.Resources[logicalId] : undefined;
    if (raw === undefined)
      throw new HostError('TEMPLATE_INVALID', `the template refers to ${logicalId}, which it does not hold`);
    return raw;
  }

  #name(logicalId: string): string {
    const known = this.#names.get(logicalId);
    if (known !== undefined) return known;
    if (this.#naming.has(logicalId))
      throw new HostError('TEMPLATE_INVALID', `the name of ${logicalId} depends on itself`);
    this.#naming.add(logicalId);
    const raw = this.#raw(logicalId);
    const property = hostedType(raw.Type)?.nameProperty;
    const given = property === undefined ? undefined : resolveValue(raw.Properties[property], this);
    const name = typeof given === 'string' ? given : `${this.#stackName}-${logicalId}`;
    this.#names.set(logicalId, name);
    return name;
  }

  /** Only what addresses are made of: resolving all properties here would turn two resources that refer to each other into a loop. */
  #addressProperties(logicalId: string): Properties {
    const { EventBusName, ProtocolType } = this.#raw(logicalId).Properties;
    return {
      ...(EventBusName !== undefined && { EventBusName: resolveValue(EventBusName, this) }),
      ...(ProtocolType !== undefined && { ProtocolType }),
    };
  }

  #pseudoParameter(name: string): unknown {
    switch (name) {
      case 'AWS::AccountId':
        return hostAccount;
      case 'AWS::Region':
        return hostRegion;
      case 'AWS::Partition':
        return 'aws';
      case 'AWS::URLSuffix':
        return 'amazonaws.com';
      case 'AWS::StackName':
        return this.#stackName;
      case 'AWS::StackId':
        return hostArn('cloudformation', `stack/${this.#stackName}/host`);
      case 'AWS::NoValue':
        return noValue;
      default:
        throw new HostError('UNSUPPORTED_INTRINSIC', `the development host does not know the pseudo parameter ${name}`);
    }
  }
}

function serviceOf(type: string): string {
  return (type.split('::')[1] ?? 'unknown').toLowerCase();
}
