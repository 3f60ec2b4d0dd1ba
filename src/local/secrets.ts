/**
 * Secrets of Secrets Manager: `secrets.json` in the data folder has their texts by name, so that whoever runs the host can
 * read what was generated and give what the template does not make.
 */
import { randomInt } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { HostError, unsupportedResource } from '#local/host-error.ts';
import type { HostedResource } from '#local/template.ts';

/** Texts that a template refers to by `{{resolve:secretsmanager:…}}`. */
export type Secrets = {
  /**
   * A text with its references replaced by what they stand for.
   * @throws {HostError} `SECRET_NOT_GIVEN` naming the secret; `UNSUPPORTED_INTRINSIC` for a reference to another service
   */
  resolve(text: string): string;
};

const FILE = 'secrets.json';
const fileSchema = z.record(z.string(), z.string());
const REFERENCE = /\{\{resolve:secretsmanager:(.+?)(?::SecretString(?::([^:}]*)(?::[^:}]*){0,2})?)?\}\}/g;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const secretSchema = z.object({
  SecretString: z.string().optional(),
  GenerateSecretString: z
    .object({
      PasswordLength: z.coerce.number().int().min(1).max(4096).default(32),
      ExcludeCharacters: z.string().default(''),
      SecretStringTemplate: z.string().optional(),
      GenerateStringKey: z.string().optional(),
    })
    .optional(),
});

/**
 * Reads the secrets of a data folder, and makes those of the template that are not there yet.
 * @throws {HostError} `INVALID_SECRETS` for a file that is not of names and texts; `UNSUPPORTED_RESOURCE`
 */
export function openSecrets(dataDir: string, resources: readonly HostedResource[]): Secrets {
  const file = path.join(dataDir, FILE);
  const known = readFile(file);
  const missing = resources.filter(({ type, name }) => type === 'AWS::SecretsManager::Secret' && !known.has(name));
  for (const secret of missing) known.set(secret.name, textOf(secret));
  if (missing.length > 0) writeFile(file, known);
  return {
    resolve(text) {
      const resolved = text.replace(REFERENCE, (_, id: string, key = '') =>
        partOf(id, find(known, id, file), key, file),
      );
      if (!resolved.includes('{{resolve:')) return resolved;
      throw new HostError('UNSUPPORTED_INTRINSIC', `the development host does not resolve ${resolved}`);
    },
  };
}

function readFile(file: string): Map<string, string> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return new Map();
  }
  try {
    return new Map(Object.entries(fileSchema.parse(JSON.parse(text))));
  } catch (error) {
    throw new HostError('INVALID_SECRETS', `${file} must be a JSON object of names and texts`, { cause: error });
  }
}

/** At once or not at all: a host that is killed meanwhile must not lose what a receiver was told. */
function writeFile(file: string, secrets: ReadonlyMap<string, string>): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(Object.fromEntries(secrets), null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function textOf(resource: HostedResource): string {
  const parsed = secretSchema.safeParse(resource.properties ?? {});
  if (!parsed.success) throw unsupportedResource(resource, z.prettifyError(parsed.error));
  const { SecretString, GenerateSecretString: how } = parsed.data;
  if (SecretString !== undefined) return SecretString;
  const letters = [...LETTERS].filter((letter) => !how?.ExcludeCharacters.includes(letter));
  const made = Array.from({ length: how?.PasswordLength ?? 32 }, () => letters[randomInt(letters.length)]).join('');
  if (how?.GenerateStringKey === undefined) return made;
  return JSON.stringify({ ...JSON.parse(how.SecretStringTemplate ?? '{}'), [how.GenerateStringKey]: made });
}

/** By its name; a full ARN of AWS ends with six letters more. */
function find(secrets: ReadonlyMap<string, string>, id: string, file: string): string {
  const name = id.slice(id.lastIndexOf(':') + 1);
  const text = secrets.get(name) ?? secrets.get(name.replace(/-\w{6}$/, ''));
  if (text !== undefined) return text;
  throw new HostError('SECRET_NOT_GIVEN', `the secret ${name} is not made by the template: put its text into ${file}`);
}

function partOf(id: string, text: string, key: string, file: string): string {
  if (key === '') return text;
  const parsed = z.record(z.string(), z.unknown()).safeParse(jsonOf(text));
  const part = parsed.success && Object.hasOwn(parsed.data, key) ? parsed.data[key] : undefined;
  if (part !== undefined) return String(part);
  throw new HostError('SECRET_NOT_GIVEN', `the secret ${id} in ${file} is no JSON object with ${JSON.stringify(key)}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
