package serve

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/klog/v2"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// openLog sends the log, errors only, to stderr, or to a file in the state
// folder when a partner speaks the protocol.
func (s *session) openLog(ctx context.Context) error {
	out := s.Stderr
	if s.Stdio {
		f, err := os.OpenFile(filepath.Join(s.config.Dir, "cluster.log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("%w: open the log: %w", errState, err)
		}
		out = f // open until the process ends, for the sake of its last words
	}
	log := &lastWords{w: out}
	context.AfterFunc(ctx, log.silence)
	quietKlog(log)
	klog.OsExit = func(int) { s.fatal(ctx, log.fatal()) }
	s.logger = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return nil
}

// quietKlog makes klog write errors and worse to w, each once. Its warnings are of
// interest to those who maintain Kubernetes.
func quietKlog(w io.Writer) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err) // klog's own flags
		}
	}
	// A message goes to the output of its severity and of all lesser ones.
	klog.SetOutput(io.Discard)
	klog.SetOutputBySeverity("ERROR", w)
}

// fatal ends the process on behalf of klog.Fatal, with which a start-up hook of the
// API server gives up, and tells the partner why. Once the cluster is to stop, ctx
// has ended, and giving up is no failure any more.
func (s *session) fatal(ctx context.Context, message string) {
	if ctx.Err() != nil {
		return
	}
	s.fail(protocol.Failed{Component: protocol.APIServer, Error: message, Hint: "the log has the details"})
	s.log.Close()
	s.waitTold()
	s.Exit(statusFailed)
}

// lastWords passes a log on and remembers the fatal message in it. Once it is
// silenced it drops everything: components that are stopped complain about each other.
type lastWords struct {
	mu     sync.Mutex
	w      io.Writer
	last   []byte
	silent bool
}

func (l *lastWords) silence() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = true
}

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.HasPrefix(p, []byte("F")) && l.last == nil {
		l.last = bytes.Clone(p)
	}
	if l.silent {
		return len(p), nil
	}
	return l.w.Write(p)
}

// fatal is the first line of the fatal message, without klog's header.
func (l *lastWords) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, _, _ := bytes.Cut(l.last, []byte("\n"))
	if _, text, ok := bytes.Cut(line, []byte("] ")); ok {
		line = text
	}
	if len(line) == 0 {
		return "a component gave up"
	}
	return string(line)
}
