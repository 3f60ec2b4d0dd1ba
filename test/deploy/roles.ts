/** Roles of the emulator's account, for which there is no client here. The emulator looks at the key of a request, not at its signature. */
import type { AwsCredentials } from '#function/signed-request.ts';
import type { MiniStack } from './ministack.ts';

/** The ARN of the one role whose name begins so. */
export async function roleOf(emulator: MiniStack, prefix: string): Promise<string> {
  const answer = await query(emulator, 'iam', { Action: 'ListRoles', Version: '2010-05-08', MaxItems: '1000' });
  return textOf(answer, new RegExp(`<Arn>(arn:aws:iam::\\d+:role/${prefix}[^<]*)</Arn>`));
}

/** Credentials of a role. */
export async function assumeRole(emulator: MiniStack, role: string): Promise<AwsCredentials> {
  const parameters = { Action: 'AssumeRole', Version: '2011-06-15', RoleArn: role, RoleSessionName: 'test' };
  const answer = await query(emulator, 'sts', parameters);
  return {
    accessKeyId: textOf(answer, /<AccessKeyId>([^<]+)/),
    secretAccessKey: textOf(answer, /<SecretAccessKey>([^<]+)/),
    sessionToken: textOf(answer, /<SessionToken>([^<]+)/),
  };
}

async function query({ url }: MiniStack, service: string, parameters: Record<string, string>): Promise<string> {
  const scope = `test/20260101/us-east-1/${service}/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
  const body = new URLSearchParams(parameters);
  const response = await fetch(url, { method: 'POST', headers: { authorization }, body });
  const text = await response.text();
  if (response.ok) return text;
  throw new Error(`${parameters['Action']} was answered with ${response.status}: ${text}`);
}

function textOf(xml: string, pattern: RegExp): string {
  const found = pattern.exec(xml)?.[1];
  if (found === undefined) throw new Error(`${pattern} is not in ${xml}`);
  return found;
}
