import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Bundle, bundleFunctions } from '../../infra/constructs/bundle.ts';
import { OWN_FUNCTIONS } from '../../infra/constructs/settings.ts';

const NAMES = [...OWN_FUNCTIONS, 'registrar'];
const PROJECT = join(import.meta.dirname, '../..');

describe('the bundles of our own functions', () => {
  let bundles: ReadonlyMap<string, Bundle>;
  beforeAll(() => {
    const entries = NAMES.map((name) => ({ name, file: join(PROJECT, 'functions', name, 'index.ts') }));
    bundles = bundleFunctions(entries, { root: PROJECT, minify: true });
  });

  it.each(NAMES)('leaves out of %s what no function uses: zod’s messages in other languages', (name) => {
    const code = Buffer.from(bundles.get(name)?.files.get('index.mjs') ?? []).toString();
    expect([code.includes('Invalid input'), code.includes('Entrée invalide')]).toEqual([true, false]);
  });
});
