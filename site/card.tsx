import { Canal } from './parts/canal.tsx';

/** The social card, 1200 by 630: rendered by scripts/draw-images.ts with the styles of the site. */
export const card = (): string =>
  (
    <div class="card-picture">
      <h1>A Bitcoin reserve that anyone can check</h1>
      <Canal view={{ levels: { sol: 0.95, btc: 0.8, absr: 0.74 }, swapping: true, minting: false }} />
      <div class="figures">
        {(['sol', 'btc', 'absr'] as const).map((asset) => (
          <div class="figure">
            <span class="value">
              <span class={`dot ${asset}`} />
              {asset.toUpperCase()}
            </span>
          </div>
        ))}
      </div>
      <p class="brand">Sluice</p>
    </div>
  ).toString();
