/** A state machine of one's own as an engine: it waits a little, then counts words. */
import { Duration } from 'aws-cdk-lib';
import { DefinitionBody, JsonPath, Pass, StateMachine, TaskInput, Wait, WaitTime } from 'aws-cdk-lib/aws-stepfunctions';
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Millrace } from '../../infra/index.ts';

/** Called where the installation is made (`infra/app.ts`); `count-words` is one of its functions. */
export function addEngines(millrace: Millrace): void {
  const countWords = millrace.functions.get('count-words');
  if (!countWords) throw new Error('there is no function count-words');
  const stateMachine = new StateMachine(millrace, 'Counting', {
    definitionBody: DefinitionBody.fromChainable(
      new Wait(millrace, 'WaitALittle', { time: WaitTime.duration(Duration.seconds(1)) })
        .next(
          new LambdaInvoke(millrace, 'CountWords', {
            lambdaFunction: countWords.function,
            payload: TaskInput.fromJsonPathAt('$.params'),
            outputPath: '$.Payload',
          }),
        )
        .next(new Pass(millrace, 'Shape', { parameters: { counted: JsonPath.numberAt('$.words') } })),
    ),
  });
  millrace.addStateMachineEngine('counting', {
    stateMachine,
    maxConcurrent: 2,
    labels: { team: 'text' },
    paramsSchema: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  });
}
