import { ExchangePanel } from '../parts/exchange-panel.tsx';
import { mount } from './mount.tsx';

mount({ exchange: ExchangePanel });
