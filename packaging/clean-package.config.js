import packageJson from '../package.json' with { type: 'json' };

/** Where the build puts what it makes of a source file, named from the folder of the package. */
const built = (/** @type {string} */ source) => source.replace('./src/', './dist/src/').replace(/\.ts$/, '.js');

/**
 * What `npm pack` changes in package.json while it packs: sources become what was built from them, since Node strips no
 * types under node_modules.
 */
export default {
  backupPath: './node_modules/.cache/millrace/package.json.backup',
  replace: {
    bin: { millrace: 'dist/bin/millrace.js' },
    engines: { node: '>=22' },
    exports: Object.fromEntries(Object.entries(packageJson.exports).map(([name, source]) => [name, built(source)])),
    imports: Object.fromEntries(
      Object.entries(packageJson.imports).map(([name, source]) => [`${name}.ts`, `${built(source)}.js`]),
    ),
  },
  remove: ['private', 'scripts', 'devDependencies', 'allowScripts', 'clean-package'],
};
