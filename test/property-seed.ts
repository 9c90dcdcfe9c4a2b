import fc from 'fast-check';

/** The same cases each time, so that a run is red for a change and not by chance; `FC_SEED` looks elsewhere. */
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_261_120) });
