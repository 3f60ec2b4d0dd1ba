import packageJson from '../package.json' with { type: 'json' };

/** Where the build puts what it makes of a source file, named from the folder of the package. */
const built = (/** @type {string} */ source) => source.replace(/^\.\//, './dist/').replace(/\.ts$/, '.js');

/** Sources become what was built from them, since Node strips no types under node_modules. */
export const replace = {
  bin: { millrace: 'dist/bin/millrace.js' },
  engines: { node: '>=22' },
  exports: Object.fromEntries(Object.entries(packageJson.exports).map(([name, source]) => [name, built(source)])),
  imports: Object.fromEntries(
    Object.entries(packageJson.imports).map(([name, source]) => [`${name}.ts`, `${built(source)}.js`]),
  ),
};

/** What only the checkout needs. */
export const remove = ['private', 'scripts', 'devDependencies', 'allowScripts', 'clean-package'];
