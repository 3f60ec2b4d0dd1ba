import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { machine } from '../report.ts';
import { watchIdle } from './idle.ts';
import { probe } from './kill-probe.ts';
import { type OpenPeer, type Peer, type Say, Unavailable } from './peer.ts';
import { killLeft } from './process.ts';
import type { KillResult, MeasuredPeer, PeersRecord, SkippedPeer } from './record.ts';
import { nodesIn, shapes } from './shapes.ts';

/**
 * Measures peers one after the other, each alone on the machine as far as we are concerned. What they need is installed
 * before the first is measured. One that cannot be had, or fails, is skipped with a word.
 */
export async function measurePeers(peers: readonly Peer[], say: Say): Promise<PeersRecord> {
  const date = new Date().toISOString();
  const missing = new Map<Peer, string>();
  for (const peer of peers) {
    say(`${peer.name}: prepare`);
    await peer.prepare((progress) => say(`  ${progress}`)).catch((error: unknown) => missing.set(peer, wordOf(error)));
  }
  const begun = performance.now();
  const results: (MeasuredPeer | SkippedPeer)[] = [];
  for (const peer of peers) {
    const { name, title } = peer;
    say(`${name}: ${title}`);
    const skipped = missing.get(peer);
    const result =
      skipped === undefined ? await measurePeer(peer, (progress) => say(`  ${progress}`)) : { name, title, skipped };
    if ('skipped' in result) say(`  skipped: ${result.skipped}`);
    results.push(result);
  }
  const tookSeconds = Math.round((performance.now() - begun) / 1000);
  return { machine: machine(), date, tookSeconds, peers: results };
}

async function measurePeer(peer: Peer, say: Say): Promise<MeasuredPeer | SkippedPeer> {
  const { name, title, nodeIs } = peer;
  const [load = Number.NaN] = loadavg();
  const folder = await mkdtemp(join(tmpdir(), 'millrace-peer-'));
  // A database that refuses to run as root runs as another user, who has to get to its own folder in this one.
  await chmod(folder, 0o711);
  try {
    const open = await peer.open(folder);
    try {
      const { versions, settings } = open;
      return { name, title, nodeIs, versions, settings, load, ...(await measureOpen(open, folder, say)) };
    } finally {
      await open.close();
    }
  } catch (error) {
    return { name, title, skipped: wordOf(error) };
  } finally {
    killLeft();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measureOpen(open: OpenPeer, folder: string, say: Say) {
  say('idle');
  const idle = await watchIdle(open.pids);
  const measured: MeasuredPeer['shapes'] = [];
  for (const shape of shapes) {
    const ms = await open.measure(shape, (progress) => say(`${shape.name}: ${progress}`));
    measured.push({ shape: shape.name, nodes: nodesIn(shape), ms: ms.map((value) => Math.round(value * 10) / 10) });
  }
  const kills: KillResult[] = [];
  for (const kill of open.kills) {
    say(`kill -9 of ${kill.what}`);
    kills.push(await probe(kill, folder));
  }
  return { ...(idle && { idle }), shapes: measured, kills };
}

function wordOf(error: unknown): string {
  if (error instanceof Unavailable) return error.message;
  return `it failed: ${error instanceof Error ? error.message : String(error)}`;
}
