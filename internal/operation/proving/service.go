package proving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/prove"
)

// serviceLimit bounds the start of a service, and its reset.
const serviceLimit = 30 * time.Second

// A service plays one outside of the cluster that the operator works with.
type service struct {
	Name    string   `yaml:"name"`
	Command []string `yaml:"command"` // {port} is replaced
	Reset   []string `yaml:"reset"`   // a command that empties it before each run; may be left out
	line    int      // of the scenario
}

// A hosted service runs for one cluster.
type hosted struct {
	service
	port  string
	log   string
	child *process.Child
}

// placeholder stands for the port of a service in commands and variables.
func placeholder(service string) string { return "{" + service + ".port}" }

// errEnded says that a service that nothing has stopped has ended well.
var errEnded = errors.New("it has ended")

// host starts the services for a cluster and waits until they answer. The scenario's words get their ports.
func (b *bench) host(ctx context.Context) (ports *strings.Replacer, err error) {
	var all []*hosted
	var pairs []string
	for i, s := range b.services {
		port, err := freePort(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, &hosted{service: s, port: port, log: filepath.Join(b.scratch, fmt.Sprintf("service-%d.log", len(b.hosted)+i))})
		pairs = append(pairs, placeholder(s.Name), port)
	}
	ports = strings.NewReplacer(pairs...)
	for _, h := range all {
		if err := b.startService(ctx, h, ports); err != nil {
			return nil, err
		}
	}
	return ports, nil
}

func (b *bench) startService(ctx context.Context, h *hosted, ports *strings.Replacer) error {
	log, err := appendTo(h.log)
	if err != nil {
		return err
	}
	defer log.Close()
	own := replaced(h.Command, strings.NewReplacer("{port}", h.port))
	cmd, err := b.program(replaced(own, ports), log)
	if err != nil {
		return &prove.ScenarioError{Line: h.line, Err: err}
	}
	if h.child, err = process.Start(cmd); err != nil {
		return &prove.ScenarioError{Line: h.line, Err: err}
	}
	b.hosted = append(b.hosted, h)
	go func() {
		<-h.child.Done()
		b.stop(h.ended())
	}()
	if strings.Join(own, " ") == strings.Join(h.Command, " ") {
		return nil // it has no port
	}
	return h.listens(ctx)
}

// listens waits until the service's port answers.
func (h *hosted) listens(ctx context.Context) error {
	dialer := net.Dialer{Timeout: time.Second}
	for limit := time.After(serviceLimit); ; {
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", h.port))
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.child.Done():
			return h.ended()
		case <-limit:
			return h.mistake(fmt.Errorf("it does not listen on port %s of 127.0.0.1 within %s", h.port, serviceLimit))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ended is why a service that nothing has stopped does not run.
func (h *hosted) ended() error {
	err := h.child.Wait()
	if err == nil {
		err = errEnded
	}
	return h.mistake(err)
}

func (h *hosted) mistake(err error) error {
	return &prove.ScenarioError{Line: h.line, Err: fmt.Errorf("service %s: %w; its log ends with:\n%s", h.Name, err, tail(h.log))}
}

// resetter returns what empties the services of a cluster.
func (b *bench) resetter(services []*hosted, ports *strings.Replacer, kubeconfig string) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, h := range services {
			if len(h.Reset) == 0 {
				continue
			}
			if err := b.empty(ctx, h, ports, kubeconfig); err != nil {
				return err
			}
		}
		return nil
	}
}

func (b *bench) empty(ctx context.Context, h *hosted, ports *strings.Replacer, kubeconfig string) error {
	limited, cancel := context.WithTimeoutCause(ctx, serviceLimit, fmt.Errorf("it has not ended within %s", serviceLimit))
	defer cancel()
	words := replaced(h.Reset, strings.NewReplacer("{port}", h.port))
	err := b.exec(limited, replaced(words, ports), kubeconfig)
	if err != nil && ctx.Err() == nil {
		return &prove.ScenarioError{Line: h.line, Err: fmt.Errorf("service %s: reset: %w; the log ends with:\n%s", h.Name, err, tail(b.log()))}
	}
	return err
}

// freePort is a port of loopback that was free a moment ago.
func freePort(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}

// replaced are words with what a replacer makes of them.
func replaced(words []string, by *strings.Replacer) []string {
	made := make([]string, len(words))
	for i, word := range words {
		made[i] = by.Replace(word)
	}
	return made
}
