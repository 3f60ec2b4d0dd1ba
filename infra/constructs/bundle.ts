import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildFailure, type BuildOptions, buildSync, formatMessagesSync, type Metafile } from 'esbuild';
import { SynthesisError } from './synthesis-error.ts';

/** One function to bundle. */
export interface BundleEntry {
  /** Unique among the entries of a build; names the folder of the result. */
  readonly name: string;
  /** Path of the source file that exports `handler`. */
  readonly file: string;
}

/** How a set of functions is bundled. */
export interface BundleOptions {
  /** The folder that source maps and messages name files relative to; it keeps the result the same on every machine. */
  readonly root: string;
  /** Whether whitespace is dropped. Names stay: error classes are told apart by them. */
  readonly minify: boolean;
  /**
   * Whether what functions import dynamically lies in files of its own beside them, which are read when they get there; so does what
   * several of the entries share, so that it may have another name when another entry changes. @default false
   */
  readonly split?: boolean;
  /** Bundles to put beside functions. @default none */
  readonly companions?: readonly Companion[];
  /** Files to take for what is imported by these names. @default none */
  readonly aliases?: Readonly<Record<string, string>>;
}

/** A bundle `<name>.mjs` beside a function's own: what it starts as a thread of its own, or loads only when it is needed. */
export interface Companion extends BundleEntry {
  /**
   * The name by which functions import it. It is put just beside those that do, and their import leads there; any other
   * bundler would find the module by that name. @default none: it is put beside every function
   */
  readonly importedAs?: string;
  /** Whether it is known that some function imports it: to build it with them takes less time than afterwards. @default false */
  readonly isWanted?: boolean;
  /** Names of the functions that it is put beside, where nobody imports it. @default all of them */
  readonly beside?: readonly string[];
}

/** A bundled function. */
export interface Bundle {
  readonly name: string;
  /** Names that the entry exports; a function has `handler` among them. */
  readonly exports: readonly string[];
  /** File names and contents of its code folder: `index.mjs`, what it was split into, its companions, and their source maps. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const EXTENSION = '.mjs';

/**
 * CommonJS dependencies call `require` for Node's own modules, which an ES module has not. It is set on the global object,
 * not declared, because a source file may well declare its own `require`.
 */
const REQUIRE_BANNER =
  "import { createRequire as __createRequire } from 'node:module'; globalThis.require ??= __createRequire(import.meta.url);";

/**
 * Bundles functions as ES modules for nodejs24.x, each on its own, all in one run of esbuild: they share most of their
 * sources, so three cost little more than one.
 *
 * @throws SynthesisError `FUNCTION_BUILD_FAILED` with esbuild's messages: file, line and what is wrong.
 */
export function bundleFunctions(entries: readonly BundleEntry[], options: BundleOptions): Map<string, Bundle> {
  const root = resolve(options.root);
  const { companions = [] } = options;
  const atOnce = companions.filter(({ importedAs, isWanted = false }) => importedAs === undefined || isWanted);
  const { outputFiles, metafile } = buildEntries([...entries, ...atOnce], root, options);
  const besideOf = new Map(
    entries.map(({ name }) => [name, companions.filter((each) => isBeside(each, name, metafile))]),
  );
  // A companion that nobody imports is not built: the largest takes as long as all functions together.
  const missing = [...new Set([...besideOf.values()].flat())].filter((each) => !atOnce.includes(each));
  const more = missing.length === 0 ? [] : buildEntries(missing, root, options).outputFiles;
  const contents = new Map([...outputFiles, ...more].map((file) => [file.path, file.contents]));
  const contentsOf = (file: string) => contents.get(join(root, file)) ?? new Uint8Array();
  return new Map(
    entries.map(({ name }) => {
      const entry = `${name}${EXTENSION}`;
      const beside = (besideOf.get(name) ?? []).map((each) => `${each.name}${EXTENSION}`);
      const files = new Map<string, Uint8Array>();
      for (const file of filesFrom([entry, ...beside], metafile)) {
        files.set(file === entry ? `index${EXTENSION}` : file, contentsOf(file));
        files.set(`${file}.map`, contentsOf(`${file}.map`));
      }
      return [name, { name, exports: metafile.outputs[entry]?.exports ?? [], files }];
    }),
  );
}

function isBeside(companion: Companion, name: string, { outputs }: Metafile): boolean {
  const { importedAs, beside } = companion;
  if (importedAs === undefined) return beside?.includes(name) ?? true;
  return outputs[`${name}${EXTENSION}`]?.imports.some(({ path }) => path === fileOf(companion)) ?? false;
}

/** Some files and all that they import, at once or later. */
function filesFrom(files: readonly string[], { outputs }: Metafile): ReadonlySet<string> {
  const found = new Set(files);
  for (const file of found) {
    for (const { path, external } of outputs[file]?.imports ?? []) if (!external) found.add(path);
  }
  return found;
}

function buildEntries(entries: readonly BundleEntry[], root: string, options: BundleOptions) {
  const { companions = [], aliases = {}, minify, split = false } = options;
  const files = companions.flatMap((each) => (each.importedAs === undefined ? [] : [[each.importedAs, fileOf(each)]]));
  return build({
    entryPoints: entries.map(({ name, file }) => ({ in: resolve(file), out: name })),
    absWorkingDir: root,
    // Nothing is written there: it makes source maps name files from the root on, so a trace reads /var/task/src/….
    outdir: root,
    allowOverwrite: true,
    outExtension: { '.js': EXTENSION },
    banner: { js: REQUIRE_BANNER },
    splitting: split,
    minifyWhitespace: minify,
    minifySyntax: minify,
    alias: { ...aliases, ...Object.fromEntries(files) },
    external: files.map(([, file]) => file as string),
  });
}

function fileOf({ name }: Companion): string {
  return `./${name}${EXTENSION}`;
}

/**
 * Writes a bundle to a folder, hands the folder to `use` and removes it again. CDK copies an asset while the construct is made, so
 * the folder need not outlive that.
 */
export function withBundleFolder<T>(bundle: Bundle, parent: string, use: (folder: string) => T): T {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'bundle-'));
  try {
    for (const [file, contents] of bundle.files) writeFileSync(join(folder, file), contents);
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** `module` before `main`: the SDK's ES modules can be shaken, which saves a third of the code and of its loading time. */
const FIXED: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  mainFields: ['module', 'main'],
  sourcemap: 'linked',
  sourcesContent: false,
  charset: 'utf8',
  logLevel: 'silent',
};

function build(options: BuildOptions) {
  try {
    return buildSync({ ...FIXED, ...options, write: false, metafile: true });
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    const messages = formatMessagesSync(error.errors, { kind: 'error', color: false, terminalWidth: 120 });
    throw new SynthesisError('FUNCTION_BUILD_FAILED', `A function does not build.\n${messages.join('').trimEnd()}`, {
      cause: error,
    });
  }
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);
}
