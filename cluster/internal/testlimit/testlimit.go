// Package testlimit has the one limit for all waits of tests.
package testlimit

import "time"

// Hang is how long a test waits for what takes milliseconds or seconds on a quiet machine. It is there to say what a
// test waited for when something hangs, and decides nothing else: a machine that runs the tests of all modules may have
// thirty programs to run for each processor. All that a test is about has a limit of its own.
const Hang = 5 * time.Minute
