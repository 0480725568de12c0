package serve

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"k8s.io/klog/v2"

	"github.com/slipway-dev/slipway/cluster/logs"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// openLog gives every component a log in the state folder. What klog writes for nobody
// in particular goes to the API server's: hardly any of its parts says on whose behalf it logs.
func (s *session) openLog(ctx context.Context) error {
	folder, err := logs.Open(filepath.Join(s.config.Dir, "logs"),
		protocol.Etcd, protocol.APIServer, protocol.Controllers, protocol.Scheduler, protocol.Nodes)
	if err != nil {
		return fmt.Errorf("%w: %w", errState, err)
	}
	s.logs = folder
	context.AfterFunc(ctx, folder.Silence)
	words := &lastWords{w: folder.Klog(protocol.APIServer)}
	directKlog("WARNING", words) // among them: webhooks that fail
	klog.OsExit = func(int) { s.fatal(ctx, protocol.APIServer, words.fatal()) }
	s.giveUp = func(component string, err error) { s.fatal(ctx, component, err) }
	return nil
}

// directKlog makes klog write messages of this severity and worse to w, each once.
func directKlog(severity string, w io.Writer) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err) // klog's own flags
		}
	}
	// A message goes to the output of its severity and of all lesser ones.
	klog.SetOutput(io.Discard)
	klog.SetOutputBySeverity(severity, w)
}

// fatal ends the process on behalf of a component that gives up, like a start-up hook of the
// API server with klog.Fatal, and tells the partner why. Once the cluster is to stop, ctx
// has ended, and giving up is no failure any more.
func (s *session) fatal(ctx context.Context, component string, err error) {
	if ctx.Err() != nil {
		return
	}
	f := failure(&protocol.ComponentError{Component: component, Err: err})
	if f.Hint == "" {
		f.Hint = "the log of " + component + " has the details"
	}
	s.fail(f)
	s.log.Close()
	s.waitTold()
	s.Exit(statusFailed)
}

// lastWords passes klog's output on and remembers the fatal message in it.
type lastWords struct {
	w    io.Writer
	mu   sync.Mutex
	last []byte
}

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.HasPrefix(p, []byte("F")) && l.last == nil {
		l.last = bytes.Clone(p)
	}
	return l.w.Write(p)
}

// fatal is the first line of the fatal message, without klog's header.
func (l *lastWords) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, _, _ := bytes.Cut(l.last, []byte("\n"))
	if _, text, ok := bytes.Cut(line, []byte("] ")); ok {
		line = text
	}
	if len(line) == 0 {
		return errors.New("it gave up")
	}
	return errors.New(string(line))
}
