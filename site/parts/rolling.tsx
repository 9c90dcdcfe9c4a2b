import { useEffect, useRef, useState } from 'hono/jsx';

const DURATION_MS = 900;

/** A figure that counts from its previous value to the new one, unless the visitor prefers reduced motion. */
export function Rolling({ atoms, show }: { atoms: bigint; show: (atoms: string) => string }) {
  const [shown, setShown] = useState(atoms);
  const from = useRef(atoms);
  useEffect(() => {
    const start = from.current ?? atoms;
    from.current = atoms;
    if (start === atoms || matchMedia('(prefers-reduced-motion: reduce)').matches) {
      setShown(atoms);
      return;
    }
    const began = performance.now();
    let frame = requestAnimationFrame(function draw(now) {
      const part = Math.min(1, Math.max(0, now - began) / DURATION_MS);
      // Eased in thousandths, so that the amount stays a whole number of atoms.
      const thousandths = BigInt(Math.round(1000 * (1 - (1 - part) ** 3)));
      setShown(part === 1 ? atoms : start + ((atoms - start) * thousandths) / 1000n);
      if (part < 1) frame = requestAnimationFrame(draw);
    });
    return () => cancelAnimationFrame(frame);
  }, [atoms]);
  return <>{show(shown.toString())}</>;
}
