/**
 * Builds what `npm pack` packs, into dist/: JavaScript and declarations beside each other, a file for each source file.
 * Runs while package.json is the one that is published, by which the compiler finds the `#` imports.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const DIST = 'dist';

interface PublishedPackage {
  readonly name: string;
  readonly version: string;
  readonly imports: Readonly<Record<string, string>>;
}

rmSync(DIST, { recursive: true, force: true });
execFileSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' });
mkdirSync(`${DIST}/bin`);
copyFileSync('packaging/millrace.js', `${DIST}/bin/millrace.js`);
chmodSync(`${DIST}/bin/millrace.js`, 0o755);
// The command line reads its version from the file that is nearest, and so Node finds the `#` imports there.
const { name, version, imports } = JSON.parse(readFileSync('package.json', 'utf8')) as PublishedPackage;
const near = Object.entries(imports).map(([key, target]) => [key, target.replace(`./${DIST}/`, './')]);
const inner = { name, version, type: 'module', imports: Object.fromEntries(near) };
writeFileSync(`${DIST}/package.json`, `${JSON.stringify(inner, null, 2)}\n`);
