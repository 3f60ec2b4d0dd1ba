import { createClient, isProblem } from 'millrace/client';

/** Runs a pipeline of the server at `url`, tells how it goes, and gives its output. */
export async function runAndFollow(
  url: string,
  pipeline: string,
  input: unknown,
  tell: (text: string) => void = console.log,
): Promise<unknown> {
  const client = createClient({ url });
  try {
    const { id } = await client.runs.start(pipeline, { input });
    for await (const { run } of client.runs.follow(id)) tell(`${run.state}, ${Math.round(run.progress * 100)} % done`);
    return await client.runs.output(id);
  } catch (error) {
    if (isProblem(error, 'PIPELINE_NOT_FOUND')) throw new Error(`There is no pipeline ${pipeline}: put it first.`);
    throw error;
  }
}
