package clusterctl

import "os"

// terminate ends a process: there is no way to ask one without a console.
func terminate(p *os.Process) error { return p.Kill() }
