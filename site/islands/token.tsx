import { TokenDetail } from '../parts/token-detail.tsx';
import { mount } from './mount.tsx';

mount({ token: () => <TokenDetail /> });
