import { TokenCreator } from '../parts/token-form.tsx';
import { mount } from './mount.tsx';

mount({ creator: TokenCreator });
