//go:build !linux

package prove

import "time"

// processorTime is not known here: what an operator asks for says when it rests.
func processorTime(int) time.Duration { return 0 }

// waits is not known either.
func waits(int) bool { return false }
