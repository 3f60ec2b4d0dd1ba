import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll } from 'vitest';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { MillraceStack, type MillraceStackProps } from '../../infra/stacks/millrace-stack.ts';

/** A function that says which event it got. */
export const ECHO = 'export const handler = async (event: unknown) => ({ event });\n';

/** A resource of a synthesized template. */
export interface Resource {
  readonly Type: string;
  readonly Properties?: object;
}

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Writes files into a new folder outside the project, which goes when the tests of a file are over. */
export function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-infra-'));
  folders.push(folder);
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return folder;
}

/** An app as `infra/app.ts` makes it. */
export function createApp(validate = false): App {
  return new App({ context: cdkJson.context, outdir: folderOf({}), builtinCloudFormationValidation: validate });
}

/** The stack, with functions of one line in place of our own. */
export function createStack(app: App, props: Partial<MillraceStackProps> = {}): MillraceStack {
  const entry = join(folderOf({ 'index.ts': ECHO }), 'index.ts');
  return new MillraceStack(app, 'Millrace', {
    ownEntries: { api: entry, scheduler: entry, intake: entry, registrar: entry, notifier: entry },
    ...props,
  });
}

/** The template of the stack. */
export function synthesize(props: Partial<MillraceStackProps> = {}): Template {
  return Template.fromStack(createStack(createApp(), props));
}

/** The resources of one type, by logical id. */
export function resourcesOf(template: Template, type: string): Map<string, Resource> {
  return new Map(Object.entries(template.findResources(type)) as [string, Resource][]);
}

/** All resources, by logical id. */
export function allResources(template: Template): Map<string, Resource> {
  const { Resources } = template.toJSON() as { Resources: Record<string, Resource> };
  return new Map(Object.entries(Resources));
}

/** What stands at a path inside the properties of a resource; undefined where the path ends early. */
export function propertyOf(resource: Resource | undefined, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<string, unknown> | undefined)?.[key],
    resource?.Properties,
  );
}

/** What CloudFormation's rules and cdk-nag have to say against an app that was made to be validated. */
export function nagViolations(app: App): unknown[] {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const { directory } = app.synth();
  const report = JSON.parse(readFileSync(join(directory, 'validation-report.json'), 'utf8')) as {
    pluginReports: { violations: unknown[] }[];
  };
  return report.pluginReports.flatMap(({ violations }) => violations);
}
