import { ArnFormat, Stack } from 'aws-cdk-lib';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { acknowledgeWildcards } from './acknowledged-wildcards.ts';

/** Whether a function is made in a stack, so that its environment can name what else is made there. */
export function isOfStack(target: IFunction, stack: Stack): target is LambdaFunction {
  return 'addEnvironment' in target && Stack.of(target) === stack;
}

/** Allows reading what a function wrote to the log group that Lambda gives it. */
export function grantReadLog(grantee: IGrantable, target: IFunction): void {
  const arn = Stack.of(target).formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: `/aws/lambda/${target.functionName}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  Grant.addToPrincipal({ grantee, actions: ['logs:FilterLogEvents'], resourceArns: [arn] });
  acknowledgeWildcards(grantee, 'The streams of this one log group are made by Lambda.', [arn]);
}
