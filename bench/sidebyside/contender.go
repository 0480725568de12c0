package sidebyside

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"
)

// Sample is what one run took.
type Sample struct {
	Wall time.Duration
	CPU  time.Duration // user and system, of all processes; 0 when unknown
	Peak int64         // bytes in memory, of the process that had most; 0 when unknown
}

// Contender is one of the programs to compare.
type Contender struct {
	Name string
	// Prepare makes everything as it has to be before a run; it is not
	// measured. It may be nil.
	Prepare func(ctx context.Context) error
	// Run does what is measured, once. It takes the time itself, so that it may
	// leave out what does not belong to it.
	Run func(ctx context.Context) (Sample, error)
}

// Process is the contender that runs a command from its start to its exit. It
// fails when the command does. Command must return a new one each time.
func Process(name string, command func(ctx context.Context) *exec.Cmd) Contender {
	return Contender{Name: name, Run: func(ctx context.Context) (Sample, error) {
		cmd := command(ctx)
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		start := time.Now()
		err := cmd.Run()
		wall := time.Since(start)
		if err != nil {
			return Sample{}, fmt.Errorf("%s: %w\n%s", cmd, err, output.Bytes())
		}
		state := cmd.ProcessState
		return Sample{Wall: wall, CPU: state.UserTime() + state.SystemTime(), Peak: peak(state)}, nil
	}}
}

// run is one run after its preparation.
func (c Contender) run(ctx context.Context) (Sample, error) {
	if c.Prepare != nil {
		if err := c.Prepare(ctx); err != nil {
			return Sample{}, fmt.Errorf("prepare %s: %w", c.Name, err)
		}
	}
	sample, err := c.Run(ctx)
	if err != nil {
		return Sample{}, fmt.Errorf("run %s: %w", c.Name, err)
	}
	return sample, nil
}
