package clusterctl

import "time"

// Hurry makes c wait no longer than these for programs to stop and to answer.
func (c *Control) Hurry(stop, answer time.Duration) { c.patience = patience{stop, answer} }
