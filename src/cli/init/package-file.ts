import { z } from 'zod';

/** What a new project needs to be tested, checked and deployed: the versions that Millrace itself is tested with, or newer. */
export const DEV_DEPENDENCIES = {
  '@types/node': '^24.19.4',
  'aws-cdk': '^2.1148.1',
  'aws-cdk-lib': '^2.276.0',
  constructs: '^10.8.1',
  typescript: '^7.0.2',
  vitest: '^5.1.2',
} as const;

const versions = z.record(z.string(), z.string()).optional();

/** What `npm install PACKAGE` leaves in an empty folder: no more than what is installed. */
const bareFile = z.strictObject({
  dependencies: versions,
  devDependencies: versions,
  allowScripts: z.record(z.string(), z.boolean()).optional(),
});

/** A package.json of which nobody has written more than what it needs. */
export type BarePackage = z.infer<typeof bareFile>;

/** Reads a package.json; nothing where somebody has said more in it than what it needs. */
export function readBarePackage(text: string): BarePackage | undefined {
  try {
    return bareFile.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * The package.json of a new project.
 * @param name of its npm package
 * @param millrace what it says of Millrace: a range of versions, a file or an address
 * @param present what the folder needs already, which stays as it is. @default nothing
 */
export function packageFile(name: string, millrace: string, present: BarePackage = {}): string {
  const { dependencies, devDependencies, allowScripts } = present;
  const wanted = Object.entries({ millrace, ...DEV_DEPENDENCIES, ...devDependencies });
  const missing = wanted.filter(([each]) => !Object.hasOwn(dependencies ?? {}, each));
  const content = {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=22.18' },
    scripts: {
      start: 'millrace run pipeline.yaml',
      dev: 'millrace dev --app "node infra/app.ts"',
      test: 'vitest run',
      types: 'tsc',
      synth: 'cdk synth --quiet',
      deploy: 'cdk deploy',
    },
    // Two packages that Millrace needs come ready for most machines, and build themselves on the others.
    allowScripts: { esbuild: true, 'classic-level': true, ...allowScripts },
    ...(dependencies && { dependencies }),
    devDependencies: Object.fromEntries(missing.sort(([one], [other]) => (one < other ? -1 : 1))),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}
