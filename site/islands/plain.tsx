import { mount } from './mount.tsx';

mount({});
