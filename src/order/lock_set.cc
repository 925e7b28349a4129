// Interned sets of locks.
