/** What the code of an attempt says of its own progress, while it runs. */
import { toIsoTime } from './iso-time.ts';

/** The last report of an attempt. */
export interface AttemptReport {
  /** 0 to 1; never lower than what it said before. */
  readonly progress: number;
  readonly message?: string;
  /** When it was taken (ms since the epoch). */
  readonly at: number;
}

/** Bounds of reports. */
export const REPORT_LIMITS = {
  /** Characters of a message, in UTF-16 units. */
  messageLength: 500,
  /** The least time between two reports of an attempt that are kept, unless the second one says that all is done (ms). */
  spacingMs: 1_000,
} as const;

/** A report as the API shows it. */
export interface ReportView {
  readonly progress: number;
  readonly message?: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Makes the view of a report. */
export function viewReport({ progress, message, at }: AttemptReport): ReportView {
  return { progress, ...(message !== undefined && { message }), at: toIsoTime(at) };
}

/** A report as a clause that follows on another one; empty where there is none. */
export function reportInWords(report: AttemptReport | undefined): string {
  if (!report) return '';
  const said = report.message === undefined ? '' : ` (${report.message})`;
  return `; ${Math.floor(report.progress * 100)} % done${said}, as it said at ${toIsoTime(report.at)}`;
}
