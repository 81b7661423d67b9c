const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Has run called when the signal is aborted; what it returns takes that back. A
 * signal gets one listener, however many calls it stands for: Node warns of
 * more than ten.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const all = waiting.get(signal) ?? new Set();
  if (!waiting.has(signal)) {
    waiting.set(signal, all);
    signal.addEventListener("abort", () => [...all].forEach((one) => one()), { once: true });
  }
  all.add(run);
  return () => {
    all.delete(run);
  };
}
