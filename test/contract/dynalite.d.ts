/** dynalite's server, which its package does not type. */
declare module 'dynalite' {
  /** Keeps everything in memory where no path is given. */
  export default function dynalite(options: {
    createTableMs?: number;
    deleteTableMs?: number;
    updateTableMs?: number;
  }): import('node:http').Server;
}
