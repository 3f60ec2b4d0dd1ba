/** What a peer is: a product that runs DAGs of durable nodes, and the little that a measurement asks of it. */
import type { Shape } from './shapes.ts';

/** Shows how far a peer is. */
export type Say = (progress: string) => void;

/** A product as it is set up here. */
export interface Peer {
  /** What `--peers` takes. */
  readonly name: string;
  /** What the table calls it. */
  readonly title: string;
  /** What a node is there, and what is written for one. */
  readonly nodeIs: string;
  /** It runs only where `--peers` names it, since it takes many minutes. @default false */
  readonly isLong?: true;
  /**
   * Installs what the peer needs.
   * @throws Unavailable where it cannot be had here
   */
  prepare(say: Say): Promise<void>;
  /** Starts it with state in `folder`, which is there and empty. */
  open(folder: string): Promise<OpenPeer>;
}

/** A peer that is up. */
export interface OpenPeer {
  /** Names and versions of everything that takes part. */
  readonly versions: string;
  /** Every setting that is not the product's own default, and those that decide what a result means. */
  readonly settings: string;
  /** The processes whose trees take up what an idle peer takes up. */
  readonly pids: readonly number[];
  /** Runs a shape several times, after once without effect. @returns ms from before the request to the end of the last run */
  measure(shape: Shape, say: Say): Promise<readonly number[]>;
  /** What can be killed. */
  readonly kills: readonly Kill[];
  close(): Promise<void>;
}

/** A chain of 50 in which node 21 takes its time, and a way to kill what runs it. */
export interface Kill {
  /** What is killed. */
  readonly what: string;
  /** Starts the run. */
  begin(probe: Probe): Promise<void>;
  /** Ends it with SIGKILL and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts again what was killed, as its operator would. */
  restart(): Promise<void>;
  /** How long to wait for the end after a kill (ms). @default 60,000 */
  readonly patienceMs?: number;
}

/** What the nodes of a killed run do: each writes a line when it starts and another when it ends. */
export interface Probe {
  /** The file that they append to: `start 21 1764532800000`, `end 21 1764532802000`, with ms since 1970. */
  readonly log: string;
  readonly length: number;
  /** The node that takes its time, counted from 1. */
  readonly slowNode: number;
  readonly slowMs: number;
}

/** A peer, or what it needs, cannot be had on this machine. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** Repetitions that count, after one that does not. */
const REPETITIONS = 5;

/**
 * Measures a shape several times, after something without effect.
 * @param warmUp what goes before @default the same once
 */
export async function repeated(
  say: Say,
  once: () => Promise<number>,
  repetitions = REPETITIONS,
  warmUp = once,
): Promise<number[]> {
  say('warming up');
  await warmUp();
  const values: number[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    const ms = await once();
    say(`${repetition} of ${repetitions}: ${Math.round(ms)} ms`);
    values.push(ms);
  }
  return values;
}
