import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');
const BIOME = join(PROJECT, 'node_modules/.bin/biome');

/** Files that each break one arrow of DESIGN's "who may import whom". */
const VIOLATIONS: Record<string, string> = {
  'src/domain/from-ports.ts': '#ports/index.ts',
  'src/domain/from-fs.ts': 'node:fs',
  'src/domain/from-parent.ts': '../scheduler/pass.ts',
  'src/ports/from-scheduler.ts': '#scheduler/pass.ts',
  'src/scheduler/from-adapters.ts': '#adapters/memory/memory-ids.ts',
  'src/scheduler/from-http.ts': '#http/router.ts',
  'src/authoring/from-ports.ts': '#ports/index.ts',
  'src/adapters/aws/from-scheduler.ts': '#scheduler/pass.ts',
  'src/http/from-adapters.ts': '#adapters/aws/index.ts',
  'src/http/from-local.ts': '#local/host.ts',
  'src/client/from-scheduler.ts': '#scheduler/pass.ts',
  'src/client/from-node.ts': 'node:fs',
  'src/testing/from-local.ts': '#local/host.ts',
  'src/testing/from-test.ts': '../../test/simulation/world.ts',
  'functions/api/handler.ts': '#adapters/aws/index.ts',
  'infra/from-domain.ts': '#domain/run.ts',
  'src/local/from-test.ts': '../../test/simulation/world.ts',
};

/** Files that keep every arrow: a check that flags them checks something else. */
const ALLOWED: Record<string, string> = {
  'src/ports/from-domain.ts': '#domain/run.ts',
  'src/scheduler/from-ports.ts': '#ports/index.ts',
  'src/adapters/aws/from-domain.ts': '#domain/run.ts',
  'src/http/from-scheduler.ts': '#scheduler/pass.ts',
  'src/client/from-http.ts': '#http/problem.ts',
  'src/testing/from-memory.ts': '#adapters/memory/memory-ids.ts',
  'functions/api/index.ts': '#adapters/aws/index.ts',
};

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: string | { readonly file: string } };
}

/** Lints the files under our settings, and gives those that broke an arrow. */
async function flagged(files: Record<string, string>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-arrows-'));
  try {
    await cp(join(PROJECT, 'biome.json'), join(folder, 'biome.json'));
    await writeFile(join(folder, '.gitignore'), '');
    for (const [path, from] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), `import '${from}';\n`);
    }
    const args = ['lint', '--reporter=json', '--max-diagnostics=none', '--vcs-enabled=false', '.'];
    const { stdout } = await promisify(execFile)(BIOME, args, { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    const report = JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] };
    const broken = report.diagnostics.filter(({ category }) => category === 'lint/style/noRestrictedImports');
    return broken.map(({ location: { path } }) => (typeof path === 'string' ? path : path.file)).sort();
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('the import arrows', () => {
  it('are checked: each broken one is found, and none that is kept', { timeout: 60_000 }, async () => {
    const found = await flagged({ ...VIOLATIONS, ...ALLOWED });
    expect(found.map((path) => path.replace(/^\.\//, ''))).toEqual(Object.keys(VIOLATIONS).sort());
  });
});
