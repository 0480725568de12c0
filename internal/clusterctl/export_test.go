package clusterctl

import "time"

// Hurry makes c wait no longer than d for programs to stop.
func (c *Control) Hurry(d time.Duration) { c.patience.stop, c.patience.answer = d, 4*d }
