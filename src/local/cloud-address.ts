/** The account and region that everything on the development host seems to live in. */
export const hostAccount = '000000000000';
export const hostRegion = 'us-east-1';

/** The ARN of something in the host's account and region: `arn:aws:sqs:us-east-1:000000000000:name`. */
export function hostArn(service: string, rest: string): string {
  return `arn:aws:${service}:${hostRegion}:${hostAccount}:${rest}`;
}
