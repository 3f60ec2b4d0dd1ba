import { beforeAll, describe, expect, it } from 'vitest';
import type { Bundle } from '../../infra/constructs/bundle.ts';
import { bundleOwnFunctions, bundleRegistrar } from '../../infra/constructs/own-bundles.ts';

const NAMES = ['api', 'scheduler', 'intake', 'notifier', 'registrar'];

describe('the bundles of our own functions', () => {
  let bundles: ReadonlyMap<string, Bundle>;
  beforeAll(() => {
    bundles = new Map(Object.entries({ ...bundleOwnFunctions({}), registrar: bundleRegistrar({}) }));
  });

  /** What is loaded at once when the function starts, whatever it is then asked for. */
  function loadedAtOnce(name: string): readonly string[] {
    const files = bundles.get(name)?.files ?? new Map();
    const loaded = new Set(['index.mjs']);
    for (const file of loaded) for (const other of importsOf(textOf(files.get(file)))) loaded.add(other);
    return [...loaded].map((file) => textOf(files.get(file)));
  }

  it.each(NAMES)('leaves out of %s what no function uses: zod’s messages in other languages', (name) => {
    const code = loadedAtOnce(name).join('');
    expect([code.includes('Invalid input'), code.includes('Entrée invalide')]).toEqual([true, false]);
  });

  it.each(NAMES)('leaves out of %s the ways to credentials that Lambda has no use for', (name) => {
    const code = loadedAtOnce(name).join('');
    expect([code.includes('AWS_SECRET_ACCESS_KEY'), code.includes('credential-provider-sso')]).toEqual([true, false]);
  });

  it.each(['api', 'registrar'])('loads YAML into %s when a definition comes, not when it starts', (name) => {
    const inAll = [...(bundles.get(name)?.files.values() ?? [])].some((file) => textOf(file).includes(YAML_MARK));
    expect([inAll, loadedAtOnce(name).join('').includes(YAML_MARK)]).toEqual([true, false]);
  });

  it('loads at the start of a function a single file, where it has but one thing to do', () => {
    expect(['scheduler', 'intake', 'notifier'].map((name) => loadedAtOnce(name).length)).toEqual([1, 1, 1]);
  });

  it('has no code of passes in the notifier', () => {
    const [code = ''] = loadedAtOnce('notifier');
    expect([code.includes('StartExecution'), code.includes('evaluator-worker')]).toEqual([false, false]);
    expect([...(bundles.get('notifier')?.files.keys() ?? [])]).toEqual(['index.mjs', 'notifier.mjs.map']);
  });

  it.each([
    ['scheduler', 1_250_000],
    ['intake', 1_250_000],
    ['api', 1_450_000],
    ['registrar', 1_300_000],
    ['notifier', 1_000_000],
  ])('keeps what %s loads at its start below %i bytes', (name, most) => {
    const bytes = loadedAtOnce(name).reduce((sum, code) => sum + Buffer.byteLength(code), 0);
    expect(bytes).toBeLessThan(most);
  });
});

/** Only the reader of YAML says it. */
const YAML_MARK = 'YAMLParseError';

function textOf(contents: Uint8Array = new Uint8Array()): string {
  return Buffer.from(contents).toString();
}

function importsOf(code: string): string[] {
  return [...code.matchAll(/(?:from|import)"\.\/([^"]+\.mjs)"/g)].map(([, file]) => file as string);
}
