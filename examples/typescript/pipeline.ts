// TypeScript: a pipeline is data, so code can make it; a misspelt id in `dependsOn` does not compile.
// Run it: npx millrace run examples/typescript/pipeline.ts --wait     Ends: SUCCEEDED, the sales of three regions summed
import { definePipeline } from 'millrace';

const regions = ['north', 'east', 'south'] as const;

export default definePipeline({
  name: 'example-typescript',
  defaults: { retry: { maxAttempts: 3 } },
  nodes: [
    ...regions.map((region) => ({
      id: `sales-${region}` as const,
      params: { function: 'typescript-sales', payload: { region } },
    })),
    {
      id: 'report',
      dependsOn: regions.map((region) => `sales-${region}` as const),
      params: { function: 'typescript-report' },
    },
  ],
  output: '{% $nodes.report.output %}',
});
