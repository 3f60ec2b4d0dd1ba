import { Stack, Validations } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct, type IConstruct } from 'constructs';

/** Answers to cdk-nag for the wildcards in ARNs that a role is granted, with the reason for them. */
export function acknowledgeWildcards({ grantPrincipal }: IGrantable, reason: string, arns: readonly string[]): void {
  if (!Construct.isConstruct(grantPrincipal)) return;
  const principal: IConstruct = grantPrincipal;
  for (const arn of arns) {
    const shown = shownArn(Stack.of(principal).resolve(arn));
    if (shown.includes('*')) {
      Validations.of(principal).acknowledge({ id: `AwsSolutions-IAM5[Resource::${shown}]`, reason });
    }
  }
}

type ArnPart = string | { readonly Ref?: string; readonly 'Fn::GetAtt'?: readonly [string, string] };

/** As cdk-nag writes it. In a stack of a known account and region an ARN may be all text. */
function shownArn(arn: string | { readonly 'Fn::Join': readonly [string, readonly ArnPart[]] }): string {
  return typeof arn === 'string' ? arn : arn['Fn::Join'][1].map(shownPart).join('');
}

function shownPart(part: ArnPart): string {
  if (typeof part === 'string') return part;
  const { Ref: name, 'Fn::GetAtt': attribute } = part;
  const shown = name ?? attribute?.join('.');
  return shown === undefined ? JSON.stringify(part) : `<${shown}>`;
}
