import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { HostError } from '#local/host-error.ts';

/** A stack of a synthesized CDK app: its template as it was written, and where its assets lie. */
export type StackAssembly = {
  readonly stackName: string;
  readonly template: RawTemplate;
  /** The folder of an asset, by the key that the template gives for it. */
  readonly assets: ReadonlyMap<string, string>;
};

const rawResource = z.object({
  Type: z.string(),
  Condition: z.string().optional(),
  Properties: z.record(z.string(), z.unknown()).default({}),
});

const rawTemplate = z.object({
  Resources: z.record(z.string(), rawResource).default({}),
  Conditions: z.record(z.string(), z.unknown()).default({}),
  Parameters: z.record(z.string(), z.object({ Default: z.unknown().optional() })).default({}),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown(), Condition: z.string().optional() })).default({}),
});

/** A CloudFormation template with its intrinsic functions still in it. */
export type RawTemplate = z.infer<typeof rawTemplate>;

const manifest = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      properties: z
        .object({ templateFile: z.string().optional(), stackName: z.string().optional(), file: z.string().optional() })
        .optional(),
    }),
  ),
});

const assetManifest = z.object({
  files: z
    .record(
      z.string(),
      z.object({
        source: z.object({ path: z.string().optional(), packaging: z.string().optional() }),
        destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
      }),
    )
    .default({}),
});

/**
 * Reads the one stack of a cloud assembly (`cdk.out`).
 * @throws {HostError} `TEMPLATE_INVALID` where there is no assembly, no stack, or more than one
 */
export function readAssembly(cdkOut: string): StackAssembly {
  const artifacts = Object.entries(readJson(path.join(cdkOut, 'manifest.json'), manifest).artifacts);
  const stacks = artifacts.filter(([, artifact]) => artifact.type === 'aws:cloudformation:stack');
  const [stack, another] = stacks;
  if (stack === undefined || another !== undefined) {
    const found = stacks.map(([id]) => id).join(', ') || 'none';
    throw new HostError('TEMPLATE_INVALID', `${cdkOut} must hold exactly one stack; found: ${found}`);
  }
  const [id, { properties }] = stack;
  const assets = new Map<string, string>();
  for (const [, artifact] of artifacts) {
    if (artifact.type !== 'cdk:asset-manifest' || artifact.properties?.file === undefined) continue;
    collectAssets(cdkOut, artifact.properties.file, assets);
  }
  return {
    stackName: properties?.stackName ?? id,
    template: readJson(path.join(cdkOut, properties?.templateFile ?? `${id}.template.json`), rawTemplate),
    assets,
  };
}

function collectAssets(cdkOut: string, file: string, into: Map<string, string>): void {
  for (const asset of Object.values(readJson(path.join(cdkOut, file), assetManifest).files)) {
    if (asset.source.path === undefined || asset.source.packaging !== 'zip') continue;
    for (const destination of Object.values(asset.destinations)) {
      into.set(destination.objectKey, path.resolve(cdkOut, asset.source.path));
    }
  }
}

function readJson<Schema extends z.ZodType>(file: string, schema: Schema): z.infer<Schema> {
  if (!existsSync(file)) throw new HostError('TEMPLATE_INVALID', `${file} is missing`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new HostError('TEMPLATE_INVALID', `${file} is not JSON`, { cause });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HostError('TEMPLATE_INVALID', `${file}: ${z.prettifyError(parsed.error)}`);
}
