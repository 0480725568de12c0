package cri

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// run is a container's first process with its streams.
type run struct {
	Process
	stdin    io.WriteCloser
	terminal *os.File // nil without one
	attached *attached
	output   sync.WaitGroup // the goroutines that copy the output
	log      *logFile
	ended    chan struct{} // closed when the container's end has been recorded
}

func (r *Runtime) start(c *container) (*run, error) {
	if err := c.log.open(); err != nil {
		return nil, fmt.Errorf("open the container's log: %w", err)
	}
	process, err := c.prepared.Start()
	if err != nil {
		c.log.close()
		return nil, err
	}
	p := &run{Process: process, log: c.log, attached: newAttached(), ended: make(chan struct{})}
	p.copyOutput(process.Streams())
	return p, nil
}

func (p *run) copyOutput(s Streams) {
	if s.Terminal != nil {
		p.terminal, p.stdin = s.Terminal, s.Terminal
		p.output.Go(func() { p.log.copy("stdout", p.terminal, p.attached) })
		return
	}
	p.stdin = s.Stdin
	for stream, from := range map[string]*os.File{"stdout": s.Stdout, "stderr": s.Stderr} {
		p.output.Go(func() {
			p.log.copy(stream, from, p.attached)
			_ = from.Close()
		})
	}
}

// wait returns the exit status when all output is in the log.
func (p *run) wait() int {
	status := p.Wait()
	stop := p.attached.hurry()
	p.output.Wait()
	stop()
	p.log.close()
	p.attached.close()
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
	return status
}
