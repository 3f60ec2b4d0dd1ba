import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { playRound } from './fault-campaigns.ts';
import { FaultClient } from './fault-client.ts';
import { MortalHost } from './fault-host.ts';
import { diamond, fan, mixed, type Scenario } from './fault-pipelines.ts';
import { begin, judge, makeFolder, synthesizeFaults } from './fault-trial.ts';

let place: Awaited<ReturnType<typeof makeFolder>>;
let host: MortalHost;
let client: FaultClient;

beforeEach(async () => {
  place = await makeFolder();
  host = new MortalHost({ cdkOut: await synthesizeFaults(), dataDir: place.dataDir, port: 0, tickSeconds: 2 });
  client = new FaultClient(host.address);
  await host.start();
});
afterEach(async () => {
  await host.kill();
  await place.remove();
});

async function open(scenario: Scenario): Promise<Scenario> {
  await client.putPipeline(scenario.definition);
  return scenario;
}

describe('kill -9 of the host', () => {
  it('right after a start was answered: the run exists and goes on by itself', async () => {
    const scenario = await open(diamond());
    const started = [];
    for (let round = 0; round < 2; round++) {
      const trial = await begin(client, scenario, place.folder, 20);
      await host.kill();
      started.push(trial);
      await host.start();
    }
    for (const trial of started) expect((await judge(client, trial, 60_000)).faults).toEqual([]);
  });

  it('while nodes run: they run again under the same names, each still at attempt 1', async () => {
    const scenario = await open(fan(4));
    const trial = await begin(client, scenario, place.folder, 500);
    await vi.waitFor(() => expect(existsSync(trial.log)).toBe(true), { timeout: 30_000, interval: 10 });
    await host.kill();
    await host.start();
    await client.until(trial.id, ({ counts }) => counts['SUCCEEDED'] === 1, 60_000);
    await host.kill();
    await host.start();
    expect((await judge(client, trial, 60_000)).faults).toEqual([]);
  });

  it('at random moments, with its functions dying in between as well', async () => {
    const scenarios = [diamond(), fan(4), mixed()];
    const chaos = 'kill=scheduler:0.3,kill=api:0.2';
    const { faults } = await playRound({ seed: 3, chaos, scenarios, tickSeconds: 2, hostKills: 3, nodeMs: 100 });
    expect(faults).toEqual([]);
  });
});
