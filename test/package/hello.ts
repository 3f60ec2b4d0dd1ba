import { codeBlocks, readPage } from '../unit/docs-pages.ts';
import type { CleanProject } from './clean-project.ts';

/** Writes the pipeline and the functions that the README tells a reader to write. */
export async function writeHello(project: CleanProject): Promise<void> {
  const blocks = codeBlocks(readPage('README.md'));
  const yaml = blocks.find(({ language }) => language === 'yaml')?.text ?? '';
  await project.write('hello.yaml', yaml);
  const code = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);
  for (const part of code
    .join('\n')
    .split(/^\/\/ (?=functions\/)/m)
    .slice(1)) {
    const [path = '', ...lines] = part.split('\n');
    await project.write(path, lines.join('\n'));
  }
}
