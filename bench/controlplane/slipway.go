package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// ours starts clusters with `slipway-cluster serve`, as the process protocol says: controllers, scheduler and a node included.
type ours struct {
	program string
	dir     string // emptied before each run
	memory  *memory
}

func (o ours) contender() sidebyside.Contender {
	return sidebyside.Contender{Name: "slipway-cluster", Prepare: o.prepare, Run: o.run}
}

func (o ours) prepare(context.Context) error {
	if err := os.RemoveAll(o.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{"protocol": 2, "name": "bench", "dir": filepath.Join(o.dir, "state")})
	if err != nil {
		return err
	}
	return os.WriteFile(o.config(), config, 0o600)
}

func (o ours) config() string { return filepath.Join(o.dir, "config.json") }

// run measures from the start of the process until the custom resource can be listed.
func (o ours) run(ctx context.Context) (sample sidebyside.Sample, err error) {
	cmd := exec.CommandContext(ctx, o.program, "serve", "--config", o.config(), "--stdio")
	var log bytes.Buffer
	cmd.Stderr = &log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return sample, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return sample, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return sample, err
	}
	defer func() {
		_ = stdin.Close() // ends the cluster
		_, _ = io.Copy(io.Discard, stdout)
		if ended := cmd.Wait(); ended != nil && err == nil {
			err = fmt.Errorf("%w\n%s", ended, &log)
		}
	}()
	config, err := awaitReady(stdout)
	if err != nil {
		return sample, fmt.Errorf("%w\n%s", err, &log)
	}
	if err := errors.Join(establish(ctx, config), list(ctx, config)); err != nil {
		return sample, err
	}
	return o.memory.sample(time.Since(start))
}

// awaitReady reads the program's events until it is ready.
func awaitReady(events io.Reader) (*rest.Config, error) {
	for decoder := json.NewDecoder(events); ; {
		var event struct{ Event, Kubeconfig, Component, Error string }
		if err := decoder.Decode(&event); err != nil {
			return nil, fmt.Errorf("the cluster ended before it was ready: %w", err)
		}
		switch event.Event {
		case "ready":
			return clientcmd.BuildConfigFromFlags("", event.Kubeconfig)
		case "failed":
			return nil, errors.New(event.Component + ": " + event.Error)
		}
	}
}
