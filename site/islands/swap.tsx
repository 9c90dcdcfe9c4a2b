import { SwapHistory } from '../parts/swap-history.tsx';
import { SwapPanel } from '../parts/swap-panel.tsx';
import { mount } from './mount.tsx';

mount({ swap: SwapPanel, history: SwapHistory });
