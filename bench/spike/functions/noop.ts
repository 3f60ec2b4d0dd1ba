/** A node that does nothing, so that a run costs what Millrace and the host cost. */
export const handler = async (): Promise<{ readonly done: true }> => ({ done: true });
