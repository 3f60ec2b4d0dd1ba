import { type BarePackage, packageFile } from './package-file.ts';
import { pipelineFiles } from './pipeline-files.ts';
import type { ProjectNames } from './project-names.ts';

/**
 * The files of a new project: paths below its folder, and their texts.
 * @param millrace what its package.json says of Millrace
 * @param present what the folder has as its package.json, where that may be completed
 */
export function projectFiles(
  names: ProjectNames,
  millrace: string,
  present?: BarePackage,
): ReadonlyMap<string, string> {
  return new Map([
    ...pipelineFiles(names),
    ['infra/app.ts', app(names.installation)],
    ['package.json', packageFile(names.project, millrace, present)],
    ['tsconfig.json', TSCONFIG],
    ['cdk.json', '{\n  "app": "node infra/app.ts"\n}\n'],
    ['.gitignore', '.millrace/\ncdk.out/\nnode_modules/\noutputs.json\n'],
    ['README.md', readme(names)],
  ]);
}

const stackName = (installation: string) => `${installation.charAt(0).toUpperCase()}${installation.slice(1)}`;

const app = (
  installation: string,
) => `/** What is deployed: an installation of Millrace with the functions and the pipeline of this project. */
import { join } from 'node:path';
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { Millrace } from 'millrace/cdk';

const project = join(import.meta.dirname, '..');

const stack = new Stack(new App(), '${stackName(installation)}');
const millrace = new Millrace(stack, 'Millrace', {
  installation: '${installation}',
  functionsDirectory: join(project, 'functions'),
});
millrace.addPipeline(join(project, 'pipeline.yaml'));
new CfnOutput(stack, 'ApiUrl', { value: millrace.url });
`;

const TSCONFIG = `{
  "compilerOptions": {
    "module": "nodenext",
    "target": "es2024",
    "lib": ["es2024"],
    "types": ["node"],
    "strict": true,
    "noEmit": true,
    "allowImportingTsExtensions": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "skipLibCheck": true
  },
  "include": ["functions", "infra", "test"]
}
`;

const readme = ({ project, installation }: ProjectNames) => `# ${project}

A pipeline for [Millrace](https://www.npmjs.com/package/millrace).

| file | is |
|---|---|
| \`pipeline.yaml\` | the pipeline: nodes, and what each waits for |
| \`functions/\` | a Lambda function for each file, under the name of the file |
| \`test/\` | the pipeline run in a test, in virtual time |
| \`infra/app.ts\` | the CDK app: installation \`${installation}\` with these functions and the pipeline |

## On this machine

Node.js 22.18 or newer; no AWS account.

\`\`\`sh
npm install
npx millrace run pipeline.yaml --input '{"name":"Ada"}'
npm test
\`\`\`

\`npm run dev\` keeps a host running that has the pipeline already. In another terminal:

\`\`\`sh
npx millrace run hello --wait
npx millrace runs
\`\`\`

## In an AWS account

\`\`\`sh
npm run synth
npx cdk bootstrap
npm run deploy
\`\`\`

\`ApiUrl\` among the outputs is what \`--url\` or \`MILLRACE_URL\` names from then on.
`;
