/** What a new project needs to be tested, checked and deployed: the versions that Millrace itself is tested with, or newer. */
export const DEV_DEPENDENCIES = {
  '@types/node': '^24.19.4',
  'aws-cdk': '^2.1148.1',
  'aws-cdk-lib': '^2.276.0',
  constructs: '^10.8.1',
  typescript: '^7.0.2',
  vitest: '^5.1.2',
} as const;

/**
 * The package.json of a new project.
 * @param name of its npm package
 * @param millrace what it says of Millrace: a range of versions, a file or an address
 */
export function packageFile(name: string, millrace: string): string {
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
    allowScripts: { esbuild: true, 'classic-level': true },
    devDependencies: Object.fromEntries(
      Object.entries({ ...DEV_DEPENDENCIES, millrace }).sort(([one], [other]) => (one < other ? -1 : 1)),
    ),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}
