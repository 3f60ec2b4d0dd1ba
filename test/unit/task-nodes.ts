/** The same nodes; those that name no engine are of one whose parameters nobody checks. What is no node stays as it is. */
export function taskNodes(nodes: unknown): unknown {
  return Array.isArray(nodes) ? nodes.map(taskNode) : nodes;
}

function taskNode(node: unknown): unknown {
  return typeof node === 'object' && node !== null && !Array.isArray(node) ? { engine: 'task', ...node } : node;
}
