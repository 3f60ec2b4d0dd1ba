import {
  type RuntimeInvocation,
  type RuntimeReport,
  type RuntimeSettings,
  serveInvocations,
} from '#local/lambda-runtime.ts';

/** The entry of a process that is a Lambda environment of a user's function. */
const send = process.send?.bind(process);
if (send === undefined) throw new Error('this file is the entry of a forked process');

// On Lambda a function has no parent process to talk to, and code that looks for one must not find ours.
delete process.send;
process.on('disconnect', () => process.exit(0));

process.once('message', (settings: RuntimeSettings) => {
  let reporting: Promise<void> = Promise.resolve();
  void serveInvocations(settings, {
    report(report: RuntimeReport) {
      reporting = new Promise((sent) => send(report, () => sent()));
    },
    onInvocation: (take) => process.on('message', (invocation: RuntimeInvocation) => take(invocation)),
    // The last report has to be on its way before the process ends.
    exit: (code) => void reporting.then(() => process.exit(code)),
  });
});
