/** The code that a command of the operator shows for its confirmation. */
export const shownCode = (message: string): string => /--confirm (\w+)/.exec(message)?.[1] ?? 'no code';
