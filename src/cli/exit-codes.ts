/** What the process ends with; scripts are written against these numbers. */
export const EXIT = {
  /** Done; of `run`: the run SUCCEEDED. */
  ok: 0,
  /** The run ended in another way, or the server refused or could not be reached. */
  failed: 1,
  /** The command line, a file or a setting is wrong; nothing was started. */
  usage: 2,
  /** Cut short by Ctrl-C, as shells report it. */
  interrupted: 130,
} as const;
