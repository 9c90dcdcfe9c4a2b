/** The Solana library inside the Workers runtime, where it compiles what the custodian signs. */
import { checkOwnMessages } from '../chain/solana/own-messages-checks.ts';

checkOwnMessages();
