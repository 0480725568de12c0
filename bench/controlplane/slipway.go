package controlplane

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

	"k8s.io/client-go/tools/clientcmd"
)

// Slipway starts clusters with `slipway-cluster serve`, as the process protocol says: controllers, scheduler and a node
// included.
type Slipway struct {
	Program string
	Dir     string // of the cluster's state
	Durable bool   // otherwise the state is emptied before each start
	// Flags are further flags of the API server.
	Flags []string
}

// Start returns when the program says that it is ready.
func (s Slipway) Start(ctx context.Context) (*Plane, error) {
	config, err := s.configure()
	if err != nil {
		return nil, err
	}
	return withProcesses(func() (*Plane, error) { return serve(ctx, s.Program, config) })
}

// configure writes the program's configuration and returns the path.
func (s Slipway) configure() (string, error) {
	if !s.Durable {
		if err := os.RemoveAll(s.Dir); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return "", err
	}
	config, err := json.Marshal(Config{Protocol: Number, Name: "bench", Dir: filepath.Join(s.Dir, "state"),
		Spec: Spec{Durable: s.Durable, NodeKind: SimulatedNodes, APIServerFlags: s.Flags}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.Dir, "config.json")
	return path, os.WriteFile(path, config, 0o600)
}

func serve(ctx context.Context, program, config string) (*Plane, error) {
	cmd := exec.CommandContext(ctx, program, "serve", "--config", config, "--stdio")
	var log bytes.Buffer
	cmd.Stderr = &log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := newPartner(stdin, stdout)
	stop := func() error {
		_ = stdin.Close() // ends the cluster
		p.drain()
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%w\n%s", err, &log)
		}
		return nil
	}
	kubeconfig, err := p.ready(ctx)
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	kill := func() error {
		if err := cmd.Process.Kill(); err != nil {
			return err
		}
		p.drain()
		_ = cmd.Wait() // says that it was killed
		return nil
	}
	return &Plane{Config: rest, stop: stop, kill: kill, partner: p}, nil
}

// partner speaks the process protocol with a program. Its requests are made one after the other.
type partner struct {
	requests io.Writer
	events   chan Event // closed with the program's end
	last     int64
}

func newPartner(requests io.Writer, lines io.Reader) *partner {
	p := &partner{requests: requests, events: make(chan Event, 1)}
	go func() {
		defer close(p.events)
		for decoder := json.NewDecoder(lines); ; {
			var e Event
			if decoder.Decode(&e) != nil {
				return
			}
			p.events <- e
		}
	}()
	return p
}

// drain returns when the program has told everything.
func (p *partner) drain() {
	for range p.events { // nobody is interested any more
	}
}

var errEnded = errors.New("the program has ended")

// next is the next event; a failure of the program is an error.
func (p *partner) next(ctx context.Context) (Event, error) {
	select {
	case e, ok := <-p.events:
		if !ok {
			return e, errEnded
		}
		if e.Name == EventFailed {
			return e, errors.New(e.Component + ": " + e.Error)
		}
		return e, nil
	case <-ctx.Done():
		return Event{}, context.Cause(ctx)
	}
}

// ready returns the kubeconfig's path once the program is ready.
func (p *partner) ready(ctx context.Context) (string, error) {
	for {
		e, err := p.next(ctx)
		if err != nil {
			return "", fmt.Errorf("start a cluster: %w", err)
		}
		if e.Name == EventReady {
			return e.Kubeconfig, nil
		}
	}
}

func (p *partner) request(ctx context.Context, method string, params, result any) error {
	p.last++
	request := Request{ID: p.last, Method: method}
	if params != nil {
		var err error
		if request.Params, err = json.Marshal(params); err != nil {
			return err
		}
	}
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if _, err := p.requests.Write(append(line, '\n')); err != nil {
		return err
	}
	for {
		e, err := p.next(ctx)
		switch {
		case err != nil:
			return err
		case !e.Answers(p.last):
			continue
		case e.Error != "":
			return errors.New(e.Error)
		case result == nil:
			return nil
		}
		return json.Unmarshal(e.Result, result)
	}
}
